package zone

import (
	"errors"
	"fmt"
	"slices"
)

// state is all that a zone's records lead to, and what a snapshot holds. Whoever executes the same
// frames has the same state.
type state struct {
	id      ID
	tick    Tick // the last that was computed
	body    Body
	streams streams
	moved   moved
	aside   []Aside
	waiting waiting
	events  uint64 // how many there were

	in       Input
	out      Output
	here     map[uint64]struct{} // entities that arrived in this tick
	outs     []byte              // what the last tick put out, as its frame has it
	onward   []byte              // those of it that forward actions
	lost     []actionName        // actions of the last tick on what is nowhere any more
	held     []actionName        // those that wait from it on
	met      []actionName        // those that waited until it
	forwards int                 // how many actions the last tick forwarded
}

// An Aside is an item that is kept instead of executed, as every tick with it failed. It is in the
// zone's snapshots until the game is able to take it.
type Aside struct {
	From   ID
	Number uint64
	// Entity was handed over, if Action is not set; otherwise it is what was acted on.
	Entity uint64
	Action bool
	Tick   Tick
	Data   []byte
}

// actionName says which action of which stream.
type actionName struct {
	from   ID
	number uint64
	entity uint64
}

func newState(id ID, body Body) *state {
	s := &state{id: id, body: body, here: map[uint64]struct{}{}}
	s.moved.reset()
	return s
}

// ErrOutput is why a tick fails whose body puts out more than there may be of it.
var ErrOutput = errors.New(
	"zone: a tick put out more than it may, or to a zone that is none or closed")

// execute computes the next tick from a frame. On an error the state is of no use any more.
func (s *state) execute(f *frame) (err error) {
	if f.tick != s.tick+1 {
		return fmt.Errorf("zone: tick %d follows %d: %w", f.tick, s.tick, errDamaged)
	}
	s.out.reset()
	s.outs, s.onward = s.outs[:0], s.onward[:0]
	s.lost, s.held, s.met = s.lost[:0], s.held[:0], s.met[:0]
	in := &s.in
	*in = Input{Tick: f.tick, Commands: f.commands, Ghosts: in.Ghosts[:0],
		Arrivals: in.Arrivals[:0], Actions: in.Actions[:0], Closed: f.closed}
	for i := range f.ghosts {
		if err := s.show(&f.ghosts[i]); err != nil {
			return err
		}
	}
	if err := s.arrivals(f); err != nil {
		return err
	}
	s.actions(f)
	if err := s.comesBack(f); err != nil {
		return err
	}
	if err := s.step(); err != nil {
		return err
	}
	s.tick = f.tick
	return s.put(f)
}

// step lets the body compute. A panic is the body's alone: it must not take other zones with it.
func (s *state) step() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("zone: tick %d of zone %d: %v", s.in.Tick, s.id, r)
		}
	}()
	s.body.Step(&s.in, &s.out)
	if s.out.over {
		return ErrOutput
	}
	return nil
}

func (s *state) show(g *shown) error {
	st := s.streams.open(g.From)
	if st == nil || !st.shows(g) {
		return errDamaged
	}
	st.ghostEpoch, st.ghostTick = g.epoch, g.Tick
	s.in.Ghosts = append(s.in.Ghosts, g.Ghost)
	return nil
}

// shows says whether something that a peer showed can be applied to what the body holds of it.
func (st *stream) shows(g *shown) bool {
	if g.Since == 0 {
		return g.epoch > st.ghostEpoch || g.epoch == st.ghostEpoch && g.Tick > st.ghostTick
	}
	return g.epoch == st.ghostEpoch && g.Since <= st.ghostTick && g.Tick > st.ghostTick
}

// arrivals takes in the items of a frame, and those who come into the body's input.
func (s *state) arrivals(f *frame) error {
	clear(s.here)
	for i := range f.taken {
		t := &f.taken[i]
		st := s.streams.open(t.from)
		if st == nil || t.number != st.accepted+1 || t.item.tick >= f.tick {
			return errDamaged
		}
		st.accepted = t.number
		if t.aside {
			if err := s.setAside(t); err != nil {
				return err
			}
			continue
		}
		if t.item.kind != handOver {
			continue
		}
		s.arrives(t.from, t.item, f.tick)
	}
	return nil
}

