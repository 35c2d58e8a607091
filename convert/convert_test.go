package convert_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/convert"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// The game as it was.

type soldier struct {
	Pos    det.Vec2
	Turn   det.Angle
	HP     int
	Name   string
	Target world.ID
	Items  []item
	Speed  float64
	Serial uint32
	Secret int16 `world:"server"`
	Old    bool
}

type item struct{ Count int }

func (i *item) Sync(s *bits.Sync) { s.Int(&i.Count, 0, 99) }

func (f *soldier) Sync(s *bits.Sync) {
	s.Vec2(&f.Pos, -100, 100, 0.5)
	s.Angle(&f.Turn, 8)
	s.Int(&f.HP, 0, 100)
	s.String(&f.Name, 12)
	bits.Integer(s, &f.Target, 0, 1<<64-1)
	bits.Slice(s, &f.Items, 3, (*item).Sync)
	s.Float(&f.Speed, 0, 10, 0.25)
	s.Uint32(&f.Serial, 0, 1<<32-1)
	s.Bool(&f.Old)
}

func (f *soldier) CopyFrom(from *soldier) {
	items := append(f.Items[:0], from.Items...)
	*f = *from
	f.Items = items
}

type rock struct{ X int }

func (r *rock) Sync(s *bits.Sync) { s.Int(&r.X, -5, 5) }

type scores struct{ Red, Blue int }

func (c *scores) Sync(s *bits.Sync) { s.Int(&c.Red, 0, 9); s.Int(&c.Blue, 0, 9) }

type press struct{ Move int8 }

func (p *press) Sync(s *bits.Sync) { s.Int8(&p.Move, -1, 1) }

type scar struct{ Deep int }

func (c *scar) Sync(s *bits.Sync) { s.Int(&c.Deep, 0, 9) }

// before makes the game of then, with a world that OnStart fills.
func before(start func(w *world.World)) *world.Game {
	return world.Define("war", world.Class[rock](world.ClassOptions{Name: "Rock"}),
		world.Class[soldier](world.ClassOptions{Name: "Soldier"}),
		world.State[scores](world.ClassOptions{Name: "Scores"}), world.Commands[press](),
		world.Event[scar](world.EventOptions{Name: "Scar", Delivery: world.Saved}),
		world.OnStart(start))
}

// The game as it is: rocks are gone, soldiers are fighters, and most of what they have is changed.

type fighter struct {
	Armour int // gained
	Name   string
	Pos    det.Vec3 // one axis more, in finer steps
	Turn   det.Angle
	Life   int // was HP, and goes further
	Target world.ID
	Items  []thing
	Speed  float64 `world:"server"` // clients do without
	Serial uint64
	Secret int64 // clients are told
}

type thing struct{ Number int }

func (i *thing) Sync(s *bits.Sync) { s.Int(&i.Number, 0, 500) }

func (f *fighter) Sync(s *bits.Sync) {
	s.Int(&f.Armour, 0, 50)
	s.String(&f.Name, 40)
	s.Vec3(&f.Pos, -200, 200, 0.125)
	s.Angle(&f.Turn, 12)
	s.Int(&f.Life, 0, 1000)
	bits.Integer(s, &f.Target, 0, 1<<64-1)
	bits.Slice(s, &f.Items, 5, (*thing).Sync)
	s.Uvarint(&f.Serial)
	s.Varint(&f.Secret)
}

func (f *fighter) CopyFrom(from *fighter) {
	items := append(f.Items[:0], from.Items...)
	*f = *from
	f.Items = items
}

func (f *fighter) Convert(r *convert.Rules) {
	r.Class("Soldier")
	r.Renamed("HP", &f.Life)
	r.RenamedPath("Items[].Count", "Items[].Number")
	convert.Then(r, func(f *fighter, old convert.Values) error {
		if !old.Has("Armour") {
			f.Armour = int(old.Int("HP") / 2)
		}
		return nil
	})
}

type tally struct{ Red, Blue, Green int }

func (c *tally) Sync(s *bits.Sync) {
	s.Int(&c.Red, 0, 99)
	s.Int(&c.Blue, 0, 99)
	s.Int(&c.Green, 0, 99)
}

type weather struct{ Rain float64 }

func (x *weather) Sync(s *bits.Sync) { s.Float(&x.Rain, 0, 1, 0.01) }

type pressed struct {
	Move int8
	Jump bool `world:"edge"`
}

