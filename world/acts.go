package world

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// This file is about actions on their way: those that leave a world, because their targets are
// elsewhere, and those that come in.

const (
	// MaxActs is how many actions may leave a world in a tick, or come into it.
	MaxActs = 1 << 14
	// MaxAct is how many bytes the fields of one may take.
	MaxAct = 1 << 12
)

// acts are actions in order, with their fields as bytes that stand one behind the other.
type acts struct {
	list []act
	data []byte
}

type act struct {
	Acted
	from, to int
}

func (a *acts) reset() { a.list, a.data = a.list[:0], a.data[:0] }

func (a *acts) copyFrom(from *acts) {
	a.list, a.data = append(a.list[:0], from.list...), append(a.data[:0], from.data...)
}

func (a *acts) bytes(i int) []byte { return a.data[a.list[i].from:a.list[i].to] }

func (a *acts) add(at int, x Acted, data []byte) {
	from := len(a.data)
	a.data = append(a.data, data...)
	a.list = slices.Insert(a.list, at, act{x, from, len(a.data)})
}

func (a *acts) all(yield func(Acted, []byte) bool) {
	for i := range a.list {
		if !yield(a.list[i].Acted, a.bytes(i)) {
			return
		}
	}
}

// A pen writes and reads the fields of actions, in memory that is used again.
type pen struct {
	w    bits.Writer
	r    bits.Reader
	room []byte
}

// write makes the bytes of an action, good until the next.
func (p *pen) write(s *bits.Sync, v bits.Syncer) ([]byte, error) {
	if p.room == nil {
		p.room = make([]byte, 128)
	}
	for {
		p.w.Reset(p.room)
		s.StartWrite(&p.w)
		v.Sync(s)
		if s.Err() == nil && p.w.Err() == nil {
			return p.w.Bytes(), nil
		}
		if len(p.room) >= 2*MaxAct {
			return nil, fmt.Errorf("an action takes more than %d bytes; let it hold less", MaxAct)
		}
		p.room = make([]byte, 2*len(p.room))
	}
}

// read reads an action, which must be in the one form that it has.
func (p *pen) read(s *bits.Sync, v bits.Syncer, data []byte) error {
	p.r.Reset(data)
	s.StartRead(&p.r)
	v.Sync(s)
	if err := s.Err(); err != nil {
		return err
	}
	if err := p.r.Finish(); err != nil {
		return err
	}
	again, err := p.write(s, v)
	if err == nil && !bytes.Equal(again, data) {
		err = errors.New("it is in a form that nobody writes")
	}
	return err
}

// send notes an action for elsewhere.
func (w *World) send(i *ActionInfo, target ID, v bits.Syncer) {
	x := Acted{Target: target, Kind: uint16(i.number),
		Name: Name{By: w.named(), Tick: w.tick, Ordinal: uint16(w.acts)}}
	w.acts++
	data, err := w.cluster.pen.write(&w.sync, v)
	switch {
	case err != nil:
	case len(data) > MaxAct:
		err = fmt.Errorf("it takes %d bytes, at most %d", len(data), MaxAct)
	case len(w.cluster.sent.list) >= MaxActs:
		err = fmt.Errorf("%w: %d actions on what is elsewhere in one tick", ErrLimit, MaxActs)
	default:
		w.cluster.sent.add(len(w.cluster.sent.list), x, data)
		return
	}
	w.fail(i.name, w.me, err)
}

// Outgoing goes through the actions of the last tick whose targets are elsewhere, in order, with
// the bytes of their fields, which are good until the next Step. Whoever runs the world brings each
// to where its target is, and there gives it to Inputs.Act. Those that had come here and missed
// their target are among them, with their name, and with a hop more.
func (w Host) Outgoing(yield func(Acted, []byte) bool) { w.cluster.sent.all(yield) }

// Act puts an action of another world among the inputs of a tick. It comes from Outgoing there, or
// from anyone; on an error there is none. The bytes are copied. Two with the same name are one.
func (in *Inputs) Act(x Acted, data []byte) error {
	if err := in.checkAct(x, data); err != nil {
		return err
	}
	at, found := len(in.acts.list), false
	if at > 0 && in.acts.list[at-1].compare(x) >= 0 { // those of one world come in order
		at, found = slices.BinarySearchFunc(in.acts.list, x,
			func(a act, b Acted) int { return a.compare(b) })
	}
	switch {
	case found:
		return nil
	case len(in.acts.list) >= MaxActs:
		return fmt.Errorf("%w: more than %d actions in a tick; give the rest later", ErrInput,
			MaxActs)
	}
	in.acts.add(at, x, data)
	return nil
}

// Acts goes through the actions among the inputs, in order, with the bytes of their fields.
func (in *Inputs) Acts(yield func(Acted, []byte) bool) { in.acts.all(yield) }

