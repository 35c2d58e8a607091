package game_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A thing has fields of every sort that can be pointed to.
type thing struct {
	Pos, Vel det.Vec2
	Turn     det.Angle
	Height   float64
	Count    int
	On       bool
	Trail    []float64
	Legs     [2]float64
	Deep     struct{ X, Y, Z, W float64 }
	Burning  bool
	Heat     float64 // synced only while it burns
	Hidden   float64 `world:"server"`
}

func (a *thing) Sync(s *bits.Sync) {
	s.Vec2(&a.Pos, -100, 100, 1.0/16)
	s.Vec2(&a.Vel, -100, 100, 1.0/16)
	s.Angle(&a.Turn, 8)
	s.Float(&a.Height, 0, 100, 0.25)
	s.Int(&a.Count, 0, 9)
	s.Bool(&a.On)
	bits.Slice(s, &a.Trail, 4, func(x *float64, s *bits.Sync) { s.Float(x, 0, 9, 0.5) })
	for i := range a.Legs {
		s.Float(&a.Legs[i], 0, 9, 0.5)
	}
	s.Float(&a.Deep.X, 0, 9, 0.5)
	s.Float(&a.Deep.Y, 0, 9, 0.5)
	s.Float(&a.Deep.Z, 0, 9, 0.5)
	s.Float(&a.Deep.W, 0, 9, 0.5)
	s.Bool(&a.Burning)
	if a.Burning {
		s.Float(&a.Heat, 0, 9, 0.5)
	}
}

// hint is what the class thing says of itself, which is another in each test. They run one at a
// time.
var hint func(a *thing, h *game.Hints)

// CopyFrom keeps the memory of the trail.
func (a *thing) CopyFrom(from *thing) {
	trail := append(a.Trail[:0], from.Trail...)
	*a = *from
	a.Trail = trail
}

func (a *thing) Hints(h *game.Hints) {
	if hint != nil {
		hint(a, h)
	}
}

// A spot is a class, or a state, with a place.
type spot struct{ Pos det.Vec2 }

func (a *spot) Sync(s *bits.Sync) { s.Vec2(&a.Pos, 0, 10, 0.5) }

type other spot

func (a *other) Sync(s *bits.Sync) { (*spot)(a).Sync(s) }

type weather spot

func (a *weather) Sync(s *bits.Sync) { (*spot)(a).Sync(s) }

var stateHint func(a *weather, h *game.Hints)

func (a *weather) Hints(h *game.Hints) {
	if stateHint != nil {
		stateHint(a, h)
	}
}

// A flash is a weak event, and a bang a strict one.
type flash struct{ At det.Vec2 }

func (e *flash) Sync(s *bits.Sync) { s.Vec2(&e.At, 0, 10, 0.5) }

func (e *flash) Hints(h *game.Hints) {
	if flashHint != nil {
		flashHint(e, h)
	}
}

var flashHint func(e *flash, h *game.Hints)

type bang struct{ At det.Vec2 }

func (e *bang) Sync(s *bits.Sync) { s.Vec2(&e.At, 0, 10, 0.5) }

func (e *bang) Hints(h *game.Hints) {
	if bangHint != nil {
		bangHint(e, h)
	}
}

var bangHint func(e *bang, h *game.Hints)

type walk struct {
	X    int8
	Jump bool
}

func (c *walk) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Bool(&c.Jump)
}

func rules(more ...world.Declaration) *world.Game {
	return world.Define("things", append([]world.Declaration{
		world.Class[thing](), world.Class[other](), world.State[weather](), world.Commands[walk](),
		world.Event[flash](world.EventOptions{Weak: true}), world.Event[bang](),
	}, more...)...)
}

