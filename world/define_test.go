package world

import (
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

type plainRock struct{ Size int }

func (r *plainRock) Sync(s *bits.Sync) { s.Int(&r.Size, 0, 9) }

type forgetful struct{ Size, Weight int }

func (r *forgetful) Sync(s *bits.Sync) { s.Int(&r.Size, 0, 9) }

type misspelt struct {
	Size, Weight int `world:"sever"`
}

func (r *misspelt) Sync(s *bits.Sync) { s.Int(&r.Size, 0, 9) }

type twofold struct {
	Size int `world:"server"`
}

func (r *twofold) Sync(s *bits.Sync) { s.Int(&r.Size, 0, 9) }

type underived struct {
	Size  int
	Twice int `world:"derived"`
}

func (r *underived) Sync(s *bits.Sync) { s.Int(&r.Size, 0, 9) }

type shared struct{ Items []plainRock }

func (r *shared) Sync(s *bits.Sync) { bits.Slice(s, &r.Items, 4, (*plainRock).Sync) }

type hoarder struct {
	Items []int `world:"server"`
}

func (r *hoarder) Sync(s *bits.Sync)      {}
func (r *hoarder) CopyFrom(from *hoarder) {}

type twoFaced struct{ A, B int }

func (r *twoFaced) Sync(s *bits.Sync) {
	if !s.Reading() && r.B > 0 || s.Reading() { // a reader cannot know
		s.Int(&r.A, 0, 9)
	}
	s.Int(&r.B, 0, 9)
}

type backwards struct{ Heat float64 }

func (r *backwards) Sync(s *bits.Sync) { s.Float(&r.Heat, 9, 0, 1) }

type deaf struct{ Size int }

func (r *deaf) Sync(s *bits.Sync) { s.Int(&r.Size, 0, 9) }
func (r *deaf) Step(w *World)     {}

type listOrder struct{ Targets []uint16 }

func (c *listOrder) Sync(s *bits.Sync) {
	bits.Slice(s, &c.Targets, 4, func(v *uint16, s *bits.Sync) { s.Uint16(v, 0, 9) })
}

type converted struct {
	Level float64 `world:"synced"`
}

func (c *converted) Sync(s *bits.Sync) {
	l := int(c.Level)
	s.Int(&l, 0, 9)
	c.Level = float64(l)
}

type posed struct {
	Turn det.Quat
	Aim  det.Vec3
	Maze [3]struct{ Open bool }
	Goal bits.Option[plainRock]
	_    int
}

func (p *posed) Sync(s *bits.Sync) {
	s.Quat(&p.Turn, 9)
	s.Direction(&p.Aim, 8)
	for i := range p.Maze {
		s.Bool(&p.Maze[i].Open)
	}
	bits.Optional(s, &p.Goal, (*plainRock).Sync)
}

func TestMistakesInDeclarations(t *testing.T) {
	rock := Class[plainRock]()
	for _, x := range []struct {
		name  string
		parts []Declaration
		want  []string // what the message says; none if it is no mistake
	}{
		{"fine", []Declaration{rock, Class[posed](), Class[converted]()}, nil},
		{"two of a type", []Declaration{rock, Class[plainRock](ClassOptions{Name: "other"})},
			[]string{"class other", "plainRock"}},
		{"two of a name", []Declaration{rock, Class[deaf](ClassOptions{Name: "plainRock"})},
			[]string{"class plainRock", "same name"}},
		{"field forgotten", []Declaration{Class[forgetful]()},
			[]string{"class forgetful", "Weight", "not synced", `world:"server"`}},
		{"tag misspelt", []Declaration{Class[misspelt]()},
			[]string{"class misspelt", "Size", `"sever"`}},
		{"synced and server-only", []Declaration{Class[twofold]()},
			[]string{"class twofold", "Size", "server"}},
		{"no Derive", []Declaration{Class[underived]()},
			[]string{"class underived", "Twice", "Derive()"}},
		{"no CopyFrom", []Declaration{Class[shared]()},
			[]string{"class shared", "Items", "slice", "CopyFrom(from *shared)"}},
		{"server-only slice", []Declaration{Class[hoarder]()},
			[]string{"class hoarder", "Items", "cannot be saved"}},
		{"reads differently", []Declaration{Class[twoFaced]()},
			[]string{"class twoFaced", "twoFaced."}},
		{"range backwards", []Declaration{Class[backwards]()}, []string{"class backwards", "Heat"}},
		{"wrong Step", []Declaration{Class[deaf]()},
			[]string{"class deaf", "Step", "*world.World, world.ID"}},
		{"limit", []Declaration{Class[plainRock](ClassOptions{Limit: -1})},
			[]string{"class plainRock", "limit"}},
		{"commands twice", []Declaration{Commands[steer](), Commands[plainRock]()},
			[]string{"Commands"}},
		{"commands with a slice", []Declaration{Commands[listOrder]()},
			[]string{"commands listOrder", "Targets", "array"}},
		{"events twice", []Declaration{Event[fired](), Event[fired]()}, []string{"event fired"}},
		{"rate", []Declaration{Rate(0)}, []string{"rate"}},
		{"hook twice", []Declaration{OnStart(func(*World) {}), OnStart(func(*World) {})},
			[]string{"OnStart"}},
		{"all at once", []Declaration{Class[forgetful](), Class[backwards]()},
			[]string{"Weight", "Heat"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			g := Define("test", x.parts...)
			err := g.Err()
			if len(x.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, s := range x.want {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
			if _, err := g.New(Settings{}); err == nil {
				t.Error("a world was made all the same")
			}
		})
	}
	if Define("", rock).Err() == nil {
		t.Error("a game without a name")
	}
}

type widerRock struct{ Size int }

func (r *widerRock) Sync(s *bits.Sync) { s.Int(&r.Size, 0, 10) }

type overdone struct{ Size int }

func (r *overdone) Sync(s *bits.Sync)    { s.Int(&r.Size, 0, 9) }
func (r *overdone) Step(w *World, me ID) { r.Size = 8 + int(w.Tick()) }

type sluggish struct {
	Pos   det.Vec2
	Speed float64
	Noise float64
}

func (r *sluggish) Sync(s *bits.Sync) {
	s.Vec2(&r.Pos, 0, 100, 1)
	s.Float(&r.Speed, 0, 10, 1.0/16)
	s.Float(&r.Noise, 0, 10, 1.0/16)
}

func (r *sluggish) Step(w *World, me ID) {
	r.Pos.X += 0.1 // never gets anywhere
	r.Pos.Y += 1
	r.Speed = float64(r.Speed * 0.95) // never comes to rest
	r.Noise += 1e-9
}

func TestDevelopmentMode(t *testing.T) {
	g := Define("g", Class[overdone](), OnStart(func(w *World) { Spawn(w, overdone{}) }))
	w, err := g.New(Settings{Develop: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Host().Step(nil); err != nil {
		t.Fatal("9 is in range:", err)
	}
	err = w.Host().Step(nil)
	if err == nil || !strings.Contains(err.Error(), "overdone.Size") ||
		!strings.Contains(err.Error(), "tick 2") {
		t.Error(err)
	}
	plain, _ := g.New(Settings{})
	for range 2 {
		if err := plain.Host().Step(nil); err != nil {
			t.Error(err)
		}
	}
	if plain.Hash() != w.Hash() {
		t.Error("development mode changed the result")
	}

	g = Define("g", Class[sluggish](), OnStart(func(w *World) { Spawn(w, sluggish{Speed: 5}) }))
	if w, err = g.New(Settings{Develop: true}); err != nil {
		t.Fatal(err)
	}
	for range 99 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	for _, x := range w.Host().Warnings() {
		said = append(said, x.Class+"."+x.Field)
	}
	if got := strings.Join(said, " "); got != "sluggish.Pos.X sluggish.Speed" {
		t.Errorf("warned of %q: %v", got, w.Host().Warnings())
	}
}

// moodyReader reads otherwise than it writes, but only at one number of a million, which no one
// would think of.
type moodyReader struct{ N, B int }

func (r *moodyReader) Sync(s *bits.Sync) {
	s.Int(&r.N, 0, 1<<20)
	if s.Reading() && r.N == 777777 {
		r.B = 0
		return
	}
	s.Int(&r.B, 0, 9)
}

func (r *moodyReader) Step(w *World, me ID) { r.N = 777000 + int(w.Tick()) }

func TestDevelopmentModeReadsWhatItWrites(t *testing.T) {
	g := Define("g", Class[moodyReader](), OnStart(func(w *World) {
		for range 64 {
			Spawn(w, moodyReader{B: 1})
		}
	}))
	w, err := g.New(Settings{Develop: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 776 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Host().Step(nil); err == nil || !strings.Contains(err.Error(), "moodyReader.B") {
		t.Error(err)
	}
}
