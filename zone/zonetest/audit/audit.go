package audit

import (
	"bytes"
	"fmt"
)

// Kind says what is wrong.
type Kind string

// What can be.
const (
	Lost    Kind = "lost"         // an entity, an action or an event is nowhere
	Doubled Kind = "doubled"      // one is there twice
	Owned   Kind = "owned twice"  // an entity was handed over or taken by a zone that has none
	Order   Kind = "out of order" // records, ticks or numbers do not follow each other
	Hash    Kind = "other hash"   // computed again, a tick comes to something else
	Sum     Kind = "other sum"    // a quantity that is to be kept was not
	Form    Kind = "form"         // bytes are not as they are written down to be
)

// A Fault is one thing that is wrong.
type Fault struct {
	Kind Kind
	Zone uint32
	Tick uint64
	Text string
}

func (f Fault) String() string {
	return fmt.Sprintf("%s: zone %d, tick %d: %s", f.Kind, f.Zone, f.Tick, f.Text)
}

// An Entity is one as the game's own bytes have it.
type Entity struct {
	ID, Value uint64
	// Wrong says what of it is not as it has to be, if anything.
	Wrong string
}

// A Game is what an audit has to know of the bytes of a game.
type Game interface {
	// Entities lists those of a saved body.
	Entities(tick uint64, body []byte) []Entity
	// Carried is the entity that a hand-over carries.
	Carried(data []byte) Entity
	// Deed names an action, so that no two have the same name; zero is one of which no event tells.
	Deed(i *Item) [2]uint64
	// Told names the action that an event tells of, or is zero.
	Told(event []byte) [2]uint64
	// Replay makes a body that computes frames again; nil for none.
	Replay(zone uint32, body []byte) Replay
}

// A Replay computes ticks again.
type Replay interface {
	Step(f *Frame)
	Hash() uint64
}

// stream is what passed from one zone to another.
type stream struct {
	out, in uint64
	flying  map[uint64]Item // by number, from being sent durably to being taken
}

type zone struct {
	epoch, tick, seq, events uint64
	replay                   Replay
}

// Audit follows the journals of all zones, in the order in which records were appended.
type Audit struct {
	Faults []Fault
	// HandOvers, Actions and Events are how many there were.
	HandOvers, Actions, Forwards, Events, Fences, Records, Frames, Hashes, Bytes uint64
	// Gone and Aside are actions and items that were said to be.
	Gone, Aside uint64
	// Apart is how often what left in one tick was not taken in one.
	Apart uint64
	// LostEntities and DoubledEntities are what Finish found in no snapshot, and in several.
	LostEntities, DoubledEntities int
	// Births is for games whose entities come and go by their rules: one is where it is first seen,
	// one that is nowhere in the end is not lost, and an action may be on one that is gone.
	Births bool

	game    Game
	zones   map[uint32]*zone
	streams map[[2]uint32]*stream
	where   map[uint64]uint32 // entities; 0 for those on their way
	began   map[uint64]bool
	total   uint64
	deeds   map[[2]uint64]int // actions: how often they were executed
}

// New makes an audit.
func New(g Game) *Audit {
	return &Audit{game: g, zones: map[uint32]*zone{}, streams: map[[2]uint32]*stream{},
		where: map[uint64]uint32{}, began: map[uint64]bool{}, deeds: map[[2]uint64]int{}}
}

func (a *Audit) fault(k Kind, z uint32, tick uint64, format string, args ...any) {
	if len(a.Faults) < 10000 {
		a.Faults = append(a.Faults, Fault{k, z, tick, fmt.Sprintf(format, args...)})
	}
}

// Count says how many faults there are of a kind.
func (a *Audit) Count(k Kind) (n int) {
	for _, f := range a.Faults {
		if f.Kind == k {
			n++
		}
	}
	return n
}

// Found takes the snapshot with which a zone began.
func (a *Audit) Found(data []byte) {
	s, err := ReadSnapshot(data)
	if err != nil {
		a.fault(Form, 0, 0, "%v", err)
		return
	}
	a.zones[s.Zone] = &zone{tick: s.Tick, events: s.Events, replay: a.game.Replay(s.Zone, s.Body)}
	for _, e := range a.game.Entities(s.Tick, s.Body) {
		if a.began[e.ID] {
			a.fault(Doubled, s.Zone, s.Tick, "entity %d, from the beginning", e.ID)
		}
		a.began[e.ID], a.where[e.ID] = true, s.Zone
		a.total += e.Value
	}
}

// Record takes the next record of a zone's journal.
func (a *Audit) Record(id uint32, seq uint64, data []byte) {
	r, err := ReadRecord(id, data)
	if err != nil {
		a.fault(Form, id, 0, "record %d: %v", seq, err)
		return
	}
	z := a.zones[id]
	if z == nil {
		a.fault(Order, id, 0, "a record of a zone that was not founded")
		return
	}
	a.Records++
	a.Bytes += uint64(len(data))
	if seq <= z.seq {
		a.fault(Order, id, z.tick, "record %d follows %d", seq, z.seq)
	}
	z.seq = seq
	if r.Epoch < z.epoch || r.Fence && r.Epoch == z.epoch || !r.Fence && r.Epoch != z.epoch {
		a.fault(Order, id, z.tick, "a record of epoch %d follows one of %d", r.Epoch, z.epoch)
	}
	z.epoch = max(z.epoch, r.Epoch)
	if r.Fence {
		a.Fences++
	}
	for i := range r.Frames {
		a.frame(id, z, &r.Frames[i])
	}
}