func (p *pressed) Sync(s *bits.Sync) { s.Int8(&p.Move, -3, 3); s.Bool(&p.Jump) }

type scarred struct{ Deep, Wide int }

func (c *scarred) Sync(s *bits.Sync) { s.Int(&c.Deep, 0, 20); s.Int(&c.Wide, 0, 9) }

var after = world.Define("war", world.State[tally](world.ClassOptions{Name: "Scores"}),
	world.State[weather](world.ClassOptions{Name: "Weather"}),
	world.Class[fighter](world.ClassOptions{Name: "Fighter"}), world.Commands[pressed](),
	world.Event[scarred](world.EventOptions{Name: "Scar", Delivery: world.Saved}),
	world.OnStart(func(w *world.World) { world.StateOf[weather](w).Rain = 0.5 }))

// drawn fills a world of then with soldiers of all kinds.
func drawn(t *rapid.T, n int) (*world.World, []soldier, []world.ID) {
	list := make([]soldier, n)
	ids := make([]world.ID, n)
	g := before(func(w *world.World) {
		stone := world.Spawn(w, rock{X: 3})
		for i := range list {
			f := &list[i]
			*f = soldier{
				Pos: det.Vec2{X: rapid.Float64Range(-100, 100).Draw(t, "x"),
					Y: rapid.Float64Range(-100, 100).Draw(t, "y")},
				Turn:   det.Angle(rapid.Float64Range(-3.1, 3.1).Draw(t, "turn")),
				HP:     rapid.IntRange(0, 100).Draw(t, "hp"),
				Name:   rapid.StringMatching("[a-z]{0,12}").Draw(t, "name"),
				Speed:  rapid.Float64Range(0, 10).Draw(t, "speed"),
				Serial: rapid.Uint32().Draw(t, "serial"),
				Secret: rapid.Int16().Draw(t, "secret"),
				Target: stone,
			}
			if i > 0 {
				f.Target = ids[i-1]
			}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				f.Items = append(f.Items, item{rapid.IntRange(0, 99).Draw(t, "count")})
			}
			ids[i] = world.Spawn(w, *f)
			world.Emit(w, ids[i], scar{Deep: i % 10})
		}
		world.Emit(w, stone, scar{Deep: 1})
		world.StateOf[scores](w).Red = 7
	})
	w, err := g.New(world.Settings{Seed: 9, Secret: 8, Allocator: 3})
	if err != nil {
		t.Fatal(err)
	}
	in := g.NewInputs()
	in.Join(4)
	if err := world.Give(in, 4, press{Move: -1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		list[i] = *world.Get[soldier](w, id) // as it was rounded
	}
	return w, list, ids
}

// converted loads a world of then by its declarations alone, as a file has them.
func converted(t *rapid.T, w *world.World, g *world.Game) (*world.World, *convert.Report, error) {
	d, err := world.ParseDeclared(w.Game().Declared().Text())
	if err != nil {
		t.Fatal(err)
	}
	return convert.World(g, d, w.Host().Save(nil), convert.Options{})
}

// TestWorld: every field of every soldier is what it was, in the units of the new game, and the
// world can be played and saved.
func TestWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, list, ids := drawn(t, rapid.IntRange(1, 5).Draw(t, "soldiers"))
		to, rep, err := converted(t, w, after)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Entities != len(list)+1 || rep.Dropped != 1 || to.Tick() != w.Tick() {
			t.Fatalf("%+v", rep)
		}
		const class = 2
		moved := func(id world.ID) world.ID {
			return world.MakeID(class, id.Allocator(), id.Index(), id.Generation())
		}
		for i, id := range ids {
			was, is := &list[i], world.Get[fighter](to, moved(id))
			if is == nil {
				t.Fatalf("%v is not there", id)
			}
			target := world.None // a rock
			if i > 0 {
				target = moved(ids[i-1])
			}
			if is.Life != was.HP || is.Armour != was.HP/2 || is.Name != was.Name ||
				is.Pos.X != was.Pos.X || is.Pos.Y != was.Pos.Y || is.Pos.Z != 0 ||
				is.Turn != was.Turn || is.Speed != was.Speed || is.Serial != uint64(was.Serial) ||
				is.Secret != int64(was.Secret) || is.Target != target ||
				len(is.Items) != len(was.Items) {
				t.Fatalf("%+v became %+v", was, is)
			}
			for j := range was.Items {
				if is.Items[j].Number != was.Items[j].Count {
					t.Fatalf("%+v became %+v", was, is)
				}
			}
		}
		score := world.StateOf[tally](to)
		if score.Red != 7 || score.Green != 0 || !to.Present(4) {
			t.Fatalf("%+v", score)
		}
		again, err := after.Load(to.Host().Save(nil))
		if err != nil {
			t.Fatal(err)
		}
		if d := world.Differ(to, again); d != nil {
			t.Fatal(d)
		}
		if err := errors.Join(to.Host().Step(nil), again.Host().Step(nil)); err != nil {
			t.Fatal(err)
		}
		if d := world.Differ(to, again); d != nil {
			t.Fatal(d)
		}
	})
}

