package world

import (
	"errors"
	"fmt"
)

// Contents are a saved world taken apart, by what its game had declared and without the program.
// What is in it can be changed, and made a world again by a game that declares it so.
type Contents struct {
	Settings Settings // seed, secret, allocator and whether it is partial
	Tick     Tick
	Players  []SavedPlayer // in order
	Tables   []SavedTable  // by class
	Events   [][]SavedEvent
	Moments  []SavedMoment // what is remembered for rewinding, the oldest first
	Hash     uint64        // of the world
}

// A SavedPlayer is one who was there.
type SavedPlayer struct {
	Player  Player
	Command []int32 // the image of the last one; nil in a game without commands
	Sight   Sight
}

// A SavedTable has the entities of a class.
type SavedTable struct{ Banks []SavedBank }

// A SavedBank has the entities of one allocator, by index.
type SavedBank struct {
	Allocator int
	Slots     []SavedSlot
}

// A SavedSlot is a place that an entity has, or had.
type SavedSlot struct {
	Generation uint32
	Away       bool         // it was lent
	Ghost      bool         // the entity belongs to another server
	Entity     *SavedEntity // nil if there is none
}

// A SavedEntity is one that was there.
type SavedEntity struct {
	Owner   Player
	By      ID     // who made it,
	Ago     uint32 // how many ticks ago,
	Ordinal uint16 // as the how many-th
	Image   []int32
	Server  []SavedValue // as DeclaredClass.Server lists them
}

// A SavedValue is a plain value that only whole worlds have: a number as its bits, with those of a
// float64 for any float; or a text.
type SavedValue struct {
	Word uint64
	Text string
}

// A SavedEvent is an event that worlds keep.
type SavedEvent struct {
	Emitted
	Image []int32
}

// A SavedMoment is where things were at the end of a tick, in order of identifier.
type SavedMoment struct {
	IDs    []ID
	Places [][3]int32
}

// Parse takes a world apart that was saved by a game that declared this. The data may come from a
// stranger; what is made of it takes memory in proportion to it.
func (d *Declared) Parse(data []byte) (*Contents, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("world: declarations are %w: %w", ErrDamaged, err)
	}
	a := &archive{data: data, reading: true}
	if string(a.bytes(len(magic))) != magic {
		return nil, fmt.Errorf("world: this is not a saved world, or one of another version of "+
			"the toolkit: %w", ErrGame)
	}
	var name string
	var hash uint64
	a.text(&name)
	fixed(a, &hash)
	if a.err == nil && (name != d.Game || hash != d.Hash) {
		return nil, fmt.Errorf("world: %w: it is of %q with declarations %016x, and these are %016x "+
			"of %q", ErrGame, name, hash, d.Hash, d.Game)
	}
	s := new(Contents)
	s.pass(a, d)
	if a.err == nil && a.at != len(data) {
		a.fail(fmt.Errorf("%d bytes are left over", len(data)-a.at))
	}
	if a.err != nil {
		return nil, a.fault()
	}
	return s, nil
}

// Append writes a world as Save does, for a game that declares this.
func (d *Declared) Append(dst []byte, s *Contents) []byte {
	dst = append(dst, magic...)
	a := &archive{data: dst[:cap(dst)], at: len(dst)}
	name, hash := d.Game, d.Hash
	a.text(&name)
	fixed(a, &hash)
	s.pass(a, d)
	return a.data[:a.at]
}

// Adopt makes a world of one that was taken apart. It must be as the game declares, whatever its
// Hash says; an error names what is not.
func (g *Game) Adopt(s *Contents) (*World, error) {
	w, _, err := g.load(g.Declared().Append(nil, s), LoadLimits{Memory: 1 << 40})
	return w, err
}

// pass writes or reads all of it.
func (s *Contents) pass(a *archive, d *Declared) {
	a.settings(&s.Settings)
	uvarint(a, &s.Tick)
	s.players(a, d)
	if a.reading {
		s.Tables = make([]SavedTable, len(d.Classes))
		s.Events = make([][]SavedEvent, len(d.Events))
	}
	for i := range d.Classes {
		s.Tables[i].pass(a, &d.Classes[i])
	}
	for k := range d.Events {
		s.events(a, d, k)
	}
	s.past(a, d)
	fixed(a, &s.Hash)
}

// grow makes a list as long as it has to be to be read.
func grow[T any](a *archive, list []T, n int) []T {
	if a.reading {
		return make([]T, n)
	}
	return list
}

func (s *Contents) players(a *archive, d *Declared) {
	s.Players = grow(a, s.Players, a.count(len(s.Players), 1<<16-1, 1))
	for i := range s.Players {
		below(a, &s.Players[i].Player, 1<<16)
		if d.Commands != nil {
			a.plain(&s.Players[i].Command, d.Commands)
		}
	}
}

