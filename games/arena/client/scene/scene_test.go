package scene_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/sound"
	"github.com/coeval-dev/coeval/world"
)

// A match is a game among bots, to look at.
type match struct {
	w    *world.World
	in   *world.Inputs
	bots []*arena.Bot
}

func newMatch(t testing.TB, level string, players int) *match {
	t.Helper()
	s, err := arena.Settings(level, arena.Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	w, err := arena.Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	m := &match{w: w, in: arena.Game.NewInputs()}
	for i := range players {
		m.bots = append(m.bots, arena.NewBot(uint64(i)))
		m.in.Join(world.Player(i + 1))
	}
	return m
}

func (m *match) step(t testing.TB) {
	for i, b := range m.bots {
		p := world.Player(i + 1)
		if m.w.Present(p) {
			if err := world.Give(m.in, p, b.Think(m.w, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := m.w.Host().Step(m.in); err != nil {
		t.Fatal(err)
	}
	m.in.Reset()
}

// TestSceneFollowsAMatch watches bots fight: all that a match has must turn up in the scene, and
// nothing grow without bound.
func TestSceneFollowsAMatch(t *testing.T) {
	m := newMatch(t, "duel", 6)
	var heard [sound.Sounds]int
	s := scene.Scene{Noise: func(n sound.Sound, p sound.Source) { heard[n]++ }}
	var particles, lights, rays, kills, said, marks int
	for range 60 * 60 {
		m.step(t)
		s.Update(scene.Frame{World: m.w, Me: 1, Dt: 1.0 / 60, Fresh: true,
			Screen: det.Vec2{X: 32, Y: 18}})
		particles, lights, rays = max(particles, len(s.Particles.All())),
			max(lights, len(s.Lights)), max(rays, len(s.Rays))
		kills, said, marks = max(kills, len(s.Feed.Kills)), max(said, len(s.Feed.Lines)),
			max(marks, len(s.Scorches))
		if s.Me != nil && (s.Me.Player != 1 || s.Eye != s.Me.Pos) {
			t.Fatalf("looks from %v, and stands at %v", s.Eye, s.Me.Pos)
		}
		if s.Map == nil || len(s.Sight) < 3 && s.Me != nil {
			t.Fatal("sees nothing")
		}
	}
	if particles == 0 || particles > 1500 || lights == 0 || rays == 0 || kills == 0 || kills > 6 ||
		said > 8 || marks == 0 || marks > 80 {
		t.Errorf("at most %d particles, %d lights, %d rays, %d kills, %d lines, %d marks",
			particles, lights, rays, kills, said, marks)
	}
	for _, n := range []sound.Sound{
		sound.Bolt, sound.Launch, sound.Burst, sound.Hurt, sound.Death, sound.Step, sound.Door,
		sound.Appear} {
		if heard[n] == 0 {
			t.Errorf("sound %d was never heard", n)
		}
	}
	rows := s.Board(m.w, nil)
	if len(rows) != 6 {
		t.Fatalf("%d on the board", len(rows))
	}
	for i := 1; i < len(rows); i++ {
		if rows[i].Kills > rows[i-1].Kills {
			t.Errorf("row %d has more kills than the one above", i)
		}
	}
	if rank, _ := scene.Rank(rows); rank < 1 || !rows[rank-1].Mine {
		t.Errorf("rank %d", rank)
	}
}

// TestSceneTakesPartialWorlds shows a scene worlds in which anything may be missing, as clients
// have them.
func TestSceneTakesPartialWorlds(t *testing.T) {
	m, outer := newMatch(t, "duel", 4), t
	var s scene.Scene
	rapid.Check(t, func(t *rapid.T) {
		m.step(outer)
		partial, err := arena.Game.New(world.Settings{Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		partial.Host().SetTick(m.w.Tick())
		for i, c := range arena.Game.Classes() {
			for id := range m.w.Host().Of(i) {
				if c.State() && rapid.IntRange(0, 9).Draw(t, "state") > 0 || !c.State() &&
					rapid.Bool().Draw(t, "there") {
					if err := partial.Host().Put(id, m.w.Host().Entry(id),
						m.w.Host().Image(id)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		me := world.Player(rapid.IntRange(0, 9).Draw(t, "me"))
		s.Update(scene.Frame{World: partial, Me: me, Dt: rapid.Float64Range(0, 100).Draw(t, "dt"),
			Fresh: rapid.Bool().Draw(t, "fresh")})
		s.Board(partial, nil)
	})
	s.Update(scene.Frame{})
}

func TestCamera(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c scene.Camera
		place := func(name string) det.Vec2 {
			return det.Vec2{
				X: rapid.Float64Range(0, 200).Draw(t, name+".x"),
				Y: rapid.Float64Range(0, 200).Draw(t, name+".y")}
		}
		at := place("at")
		for range rapid.IntRange(1, 20).Draw(t, "frames") {
			if rapid.Bool().Draw(t, "blow") {
				c.Shake(rapid.Float64Range(-1, 3).Draw(t, "by"))
			}
			c.Stand(at, place("look"), rapid.Float64Range(0, 0.1).Draw(t, "dt"))
		}
		if d := c.Pos.Sub(at).Len(); d > 2.5+1 || math.IsNaN(d) {
			t.Fatalf("the camera is %v away from the player", d)
		}
		view := det.Vec2{X: 32, Y: 18}
		c.Keep(100, 100, view)
		if c.Pos.X < 16-2.5 || c.Pos.X > 100-16+2.5 || c.Pos.Y < 9-2.5 || c.Pos.Y > 100-9+2.5 {
			t.Fatalf("the camera shows too much of nothing: %v", c.Pos)
		}
		c.Keep(10, 10, view)
		if c.Pos != (det.Vec2{X: 5, Y: 5}) {
			t.Fatalf("a small map is not in the middle: %v", c.Pos)
		}
	})
	// Without blows the picture comes to rest, exactly.
	var c scene.Camera
	c.Shake(1)
	for range 200 {
		c.Stand(det.Vec2{X: 7, Y: 8}, det.Vec2{}, 1.0/60)
	}
	if c.Pos != (det.Vec2{X: 7, Y: 8}) {
		t.Errorf("the camera rests at %v", c.Pos)
	}
}

func ExampleScene() {
	settings, _ := arena.Settings("duel", arena.Options{Seed: 1})
	w, _ := arena.Game.New(settings)
	in := arena.Game.NewInputs()
	in.Join(1)
	_ = w.Host().Step(in)

	var s scene.Scene
	s.Update(scene.Frame{World: w, Me: 1, Dt: 1.0 / 60, Fresh: true})
	fmt.Println(s.Map.Title, "with", len(s.Bodies), "fighter; one's own is there:", s.Me != nil)
	// Output: The Well with 1 fighter; one's own is there: true
}

func BenchmarkUpdate(b *testing.B) {
	m := newMatch(b, "foundry", 12)
	var s scene.Scene
	for range 600 {
		m.step(b)
		s.Update(scene.Frame{World: m.w, Me: 1, Dt: 1.0 / 60, Fresh: true})
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Update(scene.Frame{World: m.w, Me: 1, Dt: 1.0 / 60})
	}
}