// checkAct says what is wrong with an action.
func (in *Inputs) checkAct(x Acted, data []byte) error {
	g := in.game
	bad := func(why string) error { return fmt.Errorf("%w: an action %s", ErrInput, why) }
	switch {
	case int(x.Kind) >= len(g.Actions()):
		return bad(fmt.Sprintf("of kind %d; game %q has %d", x.Kind, g.name, len(g.actions)))
	case x.Target.Class() >= len(g.classes) || x.Target.Hook():
		return bad("on what the game does not have")
	case x.By.Class() >= len(g.classes) && !x.By.Hook(), x.By.Hook() && x.By != hookID(x.By):
		return bad("of what the game does not have")
	case x.Tick >= 1<<actTickBits:
		return bad("of a tick that never comes")
	case len(data) > MaxAct:
		return bad(fmt.Sprintf("of %d bytes; at most %d", len(data), MaxAct))
	}
	if in.actions == nil {
		in.actions = g.newActions()
		in.pen = new(pen)
	}
	t := in.actions[x.Kind]
	v := t.open()
	err := in.pen.read(&in.sync, v, data)
	t.close()
	if err != nil {
		return fmt.Errorf("%w: action %s: %w", ErrInput, g.actions[x.Kind].name, err)
	}
	return nil
}

// hookID is the ID of the hooks of a server, whatever else an ID says.
func hookID(id ID) ID { return makeID(0, id.allocator(), 0, 0) }

func (g *Game) newActions() []actionTable {
	tables := make([]actionTable, len(g.actions))
	for i, a := range g.actions {
		tables[i] = a.newTable()
	}
	return tables
}

// Sync writes or reads what is known of an action.
func (a *Acted) Sync(s *bits.Sync) {
	s.Uint16(&a.Kind, 0, 1<<16-1)
	bits.Integer(s, &a.Target, 0, 1<<64-1)
	bits.Integer(s, &a.By, 0, 1<<64-1)
	bits.Integer(s, &a.Tick, 0, 1<<64-1)
	s.Uint16(&a.Ordinal, 0, 1<<16-1)
	s.Uint8(&a.Hops, 0, 1<<8-1)
}

var errActs = errors.New("world: actions are not in order")

// syncActs takes the actions, in a game that declares any.
func (in *Inputs) syncActs(s *bits.Sync) {
	if len(in.game.actions) == 0 {
		return
	}
	n := uint16(len(in.acts.list))
	if some := n > 0; s.Bool(&some) {
		s.Uint16(&n, 1, MaxActs)
	} else {
		n = 0
	}
	if s.Reading() {
		in.acts.reset()
	}
	for i := 0; i < int(n) && s.Err() == nil; i++ {
		var x Acted
		var data []byte
		if !s.Reading() {
			x, data = in.acts.list[i].Acted, in.acts.bytes(i)
		}
		x.Sync(s)
		s.Bytes(&data, MaxAct)
		if s.Reading() && s.Err() == nil {
			if i > 0 && in.acts.list[i-1].compare(x) >= 0 {
				s.Refuse(errActs)
				return
			}
			s.Refuse(in.Act(x, data))
		}
	}
}

// takeActs lets the actions happen that came in, or sends them on to where their targets are now.
func (w *World) takeActs(in *Inputs) {
	if in == nil || len(in.acts.list) == 0 || w.settings.Partial {
		return
	}
	c := &w.cluster
	for i := range in.acts.list {
		x := &in.acts.list[i].Acted
		if pg, s := w.find(x.Target); pg == nil || pg.away>>s&1 != 0 {
			if w.settings.Divided && w.elsewhere(x.Target) && len(c.sent.list) < MaxActs {
				on := *x
				on.Hops = min(on.Hops, 1<<8-2) + 1
				c.sent.add(len(c.sent.list), on, in.acts.bytes(i))
			}
			continue
		}
		t := c.actions[x.Kind]
		if err := c.pen.read(&w.sync, t.open(), in.acts.bytes(i)); err != nil {
			w.fail(w.game.actions[x.Kind].name, x.Target, err) // it was checked when it came
			t.close()
			continue
		}
		w.enter(x.Target)
		c.acting = x
		by := x.By
		if by.Hook() {
			by = None
		}
		t.run(w, x.Target, by)
		t.close()
		w.turns.note(x.Target)
		w.inspect()
		c.acting = nil
	}
	w.enter(None)
}

// Where random numbers of actions that came from elsewhere are drawn: no entity steps at such a
// tick, and no two actions have the same place.
const (
	actTickBits = 47
	actStream   = 1 << 63
)

// stream is from where Rand and Secret draw: what steps, and the tick, or else the action.
func (w *World) stream() (who, when uint64) {
	if x := w.cluster.acting; x != nil {
		return uint64(x.By), actStream | uint64(x.Ordinal)<<actTickBits | uint64(x.Tick)
	}
	return uint64(w.named()), uint64(w.tick)
}
