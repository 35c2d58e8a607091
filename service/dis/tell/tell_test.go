package tell_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/tell"
	"github.com/coeval-dev/coeval/world"
)

// car is a class that says what it is in an exercise.
type car struct{ Pos, Vel det.Vec2 }

func (c *car) Sync(s *bits.Sync) {
	s.Vec2(&c.Pos, -1000, 1000, 1.0/64)
	s.Vec2(&c.Vel, -64, 64, 1.0/64)
}

func (c *car) Step(*world.World, world.ID) { c.Pos = c.Pos.MulAdd(c.Vel, 1.0/60) }

func (*car) DIS() string { return "1.1.225.2" }

var cars = &game.Title{Game: world.Define("cars", world.Class[car](),
	world.OnStart(func(w *world.World) {
		world.Spawn(w, car{Vel: det.Vec2{X: 10}})
		world.Spawn(w, car{Pos: det.Vec2{Y: 50}})
	}))}

func newTeller(t testing.TB, title *game.Title, m tell.Mapping) *tell.Teller {
	x, err := tell.New(title, &dis.Sender{Site: 1, Application: 1}, m)
	if err != nil {
		t.Fatal(err)
	}
	x.Ground = dis.NewGround(dis.Spot{Lat: det.Degrees(37.8), Lon: det.Degrees(-122.4)}, 0)
	return x
}

// Cars of somebody's title are known in the exercise for what they are, and where they are.
func TestClassSaysItsType(t *testing.T) {
	x := newTeller(t, cars, nil)
	w, err := cars.Game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	there := dis.NewExercise(dis.Options{})
	said := 0
	in := cars.Game.NewInputs()
	for tick := range 600 {
		now := time.Duration(tick) * time.Second / 60
		send := func(b []byte) { said++; there.Receive(now, dis.Relative(now), b, nil) }
		x.World(now, dis.Relative(now), w, send)
		for e := range there.Entities() {
			body := e.At(now)
			at := x.Ground.BodyToLevel(&body)
			if e.Type.String() != "1.1.225.2.0.0.0" {
				t.Fatalf("it is a %v", e.Type)
			}
			near := 1e9
			for id := range w.Entities() {
				truth, _ := cars.At(w, id)
				near = min(near, at.Pos.Sub(truth).Len())
			}
			if near > 1.001 {
				t.Fatalf("tick %d: %v is off by %v m", tick, e.ID, near)
			}
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		in.Reset()
	}
	if there.Len() != 2 || x.Len() != 2 || said > 12 {
		t.Errorf("%d are known, %d PDUs in 10 s", there.Len(), said)
	}
	now := 11 * time.Second
	x.End(dis.Relative(now), func(b []byte) { there.Receive(now, dis.Relative(now), b, nil) })
	if there.Len() != 0 || x.Len() != 0 {
		t.Errorf("%d are left", there.Len())
	}
}

// A match of the arena's bots, whose classes say nothing: bodies are within the bounds at every
// tick, with far fewer updates than 30 a second for each.
func TestArena(t *testing.T) {
	s, err := lab.NewSubject(arena.Title, "", 6)
	if err != nil {
		t.Fatal(err)
	}
	m, err := lab.NewMatch(s, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := newTeller(t, s.Title, nil)
	there := dis.NewExercise(dis.Options{})
	updates, bodies := 0, 0
	const seconds = 20
	for tick := range seconds * 60 {
		if err := m.Step(); err != nil {
			t.Fatal(err)
		}
		now := time.Duration(tick) * time.Second / 60
		stamp := dis.Relative(now)
		x.World(now, stamp, m.World, func(b []byte) {
			updates++
			there.Receive(now, stamp, b, nil)
		})
		places := map[uint16]bool{}
		for e := range there.Entities() {
			places[e.ID.Number] = true
			bodies++
			body, near := e.At(now), 1e9
			at := x.Ground.BodyToLevel(&body).Pos
			for id := range m.World.Host().Of(s.BodyClass()) {
				truth, _ := s.At(m.World, id)
				near = min(near, truth.Sub(at).Len())
			}
			if near > 1.001 {
				t.Fatalf("tick %d: %v is %v m from the nearest body", tick, e.ID, near)
			}
		}
	}
	full := float64(bodies) / 2 // 30 a second, of 60 ticks
	t.Logf("%d updates; 30 a second each would be %.1f times as many", updates,
		full/float64(updates))
	if bodies == 0 || float64(updates)*2 > full {
		t.Errorf("%d updates of %v", updates, full)
	}
}

func TestMappings(t *testing.T) {
	m, err := tell.ParseMapping([]byte(`{"car": {"type": "1.1.225.9", "force": 2}}`))
	if err != nil {
		t.Fatal(err)
	}
	x := newTeller(t, cars, m)
	w, err := cars.Game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	there := dis.NewExercise(dis.Options{})
	x.World(0, 0, w, func(b []byte) { there.Receive(0, 0, b, nil) })
	for e := range there.Entities() {
		if e.Type.String() != "1.1.225.9.0.0.0" || e.Force != 2 {
			t.Errorf("%v, force %d", e.Type, e.Force)
		}
	}
	for text, want := range map[string]string{
		"no JSON": "no JSON such as", `{"car": {"type": "x"}}`: "class car"} {
		if _, err := tell.ParseMapping([]byte(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := tell.New(cars, &dis.Sender{}, tell.Mapping{"cat": {}}); err == nil ||
		!strings.Contains(err.Error(), "there are car") {
		t.Errorf("a class that is not there: %v", err)
	}
}

func FuzzMapping(f *testing.F) {
	f.Add([]byte(`{"car": {"type": "1.1.225.9", "force": 2}}`))
	f.Add([]byte(`{"a": 1}`))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = tell.ParseMapping(text) })
}

func Example() {
	w, err := cars.Game.New(world.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := tell.New(cars, &dis.Sender{Site: 1, Application: 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	x.Ground = dis.NewGround(dis.Spot{}, 0)
	var r dis.Reader
	x.World(0, dis.Relative(0), w, func(datagram []byte) {
		for p := range r.All(datagram) {
			e := p.(*dis.EntityState)
			fmt.Println(e.ID, e.Type, e.Marking)
		}
	})
	// Output:
	// 1:1:1 1.1.225.2.0.0.0 car 1
	// 1:1:2 1.1.225.2.0.0.0 car 2
}