// TestHintErrors: each mistake in Hints is reported, with the class and the field.
func TestHintErrors(t *testing.T) {
	defer func() { hint = nil }()
	another := &thing{}
	for name, x := range map[string]struct {
		hint func(a *thing, h *game.Hints)
		says []string
	}{
		"not synced": {
			func(a *thing, h *game.Hints) { h.Place(&a.Hidden) }, []string{
				"h.Place", "Hidden", "not synced"}},
		"in a slice": {
			func(a *thing, h *game.Hints) { h.Margin(&a.Trail[1], 1) }, []string{
				"Hints panicked", "index out of range", "name whole fields"}},
		"a local": {
			func(a *thing, h *game.Hints) { pos := a.Pos; h.Place(&pos) }, []string{
				"h.Place", "*det.Vec2", "no field of thing"}},
		"in a branch": {
			func(a *thing, h *game.Hints) { h.Margin(&a.Heat, 1) }, []string{
				"h.Margin", "Heat", "branch"}},
		"of another": {
			func(a *thing, h *game.Hints) { h.Place(&another.Pos) }, []string{
				"h.Place", "no field of thing"}},
		"no pointer": {
			func(a *thing, h *game.Hints) { h.Place(a.Pos) }, []string{
				"h.Place", "det.Vec2, and not a pointer"}},
		"a string": {
			func(a *thing, h *game.Hints) { h.Place("Pos") }, []string{
				"h.Place", "a string, and not a pointer"}},
		"nil": {
			func(a *thing, h *game.Hints) { h.Place(nil) }, []string{"h.Place", "not a pointer"}},
		"a nil pointer": {
			func(a *thing, h *game.Hints) { h.Place((*det.Vec2)(nil)) }, []string{
				"h.Place", "not a pointer"}},
		"all of it": {
			func(a *thing, h *game.Hints) { h.Beyond(a, 1) }, []string{
				"h.Beyond", "no field of thing"}},
		"no place": {
			func(a *thing, h *game.Hints) { h.Place(&a.On) }, []string{
				"h.Place", "On is no place", "vector"}},
		"a whole number": {
			func(a *thing, h *game.Hints) { h.Place(&a.Count) }, []string{
				"h.Place", "Count is no place"}},
		"an angle": {
			func(a *thing, h *game.Hints) { h.Place(&a.Turn) }, []string{
				"h.Place", "Turn is no place"}},
		"four dimensions": {
			func(a *thing, h *game.Hints) { h.Place(&a.Deep) }, []string{
				"h.Place", "Deep is no place"}},
		"no angle": {
			func(a *thing, h *game.Hints) { h.Heading(&a.Height) }, []string{
				"h.Heading", "Height is no angle"}},
		"twice": {
			func(a *thing, h *game.Hints) { h.Place(&a.Pos); h.Place(&a.Vel) }, []string{
				"h.Place", "called twice"}},
		"relayed and not": {
			func(a *thing, h *game.Hints) { h.Relay(); h.NoRelay() }, []string{
				"h.NoRelay", "choose one"}},
		"relayed and interpolated": {
			func(a *thing, h *game.Hints) { h.Relay(); h.Interpolated() }, []string{
				"h.Relay", "do not predict it"}},
		"twice Obstacle": {
			func(a *thing, h *game.Hints) { h.Obstacle(); h.Obstacle() }, []string{
				"h.Obstacle", "called twice"}},
		"contradiction": {
			func(a *thing, h *game.Hints) { h.Predicted(); h.OwnOnly() }, []string{
				"h.OwnOnly", "choose one"}},
		"another": {
			func(a *thing, h *game.Hints) { h.OwnOnly(); h.Interpolated() }, []string{
				"h.Interpolated", "choose one"}},
		"smooth back": {
			func(a *thing, h *game.Hints) { h.Smooth(-time.Second, 1) }, []string{
				"h.Smooth", "-1s"}},
		"smooth for ever": {
			func(a *thing, h *game.Hints) { h.Smooth(math.MaxInt64, 1) }, []string{
				"h.Smooth", "up to 1000 ticks"}},
		"smooth beyond": {
			func(a *thing, h *game.Hints) { h.Smooth(0, math.NaN()) }, []string{"h.Smooth", "NaN"}},
		"every": {
			func(a *thing, h *game.Hints) { h.Every(5, 2) }, []string{
				"h.Every", "5 ticks near and 2 far"}},
		"beyond": {
			func(a *thing, h *game.Hints) { h.Beyond(&a.Pos, -1) }, []string{
				"h.Beyond", "Pos by -1"}},
		"beyond on": {
			func(a *thing, h *game.Hints) { h.Beyond(&a.On, 1) }, []string{"On", "no distance"}},
		"beyond twice": {
			func(a *thing, h *game.Hints) { h.Beyond(&a.Pos, 1); h.Beyond(&a.Pos, 2) }, []string{
				"Pos", "threshold twice"}},
		"rate": {
			func(a *thing, h *game.Hints) { h.Rate(&a.Pos, &a.Height) }, []string{
				"h.Rate", "Pos has 2 numbers and Height 1"}},
		"rate of nothing": {
			func(a *thing, h *game.Hints) { h.Rate(&a.Hidden, &a.Height) }, []string{
				"h.Rate", "Hidden"}},
		"kind": {
			func(a *thing, h *game.Hints) { h.Kind(&a.Hidden, codec.Number) }, []string{
				"h.Kind", "Hidden"}},
		"margin": {
			func(a *thing, h *game.Hints) { h.Margin(&a.Pos, -1) }, []string{"Pos is -1"}},
		"thin": {
			func(a *thing, h *game.Hints) { h.Body(0) }, []string{"h.Body", "0 wide"}},
		"no width": {
			func(a *thing, h *game.Hints) { h.Body(math.NaN()) }, []string{"h.Body", "NaN wide"}},
		"two bodies": {
			func(a *thing, h *game.Hints) { h.Body(1); h.Body(2) }, []string{
				"h.Body", "called twice"}},
		"panics": {
			func(a *thing, h *game.Hints) { panic("no idea") }, []string{
				"Hints panicked: no idea"}},
	} {
		t.Run(name, func(t *testing.T) {
			hint = x.hint
			err := (&game.Title{Game: rules()}).Check()
			if err == nil {
				t.Fatal("it was taken")
			}
			if errs := lines(err); len(errs) != 1 {
				t.Errorf("one mistake is told %d times: %q", len(errs), errs)
			}
			for _, says := range append(x.says, `title "things"`, "thing") {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%q does not say %q", err, says)
				}
			}
		})
	}
}

