package world

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// The gallery is a game with all kinds of inputs: a duck that goes along, and players who shoot.
type duck struct{ Pos det.Vec2 }

func (d *duck) Sync(s *bits.Sync) { s.Vec2(&d.Pos, -64, 64, 1.0/256) }
func (d *duck) Rewind(r *Rewinding) {
	r.Place(&d.Pos)
	r.Limit(20)
	r.Margin(0.5)
}

func (d *duck) Step(w *World, me ID) {
	d.Pos.X += 12 * w.Seconds() * StateOf[wind](w).Force
	if d.Pos.X > 60 {
		d.Pos.X = -60
	}
}

type hunter struct{ Hits, Gold int }

func (h *hunter) Sync(s *bits.Sync) {
	s.Int(&h.Hits, 0, 1000)
	s.Int(&h.Gold, 0, 1000)
}

func (h *hunter) Step(w *World, me ID) {
	c := Command[pull](w, me)
	if c.Ask {
		Emit(w, me, question{Player: w.Owner(me)})
	}
	if !c.Fire {
		return
	}
	shot := Shot{By: w.Owner(me), Favour: FavourShooter}
	for id, d := range All[duck](w) {
		at, ok := w.Sees(shot, id)
		if now := (det.Vec3{X: d.Pos.X, Y: d.Pos.Y}); !ok && at != now {
			panic(fmt.Sprint(at, " is not where it is, ", now))
		}
		if det.Abs(at.X-c.X) < 0.25 {
			h.Hits = min(h.Hits+1, 1000)
			w.Strike(shot, id)
		}
	}
}

type pull struct {
	X    float64
	Fire bool `world:"edge"`
	Ask  bool `world:"edge"`
}

func (c *pull) Sync(s *bits.Sync) {
	s.Float(&c.X, -64, 64, 1.0/256)
	s.Bool(&c.Fire)
	s.Bool(&c.Ask)
}

type wind struct{ Force float64 }

func (k *wind) Sync(s *bits.Sync) { s.Float(&k.Force, -4, 4, 1.0/16) }

type question struct{ Player Player }

func (q *question) Sync(s *bits.Sync) { bits.Integer(s, &q.Player, 0, 1000) }

type purse struct{ Gold int }

func (p *purse) Sync(s *bits.Sync) { s.Int(&p.Gold, 0, 100) }

type visit struct{ Y float64 }

func (v *visit) Sync(s *bits.Sync) { s.Float(&v.Y, -64, 64, 1.0/256) }

var gallery = Define("gallery", Class[duck](), Class[hunter](), Knob[wind](), Commands[pull](),
	Event[question](EventOptions{Delivery: Outside}),
	Answer(func(w *World, to Name, a *purse) {
		if h := Get[hunter](w, to.By); h != nil {
			h.Gold = min(h.Gold+a.Gold, 1000)
		}
	}),
	Message(func(w *World, from uint32, m *visit) {
		Spawn(w, duck{Pos: det.Vec2{X: float64(from), Y: m.Y}})
	}),
	OnContent(func(w *World, data []byte) {
		for id := range All[duck](w) {
			w.Remove(id)
		}
		for i := range data {
			Spawn(w, duck{Pos: det.Vec2{Y: float64(data[i] % 64)}})
		}
	}),
	OnStart(func(w *World) {
		StateOf[wind](w).Force = 1
		Spawn(w, duck{})
	}),
	OnJoin(func(w *World, p Player) { w.SetOwner(Spawn(w, hunter{}), p) }))