// arrives has an entity come into the body's input.
func (s *state) arrives(from ID, i *item, now Tick) {
	s.moved.came(i.entity)
	s.here[i.entity] = struct{}{}
	s.in.Arrivals = append(s.in.Arrivals, Arrival{From: from, Entity: i.entity, Tick: i.tick,
		Missed: int(min(now-1-i.tick, MaxMissed)), Data: i.data})
}

// actions sorts those of a frame: on entities that are here, that have moved on, which are
// forwarded, that have died, and that have not been here yet.
func (s *state) actions(f *frame) {
	s.forwards = 0
	s.waited(f.tick)
	for i := range f.taken {
		t := &f.taken[i]
		if t.item.kind == action && !t.aside {
			s.acts(t, f.tick)
		}
	}
}

// acts has one be executed, or does what else there is to do with it.
func (s *state) acts(t *taken, now Tick) {
	entity := t.item.entity
	name := actionName{t.from, t.number, entity}
	_, here := s.here[entity]
	to, left := s.moved.where(entity)
	switch {
	case left && to != 0:
		s.forward(to, t.item)
		s.forwards++
	case left:
		s.lost = append(s.lost, name)
	case here || s.body.Has(entity):
		s.act(t.from, t.item)
	default:
		s.waiting.add(t, now)
		s.held = append(s.held, name)
	}
}

// forward sends an action after the entity, in the stream in which that went, so behind it.
func (s *state) forward(to ID, i *item) {
	next := *i
	next.more = false
	next.hops = min(i.hops, 254) + 1
	next.tick = s.in.Tick
	number := s.streams.open(to).push(&next)
	s.onward = appendUint(s.onward, uint64(to))
	s.onward = appendUint(s.onward, number)
	s.onward = next.append(s.onward, s.id, to, number)
}

// put moves what the body put out into the outboxes, and writes all of the tick's output down.
func (s *state) put(f *frame) error {
	s.outs = appendNames(s.outs, s.held)
	s.outs = appendNames(s.outs, s.met)
	s.outs = appendNames(s.outs, s.lost)
	s.outs = appendUint(s.outs, uint64(s.forwards+len(s.out.items)))
	s.outs = append(s.outs, s.onward...)
	s.together()
	for i := range s.out.items {
		o := &s.out.items[i]
		st := s.streams.open(o.to)
		if st == nil || slices.Contains(f.closed, o.to) {
			return ErrOutput
		}
		next := item{kind: o.kind, more: o.more, entity: o.entity, tick: f.tick, data: o.data}
		next.origin = origin{s.id, o.to, st.out.end()}
		number := st.push(&next)
		if o.kind == handOver {
			s.moved.left(o.entity, o.to)
		}
		s.outs = appendUint(s.outs, uint64(o.to))
		s.outs = appendUint(s.outs, number)
		s.outs = next.append(s.outs, s.id, o.to, number)
	}
	for _, entity := range s.out.died {
		s.moved.left(entity, 0)
	}
	s.outs = appendUint(s.outs, s.events)
	s.outs = appendUint(s.outs, uint64(len(s.out.events)))
	for _, e := range s.out.events {
		s.outs = appendBytes(s.outs, e)
	}
	s.events += uint64(len(s.out.events))
	return nil
}

// setAside keeps an item for which there is no tick that does not fail.
func (s *state) setAside(t *taken) error {
	if len(s.aside) >= maxAside {
		return fmt.Errorf("zone: %d items are set aside, which is all there may be", maxAside)
	}
	s.aside = append(s.aside, Aside{From: t.from, Number: t.number, Entity: t.item.entity,
		Action: t.item.kind == action, Tick: t.item.tick,
		Data: append([]byte(nil), t.item.data...)})
	return nil
}