// TestFresh: a state that was gained is as in the world that is given as a new one.
func TestFresh(t *testing.T) {
	w, err := before(func(*world.World) {}).New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := after.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	to, _, err := convert.World(after, w.Game().Declared(), w.Host().Save(nil),
		convert.Options{Fresh: fresh})
	if err != nil || world.StateOf[weather](to).Rain != 0.5 {
		t.Fatal(err)
	}
}

// TestReport names each change.
func TestReport(t *testing.T) {
	rep, err := convert.Check(after, before(nil).Declared())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Weather was gained: a class", "Rock was lost: a class", "Fighter was called Soldier",
		"Fighter.Armour was gained: int 0..50", "Fighter.Life was called HP",
		"Fighter.Life was int 0..100 and is int 0..1000", "Fighter.Old was lost: bool",
		"Fighter.Pos.Z was gained: vec3 -200..200 in steps of 0.125",
		"Fighter.Speed was float 0..10 in steps of 0.25 and is float64, server-only",
		"commands.Jump was gained: bool",
	} {
		if !strings.Contains(rep.String(), want+"\n") {
			t.Errorf("nothing says %q:\n%s", want, rep)
		}
	}
	same, err := convert.Check(after, after.Declared())
	if err != nil || len(same.Changes) > 0 {
		t.Errorf("%v, %v", same, err)
	}
}

// What cannot be converted.

type narrow struct {
	HP   int
	Name int
	Pos  det.Vec2
}

func (n *narrow) Sync(s *bits.Sync) {
	s.Int(&n.HP, 0, 10)
	s.Int(&n.Name, 0, 3)
	s.Vec2(&n.Pos, -100, 100, 0.5)
}

type clamped struct{ narrow }

func (c *clamped) Sync(s *bits.Sync) { c.narrow.Sync(s) }
func (c *clamped) Convert(r *convert.Rules) {
	r.Renamed("HP", &c.HP)
	r.Clamp(&c.HP)
	r.Fresh(&c.Name)
}

// TestRefused: everything that cannot be is said at once, by class and field.
func TestRefused(t *testing.T) {
	start := func(w *world.World) {
		world.Spawn(w, soldier{HP: 50})
		world.Spawn(w, soldier{HP: 60})
		world.Spawn(w, soldier{HP: 10})
	}
	w, err := before(start).New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name string
		game *world.Game
		says []string
	}{
		{"values and types", world.Define("war",
			world.Class[narrow](world.ClassOptions{Name: "Soldier"})), []string{
			"Soldier.Name: was a text (string of at most 12) and is a whole number (int 0..3)",
			"Soldier.HP: 50 is beyond its range now, 0..10: widen it, or say Clamp (2 of them)"}},
		{"limit", world.Define("war", world.Class[soldier](world.ClassOptions{Name: "Soldier",
			Limit: 2})), []string{"Soldier: has 3 entities, up to index 2, and its limit is 2"}},
		{"rate", world.Define("war", world.Rate(30)), []string{"game.Rate: was 60"}},
		{"state", world.Define("war", world.State[soldier](world.ClassOptions{Name: "Soldier"})),
			[]string{"Soldier: was a class and is a state"}},
	} {
		_, _, err := convert.World(x.game, w.Game().Declared(), w.Host().Save(nil),
			convert.Options{})
		var list *convert.Error
		if !errors.As(err, &list) {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		for _, says := range x.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: nothing says %q: %v", x.name, says, err)
			}
		}
	}
	g := world.Define("war", world.Class[clamped](world.ClassOptions{Name: "Soldier"}))
	to, _, err := convert.World(g, w.Game().Declared(), w.Host().Save(nil), convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range world.All[clamped](to) {
		if v.HP != 10 || v.Name != 0 {
			t.Errorf("%+v", v)
		}
	}
	other := world.Define("peace")
	if _, _, err := convert.World(other, w.Game().Declared(), nil, convert.Options{}); !errors.Is(
		err, world.ErrGame) {
		t.Error(err)
	}
}