func (a *Audit) frame(id uint32, z *zone, f *Frame) {
	if f.Tick != z.tick+1 {
		a.fault(Order, id, f.Tick, "follows tick %d", z.tick)
	}
	z.tick = f.Tick
	a.Frames++
	for i := range f.Taken {
		x := &f.Taken[i]
		a.take(id, f, x)
		if x.More && !f.takes(x.From, x.Number+1) {
			a.Apart++
		}
	}
	if f.Back {
		a.Aside--
	}
	for i := range f.Out {
		a.put(id, f, &f.Out[i])
	}
	a.Gone += uint64(len(f.Gone))
	for _, g := range f.Gone {
		if a.Births {
			break
		}
		a.fault(Lost, id, f.Tick, "action %d from zone %d was on an entity that is nowhere",
			g.Number, g.From)
	}
	if len(f.Events) > 0 && f.FirstEvent != z.events {
		a.fault(Order, id, f.Tick, "event %d follows %d", f.FirstEvent, z.events)
	}
	z.events = f.FirstEvent + uint64(len(f.Events))
	for _, e := range f.Events {
		a.Events++
		name := a.game.Told(e)
		if name == ([2]uint64{}) {
			continue
		}
		if a.deeds[name]++; a.deeds[name] > 1 {
			a.fault(Doubled, id, f.Tick, "the event of action %v", name)
		}
	}
	if z.replay == nil {
		return
	}
	z.replay.Step(f)
	if f.Hashed {
		a.Hashes++
		if h := z.replay.Hash(); h != f.Hash {
			a.fault(Hash, id, f.Tick, "%x, and the owner had %x", h, f.Hash)
			z.replay = nil
		}
	}
}

// takes says whether a frame takes an item.
func (f *Frame) takes(from uint32, number uint64) bool {
	for i := range f.Taken {
		if x := &f.Taken[i]; x.From == from && x.Number == number {
			return true
		}
	}
	return false
}

func (a *Audit) stream(from, to uint32) *stream {
	s := a.streams[[2]uint32{from, to}]
	if s == nil {
		s = &stream{flying: map[uint64]Item{}}
		a.streams[[2]uint32{from, to}] = s
	}
	return s
}

// put has a zone send something.
func (a *Audit) put(id uint32, f *Frame, i *Item) {
	s := a.stream(id, i.To)
	if i.Number != s.out+1 {
		a.fault(Order, id, f.Tick, "item %d to zone %d follows %d", i.Number, i.To, s.out)
	}
	s.out = max(s.out, i.Number)
	if was, ok := s.flying[i.Number]; ok && !same(&was, i) {
		a.fault(Doubled, id, f.Tick, "item %d to zone %d is two different ones", i.Number, i.To)
	}
	kept := *i
	kept.Data = bytes.Clone(i.Data)
	s.flying[i.Number] = kept
	switch {
	case !i.Acts:
		a.HandOvers++
		at, known := a.where[i.Entity]
		if a.Births && !known {
			a.began[i.Entity], at = true, id
		}
		if at != id {
			a.fault(Owned, id, f.Tick, "entity %d is handed over to %d, and is at %d", i.Entity,
				i.To, at)
		}
		a.where[i.Entity] = 0
	case i.Hops == 0:
		a.Actions++
		if name := a.game.Deed(i); name != ([2]uint64{}) {
			a.deeds[name] += 0
		}
	default:
		a.Forwards++
	}
}

func same(a, b *Item) bool {
	return a.Acts == b.Acts && a.Entity == b.Entity && a.Tick == b.Tick && a.Hops == b.Hops &&
		a.OFrom == b.OFrom && a.OTo == b.OTo && a.ONumber == b.ONumber &&
		bytes.Equal(a.Data, b.Data)
}

// take has a zone take something that must have been sent, durably, before.
func (a *Audit) take(id uint32, f *Frame, i *Item) {
	s := a.stream(i.From, id)
	if i.Number != s.in+1 {
		kind := Order
		if i.Number <= s.in {
			kind = Doubled
		}
		a.fault(kind, id, f.Tick, "item %d of zone %d follows %d", i.Number, i.From, s.in)
	}
	s.in = max(s.in, i.Number)
	was, ok := s.flying[i.Number]
	switch {
	case !ok:
		a.fault(Doubled, id, f.Tick, "item %d of zone %d was taken, and not sent durably",
			i.Number, i.From)
	case !same(&was, i):
		a.fault(Lost, id, f.Tick, "item %d of zone %d came as something else", i.Number, i.From)
	}
	delete(s.flying, i.Number)
	if i.Aside {
		a.Aside++
	}
	if i.Acts {
		return
	}
	if at := a.where[i.Entity]; at != 0 {
		a.fault(Owned, id, f.Tick, "entity %d comes from %d, and is at %d", i.Entity, i.From, at)
	}
	a.where[i.Entity] = id
}