// lines are the single errors of one that joins them.
func lines(err error) []string {
	if e := errors.Unwrap(err); e != nil {
		err = e
	}
	return strings.Split(err.Error(), "\n")
}

// What classes can get wrong by their methods alone.
type (
	swapped  spot // the arguments of Traits are the other way round
	blind    spot // Look gives a place
	undead   spot // Lives has one result
	clinging spot // TakenOver has no arguments
	shy      spot // Hints takes a value
	torn     spot // is taken over twice
	homeless struct{ Size int }
	twin     spot
)

func (a *swapped) Sync(s *bits.Sync)  { (*spot)(a).Sync(s) }
func (a *blind) Sync(s *bits.Sync)    { (*spot)(a).Sync(s) }
func (a *undead) Sync(s *bits.Sync)   { (*spot)(a).Sync(s) }
func (a *clinging) Sync(s *bits.Sync) { (*spot)(a).Sync(s) }
func (a *shy) Sync(s *bits.Sync)      { (*spot)(a).Sync(s) }
func (a *torn) Sync(s *bits.Sync)     { (*spot)(a).Sync(s) }
func (a *twin) Sync(s *bits.Sync)     { (*spot)(a).Sync(s) }

func (*swapped) Traits(world.ID, *world.World) (t interest.Traits) { return }
func (*blind) Look(*world.World, world.ID) (p det.Vec3)            { return }
func (*undead) Lives() bool                                        { return true }
func (*clinging) TakenOver() bool                                  { return true }
func (*shy) Hints(game.Hints)                                      {}
func (*torn) TakenOver(*world.World, world.ID) bool                { return true }
func (*torn) Hints(h *game.Hints)                                  { h.TakeOver() }
func (a *homeless) Sync(s *bits.Sync)                              { s.Int(&a.Size, 0, 9) }
func (*homeless) Hints(h *game.Hints)                              { h.Body(1) }
func (*twin) Hints(h *game.Hints)                                  { h.Body(1) }