type wrong struct{ X int }

func (x *wrong) Sync(s *bits.Sync)        { s.Int(&x.X, 0, 1) }
func (x *wrong) Convert(r *convert.Rules) { r.Renamed("Y", new(int)) }

type mistaken struct{ X int }

func (x *mistaken) Sync(s *bits.Sync) { s.Int(&x.X, 0, 1) }
func (x *mistaken) Convert()          {}

// TestWrongRules: a mistake in the rules is one of the program.
func TestWrongRules(t *testing.T) {
	d := world.Define("war").Declared()
	for says, g := range map[string]*world.Game{
		"no field of wrong":       world.Define("war", world.Class[wrong]()),
		"it is called only if it": world.Define("war", world.Class[mistaken]()),
		"a game needs a name":     world.Define(""),
	} {
		if _, err := convert.Check(g, d); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
}

// madeUp is a schema of one field that nobody wrote.
func madeUp(t *rapid.T, name string, least, most float64) world.DeclaredFields {
	s := bits.Slot{Name: "F", Parts: 1}
	if rapid.Bool().Draw(t, name+" is a float") {
		s.Kind = bits.KindFloat
		s.Scale = rapid.SampledFrom([]float64{0.01, 0.125, 0.5, 1}).Draw(t, name+" step")
		s.Min, s.Max = int32(math.Floor(least/s.Scale)), int32(math.Ceil(most/s.Scale))
	} else {
		s.Kind, s.Min, s.Max = bits.KindInt, int32(math.Floor(least)), int32(math.Ceil(most))
	}
	s.Absent = min(max(0, s.Min), s.Max)
	return world.DeclaredFields{Slots: []bits.Slot{s}}
}

// TestMadeUp: between made-up schemas, of which one has room for all of the other, a number differs
// by half a step at most; and what goes to finer steps and comes back is what it was.
func TestMadeUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least, most := rapid.Float64Range(-1000, 0).Draw(t, "least"),
			rapid.Float64Range(1, 1000).Draw(t, "most")
		a := madeUp(t, "old", least, most)
		b := madeUp(t, "new", least-5, most+5)
		there := convert.NewFields("x", &convert.Side{Fields: a}, &convert.Side{Fields: b}, nil)
		back := convert.NewFields("x", &convert.Side{Fields: b}, &convert.Side{Fields: a}, nil)
		step := func(f world.DeclaredFields) float64 {
			if s := f.Slots[0].Scale; s > 0 {
				return s
			}
			return 1
		}
		was := []int32{rapid.Int32Range(a.Slots[0].Min, a.Slots[0].Max).Draw(t, "value")}
		is, again := []int32{0}, []int32{0}
		if wrong := there.Convert(is, nil, was, nil, nil); wrong != nil {
			t.Fatal(wrong)
		}
		x, y := float64(was[0])*step(a), float64(is[0])*step(b)
		if math.Abs(x-y) > step(b)/2+1e-9 {
			t.Fatalf("%v became %v", x, y)
		}
		if step(b) > step(a) {
			return
		}
		if wrong := back.Convert(again, nil, is, nil, nil); wrong != nil {
			t.Fatal(wrong)
		}
		if again[0] != was[0] && math.Abs(x-y) < step(a)/2-1e-9 {
			t.Fatalf("%v came back as %v", was, again)
		}
	})
}

// FuzzWorld: declarations and worlds of strangers are converted or refused; what comes of them is a
// world.
func FuzzWorld(f *testing.F) {
	w, err := before(func(w *world.World) {
		id := world.Spawn(w, rock{})
		world.Emit(w, id, scar{})
		world.Spawn(w, soldier{Name: "ada", Target: id, Items: []item{{3}}})
	}).New(world.Settings{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(w.Game().Declared().Text(), w.Host().Save(nil))
	f.Fuzz(func(t *testing.T, text, data []byte) {
		d, err := world.ParseDeclared(text)
		if err != nil {
			return
		}
		to, _, err := convert.World(after, d, data, convert.Options{})
		if err != nil {
			return
		}
		if _, err := after.Load(to.Host().Save(nil)); err != nil {
			t.Fatal(err)
		}
	})
}
