package arena

import (
	"os"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// soak is set where there is time to try everything.
var soak = os.Getenv("COEVAL_SOAK") != ""

// A scenario is a world in which a test puts people where it wants them.
type scenario struct {
	testing.TB
	w  *world.World
	in *world.Inputs
}

// mapOf makes and registers a map.
func mapOf(t testing.TB, name, grid string) *Map {
	t.Helper()
	m, err := Parse([]byte("name " + name + "\nmap\n" + strings.TrimLeft(grid, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	Register(m)
	return m
}

// on starts a match with some players, and lets them appear.
func on(t testing.TB, name string, o Options, players int) *scenario {
	t.Helper()
	settings, err := Settings(name, o)
	if err != nil {
		t.Fatal(err)
	}
	settings.Develop = true
	w, err := Game.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{t, w, Game.NewInputs()}
	for p := range players {
		s.in.Join(world.Player(p + 1))
	}
	s.step(1)
	return s
}

// step goes on by some ticks, with the commands that were given.
func (s *scenario) step(ticks int) {
	s.Helper()
	for range ticks {
		if err := s.w.Host().Step(s.in); err != nil {
			s.Fatal(err)
		}
		s.in.Reset()
	}
}

// hold goes on by some ticks with one player's command held.
func (s *scenario) hold(p world.Player, c Command, ticks int) {
	s.Helper()
	for range ticks {
		s.give(p, c)
		s.step(1)
	}
}

func (s *scenario) give(p world.Player, c Command) {
	s.Helper()
	if err := world.Give(s.in, p, c); err != nil {
		s.Fatal(err)
	}
}

// body finds a player's fighter.
func (s *scenario) body(p world.Player) *Fighter {
	s.Helper()
	for id, f := range world.All[Fighter](s.w) {
		if s.w.Owner(id) == p {
			return f
		}
	}
	s.Fatalf("player %d has no fighter", p)
	return nil
}

func (s *scenario) sheet(p world.Player) *Sheet {
	s.Helper()
	for id, sheet := range world.All[Sheet](s.w) {
		if s.w.Owner(id) == p {
			return sheet
		}
	}
	s.Fatalf("player %d has no sheet", p)
	return nil
}

// put places a fighter, at rest, with all that one needs.
func (s *scenario) put(p world.Player, x, y float64) *Fighter {
	s.Helper()
	f := s.body(p)
	*f = Fighter{
		Pos: det.Vec2{X: x, Y: y}, Health: Healthy, Weapon: f.Weapon, Rockets: 10, Slugs: 10,
		Team: f.Team, Life: f.Life}
	return f
}

// events lists the events of a type in this tick.
func events[E any](w *world.World) (out []E) {
	for _, e := range world.Events[E](w) {
		out = append(out, *e)
	}
	return out
}

// play lets bots play, and calls before with what they do and after with what came of it.
func play(t testing.TB, w *world.World, bots, ticks int, before func(in *world.Inputs),
	after func(w *world.World)) {
	in := Game.NewInputs()
	players := make([]*Bot, bots)
	for i := range players {
		players[i] = NewBot(uint64(i) + 1)
	}
	for n := range ticks {
		think(t, w, players, in)
		for i := range players {
			if n == 0 {
				in.Join(world.Player(i + 1))
			}
		}
		if before != nil {
			before(in)
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if after != nil {
			after(w)
		}
	}
}

func think(t testing.TB, w *world.World, bots []*Bot, in *world.Inputs) {
	in.Reset()
	for i, b := range bots {
		if err := world.Give(in, world.Player(i+1), b.Think(w, world.Player(i+1))); err != nil {
			t.Fatal(err)
		}
	}
}

// crowded is a match that bots have played for ten seconds.
func crowded(t testing.TB, name string, bots int) (*world.World, []*Bot, *world.Inputs) {
	s, err := Settings(name, Options{Seed: 2, Kills: -1, Time: -1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	in := Game.NewInputs()
	players := make([]*Bot, bots)
	for i := range players {
		players[i] = NewBot(uint64(i) + 1)
		in.Join(world.Player(i + 1))
	}
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		think(t, w, players, in)
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	return w, players, in
}

const hall = `
##############################
#s..........................s#
#............................#
#............................#
#............................#
#............................#
##############################
`

const twoRooms = `
####################
#s.......#.........#
#........#.........#
#........+.........#
#........+.........#
#........#.........#
#h.......#........s#
####################
`

// newInterest is what a server has, with the traits of the game's classes.
func newInterest() *Interest {
	w, err := Game.New(world.Settings{})
	if err != nil {
		panic(err)
	}
	views, err := Title.NewViews(w, game.Level{})
	if err != nil {
		panic(err)
	}
	return views.(*Interest)
}