func newGallery(t *testing.T) *World {
	t.Helper()
	w, err := gallery.New(Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// openInputs makes up inputs of every kind, from the tick alone.
func openInputs(t Tick, in *Inputs) {
	in.Reset()
	if t == 1 {
		in.Join(1)
		in.Join(2)
	}
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	for p := Player(1); p <= 2; p++ {
		r := det.At(3, uint64(p), uint64(t))
		if r.IntN(8) == 0 {
			continue
		}
		must(Give(in, p, pull{X: r.Range(-3, 20), Fire: r.IntN(2) == 0, Ask: r.IntN(9) == 0}))
		s := Sight{Ago: uint16(r.IntN(16 * 20)), Base: uint16(r.IntN(20))}
		if r.IntN(3) == 0 {
			s.Add(Claim{Target: MakeID(0, 0, 0, 1), Place: [3]int32{int32(r.IntN(4000)), 0}})
		}
		if r.IntN(3) > 0 {
			must(in.Show(p, s))
		}
	}
	switch {
	case t%50 == 20:
		must(SetKnob(in, wind{Force: float64(t%3) - 0.5}))
	case t%40 == 7:
		must(TellMessage(in, uint32(t%9), uint32(t), visit{Y: float64(t % 60)}))
	case t%31 == 5:
		must(TellAnswer(in, Name{By: MakeID(1, 0, 0, 1), Tick: t - 5}, purse{Gold: 3}))
	case t == 200:
		must(TellContent(in, []byte("abc")))
	}
}

// TestOpenInputs: all that comes in is in copies, saved worlds and what is written of the inputs.
func TestOpenInputs(t *testing.T) {
	d, err := CheckRollback(gallery, CheckOptions{Ticks: 400, Back: 13, Inputs: openInputs})
	if err != nil || d != nil {
		t.Fatal(err, d)
	}
	if d, err = CheckRollback(gallery, CheckOptions{}); err != nil || d != nil {
		t.Fatal(err, d)
	}
	w, again := newGallery(t), newGallery(t)
	in, read := gallery.NewInputs(), gallery.NewInputs()
	buf := make([]byte, 1<<12)
	for n := Tick(1); n <= 400; n++ {
		openInputs(n, in)
		var out bits.Writer
		var s bits.Sync
		out.Reset(buf)
		s.StartWrite(&out)
		in.Sync(&s)
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		s.StartRead(bits.NewReader(out.Bytes()))
		read.Sync(&s)
		if err := s.Err(); err != nil {
			t.Fatal(n, err)
		}
		if err := errors.Join(w.Host().Step(in), again.Host().Step(read)); err != nil {
			t.Fatal(err)
		}
		if d := Differ(w, again); d != nil {
			t.Fatal(d)
		}
	}
	h := Get[hunter](w, MakeID(1, 0, 0, 1))
	if h.Hits == 0 || h.Gold == 0 || StateOf[wind](w).Force == 1 || Count[duck](w) < 4 {
		t.Errorf("%+v, %+v, %d ducks: something did not come in", h, *StateOf[wind](w),
			Count[duck](w))
	}
}

// TestSees: a shot is judged where it was aimed at, and the same after the world was saved.
func TestSees(t *testing.T) {
	w := newGallery(t)
	in := gallery.NewInputs()
	in.Join(1)
	id := MakeID(0, 0, 0, 1)
	where := []float64{Get[duck](w, id).Pos.X}
	for range 40 {
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
		where = append(where, Get[duck](w, id).Pos.X)
	}
	fire := func(x float64, s Sight) bool {
		loaded, err := gallery.Load(w.Host().Save(nil))
		if err != nil {
			t.Fatal(err)
		}
		hits := [3]int{}
		for i, w := range []*World{w.Host().Clone(), loaded, w.Host().Clone()} {
			in.Reset()
			if err := Give(in, 1, pull{X: x, Fire: true}); err != nil {
				t.Fatal(err)
			}
			if err := in.Show(1, s); err != nil {
				t.Fatal(err)
			}
			if err := w.Host().Step(in); err != nil {
				t.Fatal(err)
			}
			hits[i] = Get[hunter](w, MakeID(1, 0, 0, 1)).Hits
		}
		if hits[0] != hits[1] || hits[0] != hits[2] {
			t.Errorf("copies judge %v", hits)
		}
		return hits[0] > 0
	}
	claim := func(x float64, base uint16) Sight {
		s := Sight{Base: base}
		s.Add(Claim{Target: id, Place: [3]int32{int32(x * 256), 0}})
		return s
	}
	last := len(where) - 1 // the tick that is computed is the next
	for _, c := range []struct {
		what string
		x    float64
		s    Sight
		hit  bool
	}{
		{"the present", where[last] + 0.2, Sight{}, true},
		{"where it was, seen in the present", where[last-9], Sight{}, false},
		{"where it was, and was seen", where[last-9], Sight{Ago: 160}, true},
		{"between two ticks", (where[last-9] + where[last-8]) / 2, Sight{Ago: 152}, true},
		{"further back than the limit", where[last-29], Sight{Ago: 320}, false},
		{"a claim on the way", where[last-5], claim(where[last-5], 8), true},
		{"a claim beside the way", where[last] + 0.4, claim(where[last]+0.4, 3), true},
		{"a claim far ahead", where[last] + 3, claim(where[last]+3, 3), false},
		{"a claim before the snapshot", where[last-15], claim(where[last-15], 3), false},
		{"a claim before the limit", where[last-30], claim(where[last-30], 20), false},
	} {
		if got := fire(c.x, c.s); got != c.hit {
			t.Errorf("%s: hit %v", c.what, got)
		}
	}
}

// TestCover: how long someone may have been behind cover depends on who is favoured.
func TestCover(t *testing.T) {
	w := newGallery(t)
	in := gallery.NewInputs()
	in.Join(1)
	for range 40 {
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
	}
	id := MakeID(0, 0, 0, 1)
	now := Get[duck](w, id).Pos.X
	pace := 12 * w.Seconds()
	w.sights[1] = Sight{Ago: 16 * 18}
	for _, c := range []struct {
		favour Favour
		ticks  float64 // behind cover
		ok     bool
	}{
		{FavourShooter, 16, true}, {FavourVictim, 1, true}, {FavourVictim, 5, false},
		{FavourBoth, 5, true}, {FavourBoth, 14, false}, {FavourDefault, 5, true},
		{FavourDefault, 14, false}, {FavourPresent, 0, false},
	} {
		wall := now - c.ticks*pace
		_, ok := w.Sees(Shot{By: 1, Favour: c.favour,
			Clear: func(to det.Vec3) bool { return to.X < wall }}, id)
		if ok != c.ok {
			t.Errorf("%v, %v ticks behind cover: %v", c.favour, c.ticks, ok)
		}
	}
}

// A circler goes round a tree, opposite another.
type circler struct {
	Pos   det.Vec2
	Angle det.Angle
}

func (c *circler) Sync(s *bits.Sync) {
	s.Vec2(&c.Pos, -10, 10, 1.0/1024)
	s.Angle(&c.Angle, 16)
}

func (c *circler) Rewind(r *Rewinding) { r.Limit(40) }

func (c *circler) Step(w *World, me ID) {
	c.Angle = (c.Angle + det.Angle(2*det.Pi/180)).Wrap() // around once in three seconds
	c.Pos = c.Angle.Vec().Mul(3)
}

// TestTree is the case of the DOOM III paper: two players circle a tree so that it is always
// between them. One of them has a long ping, sees the other where that one was a while ago, and has
// a free line of fire on the screen. Where the shooter is favoured he hits, again and again; the
// victim has not been in the open for long, and is spared where that counts.
func TestTree(t *testing.T) {
	forest := Define("forest", Class[circler](), Commands[pull](), OnStart(func(w *World) {
		for _, a := range []det.Angle{0, det.Pi} {
			Spawn(w, circler{Pos: a.Vec().Mul(3), Angle: a})
		}
	}))
	clear := func(a, b det.Vec3) bool {
		d := b.Sub(a)
		along := det.Clamp(-a.Dot(d)/d.Dot(d), 0, 1)
		return a.Add(d.Mul(along)).Len() > 1
	}
	me, victim := MakeID(0, 0, 0, 1), MakeID(0, 0, 1, 1)
	for favour, hits := range map[Favour]bool{
		FavourShooter: true, FavourBoth: false, FavourVictim: false, FavourPresent: false} {
		w, err := forest.New(Settings{})
		if err != nil {
			t.Fatal(err)
		}
		in := forest.NewInputs()
		in.Join(1)
		struck, shots := 0, 0
		for range 300 {
			if err := w.Host().Step(in); err != nil {
				t.Fatal(err)
			}
			in.Reset()
			w.sights[1] = Sight{Ago: 16 * 28}
			if w.Tick() < 60 {
				continue
			}
			from, now := w.stands(me), w.stands(victim)
			if clear(from, now) {
				t.Fatal("the tree is not between them")
			}
			at, ok := w.Sees(Shot{By: 1, From: from, Favour: favour,
				Clear: func(to det.Vec3) bool { return clear(from, to) }}, victim)
			if ok != (at != now) {
				t.Fatal(at, now, ok)
			}
			if shots++; clear(from, at) {
				struck++
			}
		}
		if shots < 200 || (struck > 0) != hits {
			t.Errorf("%v is favoured: %d of %d shots hit", favour, struck, shots)
		}
	}
}

// TestStrike: a client's shot is judged by what it shows, and it says where that was.
func TestStrike(t *testing.T) {
	whole := newGallery(t)
	part, err := gallery.New(Settings{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	id, me := MakeID(0, 0, 0, 1), MakeID(1, 0, 0, 1)
	in := gallery.NewInputs()
	in.Join(1)
	if err := whole.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	part.Host().SetTick(1)
	for _, id := range []ID{id, me} {
		if err := part.Host().Put(id, whole.Host().Entry(id), whole.Host().Image(id)); err != nil {
			t.Fatal(err)
		}
	}
	shown := det.Vec3{X: 7, Y: 1}
	part.Host().SetShown(1, func(target ID) (det.Vec3, bool) { return shown, target == id })
	in.Reset()
	if err := Give(in, 1, pull{X: 7, Fire: true, Ask: true}); err != nil {
		t.Fatal(err)
	}
	if err := part.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	want := Claim{Target: id, Place: [3]int32{7 * 256, 256}}
	if c := part.Host().Claims(); len(c) != 1 || c[0] != want {
		t.Errorf("claims %+v", c)
	}
	for range Events[question](part) {
		t.Error("a client asks the outside")
	}
	in.Reset()
	if err := part.Host().Step(in); err != nil || len(part.Host().Claims()) > 0 {
		t.Error(err, part.Host().Claims())
	}
}

// TestOpenInputsRefuse: what no client and no operator of the game can have said is refused, with
// words, and changes nothing.
func TestOpenInputsRefuse(t *testing.T) {
	in := gallery.NewInputs()
	if err := Give(in, 1, pull{}); err != nil {
		t.Fatal(err)
	}
	claim := func(c Claim) error {
		s := Sight{}
		s.Add(c)
		return in.Show(1, s)
	}
	plain := arena.NewInputs()
	plain.Join(1)
	for says, err := range map[string]error{
		"gives no command":          in.Show(2, Sight{Ago: 5}),
		"at most 20 are remembered": in.Show(1, Sight{Ago: 16*20 + 1}),
		"from 21 ticks ago":         in.Show(1, Sight{Base: 21}),
		"cannot be rewound":         claim(Claim{Target: MakeID(1, 0, 0, 1)}),
		"outside of its range": claim(Claim{Target: MakeID(0, 0, 0, 1),
			Place: [3]int32{1 << 30}}),
		"too many numbers": claim(
			Claim{Target: MakeID(0, 0, 0, 1), Place: [3]int32{0, 0, 1}}),
		"7 claims":             in.Show(1, Sight{Claimed: 7}),
		"is no knob":           SetKnob(in, purse{}),
		"kind 9 of game":       in.Tell(Told{Kind: 9}, nil),
		"no such question":     in.Tell(Told{Kind: 0, From: 3}, []byte{0}),
		"knob wind":            in.Tell(Told{Kind: 0}, []byte{1, 2, 3, 4, 5}),
		"takes no content":     TellContent(plain, nil),
		"content of 65536":     TellContent(in, make([]byte, 1<<16)),
		"answer purse":         in.Tell(Told{Kind: 1}, []byte{}),
		"which declares 0 kin": plain.Tell(Told{Kind: 1}, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	if s, ok := in.Sight(1); ok || len(in.told) > 0 {
		t.Errorf("something came in: %+v, %+v", s, in.told)
	}
}

// The declarations of rewinding and inputs are checked when the game starts.
type mute struct{ Pos int }

func (m *mute) Sync(s *bits.Sync)   { s.Int(&m.Pos, 0, 9) }
func (m *mute) Rewind(r *Rewinding) { r.Place(&m.Pos) }

type lost struct{ X float64 }

func (m *lost) Sync(s *bits.Sync) { s.Float(&m.X, 0, 9, 1) }
func (m *lost) Rewind(r *Rewinding) {
	r.Limit(0)
	r.Margin(-1)
	r.Favour(77)
}

func TestOpenInputsDeclared(t *testing.T) {
	var nothing func(*World, Name, *purse)
	for says, g := range map[string]*Game{
		"is no place":        Define("a", Class[mute]()),
		"a limit of 0 ticks": Define("b", Class[lost]()),
		"say what is to be":  Define("c", Answer(nothing)),
		"same name or type": Define("d", Message(func(*World, uint32, *visit) {}),
			Message(func(*World, uint32, *visit) {})),
	} {
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	text := gallery.Describe()
	for _, line := range []string{
		"rewound: Pos, 20 ticks, margin 0.5, favours both", "knob wind", "answer purse",
		"message visit", "content content"} {
		if !strings.Contains(text, line) {
			t.Errorf("the description lacks %q:\n%s", line, text)
		}
	}
	if gallery.Rewinds() != 20 || len(gallery.Inputs()) != 4 {
		t.Error(gallery.Rewinds(), len(gallery.Inputs()))
	}
}

// TestRememberAllocates: remembering costs no allocation, nor does copying what is remembered.
func TestRememberAllocates(t *testing.T) {
	w := newGallery(t)
	in := gallery.NewInputs()
	in.Join(1)
	for range 50 {
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	c := w.Host().Clone()
	in.Reset()
	if n := testing.AllocsPerRun(100, func() {
		_ = w.Host().Step(in)
		_ = c.Host().CopyFrom(w)
		w.Sees(Shot{By: 1}, MakeID(0, 0, 0, 1))
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzOpenInputs: inputs from anyone are refused or are what they say, once written again.
func FuzzOpenInputs(f *testing.F) {
	in := gallery.NewInputs()
	write := func(in *Inputs) []byte {
		var out bits.Writer
		var s bits.Sync
		out.Reset(make([]byte, 1<<17))
		s.StartWrite(&out)
		in.Sync(&s)
		if s.Err() != nil {
			panic(s.Err())
		}
		return bytes.Clone(out.Bytes())
	}
	for _, t := range []Tick{1, 5, 7, 20, 36, 200} {
		openInputs(t, in)
		f.Add(write(in))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := gallery.NewInputs()
		var s bits.Sync
		s.StartRead(bits.NewReader(data))
		in.Sync(&s)
		if s.Err() != nil {
			if !in.Empty() {
				t.Fatal("something is left of what was refused")
			}
			return
		}
		one := write(in)
		again := gallery.NewInputs()
		s.StartRead(bits.NewReader(one))
		if again.Sync(&s); s.Err() != nil || !bytes.Equal(one, write(again)) {
			t.Fatal("not the same once written", s.Err())
		}
		w, err := gallery.New(Settings{})
		if err == nil {
			err = w.Host().Step(in)
		}
		if err != nil && !strings.Contains(err.Error(), "limit") {
			t.Fatal(err)
		}
	})
}

// BenchmarkRemember is what it costs to remember where things were, and to copy that.
func BenchmarkRemember(b *testing.B) {
	w, err := gallery.New(Settings{})
	if err != nil {
		b.Fatal(err)
	}
	in := gallery.NewInputs()
	for i := range 100 {
		if err := TellMessage(in, uint32(i%60), uint32(i), visit{}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Host().Step(in); err != nil {
		b.Fatal(err)
	}
	for range 30 {
		_ = w.Host().Step(nil)
	}
	to := w.Host().Clone()
	for name, do := range map[string]func(){
		"step": func() { _ = w.Host().Step(nil) },
		"copy": func() { _ = to.Host().CopyFrom(w) },
		"hash": func() { _ = w.Hash() },
	} {
		b.Run(fmt.Sprintf("%s/%d", name, Count[duck](w)), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				do()
			}
		})
	}
}

// TestSetKnobTo: a knob is set by a pointer to a value whose type nobody names, and by nothing
// else.
func TestSetKnobTo(t *testing.T) {
	w, in := newGallery(t), gallery.NewInputs()
	v := gallery.Classes()[2].New().(bits.Syncer)
	v.(*wind).Force = 2.51
	if err := SetKnobTo(in, v); err != nil {
		t.Fatal(err)
	}
	if err := w.Host().Step(in); err != nil || StateOf[wind](w).Force != 2.5 {
		t.Errorf("%+v, %v", StateOf[wind](w), err)
	}
	for _, v := range []bits.Syncer{nil, (*wind)(nil), &duck{}, &purse{}} {
		if err := SetKnobTo(in, v); !errors.Is(err, ErrInput) {
			t.Errorf("%T: %v", v, err)
		}
	}
}
