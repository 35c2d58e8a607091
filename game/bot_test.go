package game_test

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/world"
)

// commands are what a bot gives in so many ticks.
func commands(t *testing.T, title *game.Title, w *world.World, seed uint64,
	ticks int) (list [][]int32) {
	t.Helper()
	bot, in := title.NewBot(seed), title.Game.NewInputs()
	for tick := range ticks {
		in.Reset()
		if err := bot(w, 1, world.Tick(tick+1), in); err != nil {
			t.Fatal(err)
		}
		image := make([]int32, len(title.Game.Commands().Slots))
		if in.Image(1, image) {
			list = append(list, image)
		}
	}
	return list
}

// TestRestless: a title without bots has some that press everything, each key held for a while, the
// same from the same seed.
func TestRestless(t *testing.T) {
	title := &game.Title{Game: rules()}
	all := commands(t, title, nil, 1, 600)
	again, others := commands(t, title, nil, 1, 600), commands(t, title, nil, 2, 600)
	same := func(a, b []int32) bool { return slices.Equal(a, b) }
	if len(all) != 600 || !slices.EqualFunc(all, again, same) ||
		slices.EqualFunc(all, others, same) {
		t.Fatalf("%d commands; two of one seed are the same: %v", len(all),
			slices.EqualFunc(all, again, same))
	}
	changes, seen := 0, map[[2]int32]bool{}
	for i, c := range all {
		seen[[2]int32{c[0], c[1]}] = true
		if i > 0 && !slices.Equal(c, all[i-1]) {
			changes++
		}
	}
	if len(seen) != 6 || changes < 20 || changes > 250 {
		t.Errorf("%d of 6 commands were given, with %d changes", len(seen), changes)
	}
	dumb := &game.Title{Game: world.Define("dumb", world.Class[other]())}
	if err := dumb.NewBot(1)(nil, 1, 1, dumb.Game.NewInputs()); err != nil {
		t.Errorf("where there is nothing to press: %v", err)
	}
}

// TestBots: a bot is asked with what it sees, and gives nothing where it sees nothing.
func TestBots(t *testing.T) {
	var seeds []uint64
	title := &game.Title{
		Game: rules(), Bot: game.Bots(func(seed uint64) func(*world.World, world.Player) walk {
			seeds = append(seeds, seed)
			n := 0
			return func(w *world.World, me world.Player) walk {
				n++
				return walk{X: int8(n%3 - 1), Jump: me == 1}
			}
		})}
	w := started(t, title.Game)
	if got := commands(t, title, nil, 3, 5); len(got) != 0 {
		t.Errorf("blind, it gives %v", got)
	}
	got := commands(t, title, w, 4, 2)
	if !slices.Equal(seeds, []uint64{3, 4}) || len(got) != 2 ||
		!slices.Equal(got[0], []int32{0, 1}) || !slices.Equal(got[1], []int32{1, 1}) {
		t.Errorf("seeds %v, commands %v", seeds, got)
	}
	wrong := game.Bots(func(uint64) func(*world.World, world.Player) spot {
		return func(*world.World, world.Player) spot { return spot{} }
	})(1)
	if err := wrong(w, 1, 1, title.Game.NewInputs()); err == nil {
		t.Error("a command of another type was taken")
	}
}

// TestControls: each player has a control of their own, which may remember.
func TestControls(t *testing.T) {
	make := game.NewControls(func() func(*game.Input) walk {
		jumped := false
		return func(k *game.Input) walk {
			jump := k.Fire && !jumped
			jumped = k.Fire
			return walk{Jump: jump}
		}
	})
	g := rules()
	a, b := make(), make()
	for i, x := range []struct {
		control game.Control
		fire    bool
		want    int32
	}{{a, true, 1}, {a, true, 0}, {b, true, 1}, {a, false, 0}, {a, true, 1}} {
		in, image := g.NewInputs(), []int32{9, 9}
		if err := x.control(&game.Input{Keys: game.Keys{Fire: x.fire}}, 1, in); err != nil {
			t.Fatal(err)
		}
		if !in.Image(1, image) || image[1] != x.want {
			t.Errorf("press %d gives %v", i, image)
		}
	}
}

// TestBundledPlay: bots, or else keys that are pressed at random, can play every title.
func TestBundledPlay(t *testing.T) {
	for _, title := range []*game.Title{arena.Title, crowd.Title, pong.Title, stack.Title} {
		settings, err := title.Settings(game.Level{Name: title.Levels.Sized(2), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		w, err := title.Game.New(settings)
		if err != nil {
			t.Fatal(err)
		}
		in := title.Game.NewInputs()
		bots := []game.Bot{title.NewBot(1), title.NewBot(2)}
		in.Join(1)
		in.Join(2)
		drawn, show := 0, title.Screen.Drawer()
		var surface draw.Surface
		for range 300 {
			if err := w.Host().Step(in); err != nil {
				t.Fatalf("%s: %v", title.Name(), err)
			}
			in.Reset()
			for i, b := range bots {
				if err := b(w, world.Player(i+1), w.Tick()+1, in); err != nil {
					t.Fatalf("%s: %v", title.Name(), err)
				}
			}
			if title.Screen.Drawn() {
				for _, me := range []world.Player{1, world.Nobody} {
					surface.Begin(1280, 720)
					show(&surface, &game.Frame{World: w, Me: me, Fresh: true, Time: 1})
					drawn += len(surface.List())
					if surface.Err() != nil {
						t.Fatal(surface.Err())
					}
				}
			}
		}
		if title.Screen.Drawn() != (title.Control != nil) || title.Screen.Drawn() && drawn == 0 {
			t.Errorf("%s: %d bytes were drawn", title.Name(), drawn)
		}
	}
}
