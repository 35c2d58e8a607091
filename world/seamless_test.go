package world

import (
	"errors"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// The game of a world that is divided: walkers hit each other and count it on a board.

type walker struct {
	Pos    det.Vec2
	Health int
	Hit    ID
	Ticks  int
	Secret int `world:"server"`
}

func (b *walker) Sync(s *bits.Sync) {
	s.Vec2(&b.Pos, -64, 64, 1.0/64)
	s.Int(&b.Health, 0, 1000)
	bits.Integer(s, &b.Hit, 0, 1<<64-1)
	s.Int(&b.Ticks, 0, 1<<20)
}

func (b *walker) Step(w *World, me ID) {
	b.Ticks++
	b.Secret++
	b.Pos.X += w.Rand().Range(-1, 1)
	c := Command[nudge](w, me)
	if c.Go != 0 {
		b.Pos.Y += float64(c.Go)
	}
	if c.Spawn && Count[walker](w) < 24 {
		Spawn(w, walker{Pos: b.Pos, Health: 100})
	}
	if b.Ticks == 1 { // whom it hits from the next tick on: the one after it
		n := Count[walker](w)
		b.Hit = MakeID(me.Class(), me.Allocator(), (me.Index()+1)%n, 1)
	} else if b.Hit != None {
		Act(w, b.Hit, blow{Much: 3, By: 0.3})
		Emit(w, me, ouch{N: b.Ticks})
	}
}

type nudge struct {
	Go    int8
	Spawn bool `world:"edge"`
}

func (n *nudge) Sync(s *bits.Sync) {
	s.Int8(&n.Go, -1, 1)
	s.Bool(&n.Spawn)
}

type blow struct {
	Much int
	By   float64
}

func (b *blow) Sync(s *bits.Sync) {
	s.Int(&b.Much, 0, 10)
	s.Float(&b.By, 0, 1, 1.0/8)
}

type ouch struct{ N int }

func (o *ouch) Sync(s *bits.Sync) { s.Int(&o.N, 0, 1<<20) }

type board struct {
	Blows int
	Last  ID
	By    float64
	Quiet int   `world:"server"`
	list  []int `world:"derived"`
}

func (b *board) Sync(s *bits.Sync) {
	s.Int(&b.Blows, 0, 1<<20)
	bits.Integer(s, &b.Last, 0, 1<<64-1)
	s.Float(&b.By, 0, 1<<10, 1.0/64)
}
func (b *board) Derive() {}
func (b *board) CopyFrom(from *board) {
	list := b.list
	*b = *from
	b.list = append(list[:0], from.list...)
}

type count struct {
	N  int
	By float64
}

func (c *count) Sync(s *bits.Sync) {
	s.Int(&c.N, 0, 100)
	s.Float(&c.By, 0, 1, 1.0/8)
}

var seamless = Define("seamless", State[board](), Class[walker](ClassOptions{Limit: 100}),
	Commands[nudge](), Event[ouch](EventOptions{Delivery: Saved}),
	Action(func(w *World, target, by ID, b *blow) {
		t := Get[walker](w, target)
		t.Health = max(t.Health-b.Much, 0)
		Emit(w, target, ouch{N: w.Rand().IntN(1 << 20)})
		Act(w, StateID[board](w), count{N: 1, By: b.By})
	}),
	Action(func(w *World, target, by ID, c *count) {
		b := StateOf[board](w)
		b.Blows += c.N
		b.Last, b.By = by, c.By
	}),
	OnJoin(func(w *World, p Player) { w.SetOwner(Spawn(w, walker{Health: 500}), p) }),
)

// divided makes a world with walkers, the n-th of which hits the next, in two zones: even ones at
// home and odd ones next door.
func divided(t testing.TB, walkers int) []*World {
	t.Helper()
	w, err := seamless.New(Settings{Seed: 7, Secret: 9})
	if err != nil {
		t.Fatal(err)
	}
	in := seamless.NewInputs()
	for p := range walkers {
		in.Join(Player(p + 1))
	}
	step(t, w, in)
	step(t, w, nil)
	all, err := w.Host().Divide(0, []int{0, 5}, func(id ID) int { return id.Index() % 2 })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func step(t fataler, w *World, in *Inputs) {
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
}

// ferry brings what left worlds to where it belongs, and steps them all.
func ferry(t testing.TB, all []*World) {
	t.Helper()
	ins := make([]*Inputs, len(all))
	for i := range all {
		ins[i] = seamless.NewInputs()
	}
	for _, w := range all {
		for x, data := range w.Host().Outgoing {
			for i, to := range all {
				if to.Has(x.Target) && !to.Ghost(x.Target) {
					if err := ins[i].Act(x, data); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	for i, w := range all {
		step(t, w, ins[i])
	}
}

// What walkers do to each other and to the board is the same, a tick later, over the border.
func TestActOverABorder(t *testing.T) {
	all := divided(t, 4)
	for range 20 {
		ferry(t, all)
	}
	// Those on walkers at home count a tick after they were given, the others a tick later.
	if n := StateOf[board](all[0]).Blows; n != 19*2+18*2 {
		t.Errorf("%d blows were counted", n)
	}
	for _, w := range all {
		for id := range w.Entities() {
			if h := Get[walker](w, id).Health; h != 500-3*19 {
				t.Errorf("%v has a health of %d", id, h)
			}
		}
	}
	if by := StateOf[board](all[0]).By; by != 0.25 {
		t.Errorf("an action's field is %v, and is not quantised", by)
	}
}

// An entity that crosses is the same on the other side, and what it missed is stepped there.
func TestPack(t *testing.T) {
	all := divided(t, 4)
	a, b := all[0], all[1]
	var id ID
	for x := range a.Entities() {
		id = x
		break
	}
	in := seamless.NewInputs()
	if err := Give(in, a.Owner(id), nudge{Go: 1}); err != nil {
		t.Fatal(err)
	}
	step(t, a, in)
	step(t, b, nil)
	data, hash := a.Host().Pack(id, nil), a.Host().HashEntity(id)
	a.Host().SetGhost(id)
	was := *Get[walker](a, id)
	for range 3 {
		step(t, b, nil)
	}
	got, stepped, err := b.Host().Unpack(data)
	if err != nil || got != id || b.Host().HashEntity(id) != hash || stepped+3 != b.Tick() {
		t.Fatal(got, err, stepped)
	}
	if err := b.Host().Catch(id, 3); err != nil {
		t.Fatal(err)
	}
	step(t, b, nil)
	now := Get[walker](b, id)
	if now.Ticks != was.Ticks+4 || now.Pos.Y != was.Pos.Y+4 {
		t.Errorf("was %+v, is %+v", was, *now)
	}
	if _, _, err := b.Host().Unpack(data); !errors.Is(err, ErrPlace) {
		t.Errorf("it came twice: %v", err)
	}
	if !a.Ghost(id) || Get[walker](a, id).Secret != 0 {
		t.Error("it is no ghost where it was")
	}
	if err := a.Host().PutGhost(id, b.Host().Entry(id), b.Host().Image(id)); err != nil {
		t.Fatal(err)
	}
	again, err := seamless.Load(a.Host().Save(nil))
	if err != nil || Differ(a, again) != nil || !again.Ghost(id) {
		t.Error(err, Differ(a, again))
	}
}

// The game of these tests can be divided, and what is done wrong is found.
func TestCheckBorders(t *testing.T) {
	rep, err := CheckBorders(seamless, CheckOptions{Players: 5, Ticks: 200})
	if err != nil || rep.Wrong > 0 || rep.Crossings < 100 || rep.Acts < 100 || rep.Strayed == 0 ||
		rep.Caught == 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	t.Logf("%+v", *rep)
	rep, err = CheckBorders(arena, CheckOptions{Players: 5, Ticks: 200})
	if err != nil || rep.Wrong == 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	t.Log(rep)
}