// TestAllTogether: all that is wrong with a title is reported at once, in the same order each time.
func TestAllTogether(t *testing.T) {
	defer func() { hint, stateHint, flashHint, bangHint = nil, nil, nil, nil }()
	hint = func(a *thing, h *game.Hints) {
		h.Body(1)
		h.Place(&a.Hidden)
		h.Heading(&a.On)
	}
	stateHint = func(a *weather, h *game.Hints) {
		h.Predicted()
		h.Obstacle()
		h.Body(2)
		h.Every(2, 4)
	}
	flashHint = func(e *flash, h *game.Hints) {
		h.Margin(&e.At, 1)
		h.Place(&e.At)
		h.Alone()
	}
	bangHint = func(e *bang, h *game.Hints) { h.Margin(&e.At, 1) }
	check := func() error {
		title := &game.Title{
			Game: rules(
				world.Class[swapped](), world.Class[blind](), world.Class[undead](),
				world.Class[clinging](), world.Class[shy](),
				world.Class[torn](), world.Class[homeless](), world.Class[twin](),
			),
			Players: -1,
			Sight: game.Sight{
				Reach: -1, Rules: func() (a, b *interest.Rules) { return },
				Views: func(*world.World, game.Level, []interest.Description) (game.Views, error) {
					return nil, nil
				}},
			Screen: game.Screen{Draw: show, New: func() func(*draw.Surface, *game.Frame) {
				return show
			}},
			Tables: []byte("tables"),
			Levels: game.Levels{
				Names: []string{"hill", "hill", "bell\a"},
				Settings: func(game.Level) (s world.Settings, err error) {
					return s, errors.New("it is flat")
				},
			},
		}
		return title.Check()
	}
	err := check()
	if err == nil {
		t.Fatal("it was taken")
	}
	want := []string{
		"class thing: h.Place: field Hidden of thing is not synced",
		"class thing: h.Heading: On is no angle",
		"class weather: h.Body: it is a state",
		"class weather: h.Obstacle: it is a state",
		"class weather: h.Predicted: it is a state",
		"class swapped: method Traits is a func(world.ID, *world.World) interest.Traits; it is " +
			"called only if it is a func(*world.World, world.ID) interest.Traits",
		"class blind: method Look is a func(*world.World, world.ID) det.Vec3",
		"class undead: method Lives is a func() bool; it is called only if it is a func() (int, " +
			"bool)",
		"class clinging: method TakenOver is a func() bool",
		"class shy: method Hints is a func(game.Hints); it is called only if it is a " +
			"func(*game.Hints)",
		"class torn: it has the method TakenOver",
		"class homeless: h.Body: it needs a place",
		"class homeless: h.Body: thing is the players' body already",
		"class twin: h.Body: thing is the players' body already",
		"event flash: h.Place: that is for classes",
		"event flash: h.Alone: that is for classes",
		"event bang: h.Margin: it is strict",
		"there are -1 Players",
		"Sight.Reach is -1",
		"Sight.Views finds what is shown by itself",
		`level "hill" is in Levels.Names twice`,
		`level name "bell\a"`,
		`a server could not begin: level "hill": it is flat (there are hill, hill,`,
		"Screen has both Draw and New",
		"it can be drawn but not controlled: set Control",
		"replica: codec:",
	}
	got := lines(err)
	for i, says := range want {
		if i >= len(got) || !strings.Contains(got[i], says) {
			t.Fatalf("line %d does not say %q:\n%s", i, says, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("more is wrong than was expected:\n%s", strings.Join(got[len(want):], "\n"))
	}
	for range 20 {
		if again := check(); again.Error() != err.Error() {
			t.Fatalf("the same mistakes in another order:\n%v\n%v", err, again)
		}
	}
}

func show(*draw.Surface, *game.Frame) {}

// TestTitleErrors: mistakes of the title itself.
func TestTitleErrors(t *testing.T) {
	dumb := world.Define("dumb", world.Class[other]())
	control := game.Controls(func(*game.Input) walk { return walk{} })
	for _, x := range []struct {
		title *game.Title
		says  string
	}{
		{nil, "set Title.Game to what world.Define gave"},
		{&game.Title{}, "set Title.Game to what world.Define gave"},
		{&game.Title{Game: world.Define("")}, "name"},
		{&game.Title{Game: rules(), Screen: game.Screen{Assets: os.DirFS(".")}},
			"Screen has no Draw"},
		{&game.Title{Game: rules(), Screen: game.Screen{Draw: show}},
			"set Control, with game.Controls"},
		{&game.Title{Game: dumb, Control: control}, "declare them with world.Commands"},
		{&game.Title{Game: dumb, Sight: game.Sight{Reach: math.NaN()}}, "Sight.Reach is NaN"},
		{&game.Title{Game: dumb, Sight: game.Sight{Reach: 5}},
			"no class says from where: call h.Body"},
		{&game.Title{Game: dumb, Tables: []byte{1, 2, 3}}, "codec"},
		{&game.Title{Game: crowd.Game, Tables: append([]byte(nil), crowd.Title.Tables[:1000]...)},
			"codec"},
		{&game.Title{Game: dumb, Tables: crowd.Title.Tables}, "codec"},
	} {
		err := x.title.Check()
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%v does not say %q", err, x.says)
			continue
		}
		// What is wrong is not used.
		if x.title.Predict() != nil || x.title.Policies() != nil || x.title.Margins() != nil {
			t.Errorf("%v, and yet it has hints", err)
		}
		if _, _, ok := x.title.Body(); ok {
			t.Errorf("%v, and yet it has a body", err)
		}
		if _, ok := x.title.Place(0); ok {
			t.Errorf("%v, and yet it has a place", err)
		}
		if _, e := x.title.Protocol(replica.Coeval); e == nil {
			t.Errorf("%v, and yet it has a protocol", err)
		}
		if _, e := x.title.NewViews(nil, game.Level{}); e == nil {
			t.Errorf("%v, and yet it has views", err)
		}
	}
	if (*game.Title)(nil).Name() != "" || (&game.Title{}).Name() != "" {
		t.Error("a title without rules has a name")
	}
	if _, err := (&game.Title{Game: dumb}).Protocol(9); err == nil {
		t.Error("a strategy that there is not")
	}
}

// TestHints: what classes say arrives where it is used.
func TestHints(t *testing.T) {
	defer func() { hint, stateHint, flashHint = nil, nil, nil }()
	reckoned := func(*codec.History, []int32) {}
	leap := func([]int32, int32, []int32) {}
	hint = func(a *thing, h *game.Hints) {
		h.Place(&a.Legs[1])
		h.Heading(&a.Turn)
		h.Smooth(50*time.Millisecond, 2)
		h.OwnOnly()
		h.Obstacle()
		h.Alone()
		h.Leap(leap)
		h.Reckon(reckoned)
		h.Every(2, 6)
		h.TakeOver()
		h.Beyond(&a.Pos, 0.5)
		h.Beyond(&a.Count, 1)
		h.Rate(&a.Height, &a.Legs[0])
		h.Kind(&a.Vel, codec.Discrete)
		h.Margin(&a.Deep, 3)
		h.Body(1.5)
	}
	stateHint = func(a *weather, h *game.Hints) {
		h.Every(3, 3)
		h.Place(&a.Pos)
		h.Smooth(0, 1)
	}
	flashHint = func(e *flash, h *game.Hints) { h.Margin(&e.At, 0.25) }
	title := &game.Title{Game: rules()}
	if err := title.Check(); err != nil {
		t.Fatal(err)
	}
	p := title.Predict()["thing"]
	if p.Place != "Legs[1]" || p.Heading != "Turn" || p.Mode != predict.Own || !p.Obstacle ||
		!p.Alone || !p.Sparse || p.Leap == nil || p.Reckon == nil ||
		p.Smooth != (reckon.Converge{By: reckon.Exponential, Ticks: 3, Limit: det.FixedInt(2)}) {
		t.Errorf("%+v", p)
	}
	q := title.Policies()["thing"]
	if q.Interval != 2 || q.Far != 6 || !q.Takeover || q.TakenOver != nil || q.Reckon == nil ||
		fmt.Sprint(q.Beyond) != "[{Pos 0.5} {Count 1}]" ||
		fmt.Sprint(q.Rates) != "map[Height:Legs[0]]" ||
		fmt.Sprint(q.Kinds) != fmt.Sprint(map[string]codec.Kind{"Vel.X": codec.Discrete,
			"Vel.Y": codec.Discrete}) {
		t.Errorf("%+v", q)
	}
	if got, want := fmt.Sprint(title.Margins()), "[{thing Deep 3} {flash At 0.25}]"; got != want {
		t.Errorf("margins %s, want %s", got, want)
	}
	if c, width, ok := title.Body(); !ok || c.Name() != "thing" || width != 1.5 {
		t.Errorf("the body is %v, %v wide", c, width)
	}
	if f, ok := title.Place(0); !ok || f.Path != "Legs[1]" || len(f.Slots) != 1 {
		t.Errorf("the place is %v", f)
	}
	for _, class := range []int{-1, 99} {
		if f, ok := title.Place(class); ok {
			t.Errorf("class %d has the place %v", class, f)
		}
	}
	if s := title.Policies()["weather"]; s.Interval != 3 ||
		title.Predict()["weather"].Place != "Pos" {
		t.Errorf("the state is sent as %+v", s)
	}
	if title.Policies()["other"].Interval != 0 || title.Predict()["other"].Sparse {
		t.Error("a class that says nothing is treated in some other way than others")
	}
}

// A mayfly is taken over once it dies.
type mayfly struct {
	Pos  det.Vec2
	Life int
}

func (m *mayfly) Sync(s *bits.Sync) {
	s.Vec2(&m.Pos, 0, 100, 0.5)
	s.Int(&m.Life, 0, 9)
}

func (m *mayfly) TakenOver(*world.World, world.ID) bool { return m.Life == 0 }
func (m *mayfly) Lives() (int, bool)                    { return m.Life, m.Life > 0 }

// TestAsked: what differs from entity to entity is asked of each.
func TestAsked(t *testing.T) {
	title := &game.Title{
		Game: world.Define("flies", world.Class[mayfly](), world.Class[homeless](),
			world.OnStart(func(w *world.World) {
				world.Spawn(w, mayfly{Life: 3, Pos: det.Vec2{X: 5, Y: 7.5}})
				world.Spawn(w, mayfly{})
				world.Spawn(w, homeless{})
			}))}
	if err := title.Check(); err == nil || !strings.Contains(err.Error(), "homeless") {
		t.Fatal(err) // it says so, and is not used further
	}
	title = &game.Title{
		Game: world.Define("flies", world.Class[mayfly](), world.Class[stone](),
			world.OnStart(func(w *world.World) {
				world.Spawn(w, mayfly{Life: 3, Pos: det.Vec2{X: 5, Y: 7.5}})
				world.Spawn(w, mayfly{})
				world.Spawn(w, stone{})
			}))}
	w, err := title.Game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Host().Step(nil); err != nil {
		t.Fatal(err)
	}
	over := title.Policies()["mayfly"].TakenOver
	if !title.Predict()["mayfly"].Sparse {
		t.Error("clients do not know that they may be told no more of mayflies")
	}
	var seen []string
	for id := range w.Entities() {
		life, alive := game.Lives(w, id)
		at, ok := title.At(w, id)
		seen = append(seen, fmt.Sprint(life, alive, over(w, id), at, ok))
	}
	want := []string{
		"3 true false {5 7.5 0} true", "0 false true {0 0 0} true", "0 true false {0 0 0} false"}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", seen, want)
	}
	gone := world.ID(0)
	for id := range w.Entities() {
		gone = id
	}
	if err := w.Host().Step(nil); err != nil {
		t.Fatal(err)
	}
	if _, alive := game.Lives(w, gone); alive {
		t.Error("what was removed is alive")
	}
	if _, ok := title.At(w, gone); ok || over(w, gone) {
		t.Error("what was removed is somewhere")
	}
}