// plain is an image whose type nobody here knows.
func (a *archive) plain(image *[]int32, f *DeclaredFields) {
	if a.reading && len(f.Slots) > len(a.data)-a.at {
		a.fail(errShort)
	}
	if a.err != nil {
		return
	}
	*image = grow(a, *image, len(f.Slots))
	for i := range *image {
		x := &f.Slots[i]
		v := int64((*image)[i]) - int64(x.Absent)
		a.varint(&v)
		if v += int64(x.Absent); v < int64(x.Min) || v > int64(x.Max) {
			a.fail(fmt.Errorf("%s: %d is not in %d..%d", x.Name, v, x.Min, x.Max))
			return
		}
		(*image)[i] = int32(v)
	}
}

func (t *SavedTable) pass(a *archive, c *DeclaredClass) {
	t.Banks = grow(a, t.Banks, a.count(len(t.Banks), Predicted+1, 2))
	for i := range t.Banks {
		b := &t.Banks[i]
		below(a, &b.Allocator, Predicted+1)
		b.Slots = grow(a, b.Slots, a.count(len(b.Slots), MaxEntities, 2))
		for j := range b.Slots {
			if a.err != nil {
				return
			}
			b.Slots[j].pass(a, c)
		}
	}
}

func (x *SavedSlot) pass(a *archive, c *DeclaredClass) {
	state := slotFree
	switch {
	case x.Entity != nil && x.Ghost:
		state = slotGhost
	case x.Entity != nil:
		state = slotLive
	case x.Away:
		state = slotAway
	}
	below(a, &state, slotGhost+1)
	below(a, &x.Generation, lastGeneration+1)
	if a.err != nil {
		return
	}
	x.Away, x.Ghost = state == slotAway, state == slotGhost
	if state != slotLive && state != slotGhost {
		return
	}
	if a.reading {
		x.Entity = new(SavedEntity)
	}
	e := x.Entity
	below(a, &e.Owner, 1<<16)
	fixed(a, &e.By)
	below(a, &e.Ago, 1<<32)
	below(a, &e.Ordinal, 1<<16)
	a.plain(&e.Image, &c.Fields)
	if a.reading && len(c.Server) > len(a.data)-a.at {
		a.fail(errShort)
		return
	}
	e.Server = grow(a, e.Server, len(c.Server))
	for i := range e.Server {
		e.Server[i].pass(a, c.Server[i].Type)
	}
}

func (v *SavedValue) pass(a *archive, typ string) {
	switch typ {
	case "string":
		a.text(&v.Text)
	case "float32", "float64":
		fixed(a, &v.Word)
	default:
		n := int64(v.Word)
		a.varint(&n)
		v.Word = uint64(n)
	}
}

func (s *Contents) events(a *archive, d *Declared, k int) {
	info := &d.Events[k]
	n := a.count(len(s.Events[k]), uint64(info.Limit), 8+1+1+8)
	if n > 0 && !info.Saved {
		a.fail(fmt.Errorf("event %s is not saved", info.Name))
		return
	}
	s.Events[k] = grow(a, s.Events[k], n)
	for i := range s.Events[k] {
		e := &s.Events[k][i]
		e.Kind = uint16(k)
		fixed(a, &e.By)
		uvarint(a, &e.Tick)
		below(a, &e.Ordinal, 1<<16)
		fixed(a, &e.About)
		if a.plain(&e.Image, &info.Fields); a.err != nil {
			return
		}
	}
}

// past is what is remembered, and what players saw last.
func (s *Contents) past(a *archive, d *Declared) {
	if d.Rewinds == 0 || s.Settings.Partial {
		return
	}
	s.Moments = grow(a, s.Moments, a.count(len(s.Moments), uint64(d.Rewinds)+1, 1))
	for i := range s.Moments {
		if s.Moments[i].pass(a, d); a.err != nil {
			return
		}
	}
	for i := range s.Players {
		x := &s.Players[i].Sight
		below(a, &x.Ago, 1<<16)
		below(a, &x.Base, 1<<16)
		below(a, &x.Claimed, MaxClaims+1)
		for j := range x.Claims[:x.Claimed] {
			c := &x.Claims[j]
			uvarint(a, &c.Target)
			for k := range c.Place {
				v := int64(c.Place[k])
				a.varint(&v)
				c.Place[k] = int32(v)
			}
		}
	}
}

func (m *SavedMoment) pass(a *archive, d *Declared) {
	n := a.count(len(m.IDs), 1<<28, 2)
	m.IDs, m.Places = grow(a, m.IDs, n), grow(a, m.Places, n)
	last := None
	for i := range m.IDs {
		gap := uint64(m.IDs[i] - last)
		if uvarint(a, &gap); gap == 0 || last+ID(gap) < last {
			a.fail(errors.New("what is remembered is not in order"))
			return
		}
		last += ID(gap)
		m.IDs[i] = last
		if last.Class() >= len(d.Classes) || d.Classes[last.Class()].Place == nil {
			a.fail(errors.New("something is remembered that cannot be rewound"))
			return
		}
		for k := range d.Classes[last.Class()].Place {
			v := int64(m.Places[i][k])
			a.varint(&v)
			m.Places[i][k] = int32(v)
		}
	}
}