type stone struct{ Size int }

func (a *stone) Sync(s *bits.Sync) { s.Int(&a.Size, 0, 9) }

func (a *stone) Step(w *world.World, me world.ID) {
	if a.Size++; a.Size > 1 {
		w.Remove(me)
	}
}

// TestBundled: the titles that come with the program are right, and say what they did before there
// were titles.
func TestBundled(t *testing.T) {
	for _, x := range []struct {
		title *game.Title
		body  string
		width float64
		place string
	}{
		{arena.Title, "Fighter", 2 * arena.Radius, "Pos"}, {
			crowd.Title, "Avatar", 2 * crowd.Girth, "Pos"},
		{pong.Title, "Paddle", 2 * pong.Reach, "Y"}, {stack.Title, "", 0, ""},
	} {
		if err := x.title.Check(); err != nil {
			t.Error(err)
			continue
		}
		body, width, ok := x.title.Body()
		if ok != (x.body != "") || ok && (body.Name() != x.body || width != x.width) {
			t.Errorf("%s: a body %v, %v wide", x.title.Name(), body, width)
		}
		if ok {
			if f, _ := x.title.Place(body.Number()); f.Path != x.place {
				t.Errorf("%s: bodies are at %s", x.title.Name(), f.Path)
			}
		}
		if x.title.About == "" || (len(x.title.Margins()) != 0) != (x.title == arena.Title) {
			t.Errorf("%s: about %q, margins %v", x.title.Name(), x.title.About, x.title.Margins())
		}
	}
	want := map[string]predict.Class{
		"Fighter": {Heading: "Aim", Obstacle: true}, "Door": {Obstacle: true}}
	for name, got := range arena.Title.Predict() {
		if fmt.Sprint(got) != fmt.Sprint(want[name]) {
			t.Errorf("class %s of the arena is predicted as %+v, want %+v", name, got, want[name])
		}
	}
	for _, c := range arena.Title.Game.Classes() {
		if c.Rewound() != (c.Name() == "Fighter") {
			t.Errorf("the arena rewinds %s: %v", c.Name(), c.Rewound())
		}
	}
	p, err := crowd.Title.Protocol(replica.Coeval)
	if err != nil {
		t.Fatal(err)
	}
	q, err := replica.NewProtocol(crowd.Game, replica.Options{
		Tables: crowd.Title.Tables, Classes: map[string]replica.Policy{"Bolt": {Takeover: true}},
	})
	if err != nil || p.Hash() != q.Hash() {
		t.Errorf("the crowd is sent by protocol %x, want %x, %v", p.Hash(), q.Hash(), err)
	}
	if err := timeline.CheckMargins(arena.Game, arena.Title.Margins()); err != nil {
		t.Error(err)
	}
}
