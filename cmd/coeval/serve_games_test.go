package main

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// TestWhoWatchesTheArenaFollowsAPlayer: a spectator looks from where a fighter is, stays with them while they live, and goes on to the best of the others when they die.
func TestWhoWatchesTheArenaFollowsAPlayer(t *testing.T) {
	settings, err := arena.Settings(arena.DefaultMap, arena.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := arena.Game.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	views := &arenaViews{}
	look := func() interest.Observer {
		t.Helper()
		if err := views.Follow(w); err != nil {
			t.Fatal(err)
		}
		var o interest.Observer
		if index, rules := views.Sight(w, world.Nobody, &o); index == nil || rules == nil {
			t.Fatal("there is nothing to find views by")
		}
		if o.Player != world.Nobody {
			t.Errorf("who watches is taken for player %d", o.Player)
		}
		return o
	}
	fighter := func(p world.Player) *arena.Fighter {
		t.Helper()
		for id, f := range world.All[arena.Fighter](w) {
			if w.Owner(id) == p {
				return f
			}
		}
		t.Fatalf("player %d has no fighter", p)
		return nil
	}
	looksLike := func(p world.Player, when string) {
		t.Helper()
		pos := fighter(p).Pos
		if o := look(); o.Pos != (det.Vec3{X: pos.X, Y: pos.Y}) {
			t.Errorf("%s: who watches looks from %v, and player %d is at %v", when, o.Pos, p, pos)
		}
	}
	look() // with no one there
	in := arena.Game.NewInputs()
	for p := range world.Player(4) {
		in.Join(p + 1)
	}
	if err := w.Step(in); err != nil {
		t.Fatal(err)
	}
	for p := range world.Player(4) {
		fighter(p + 1).Health = arena.Healthy
	}
	kills := func(p world.Player, n int) {
		for id, s := range world.All[arena.Sheet](w) {
			if w.Owner(id) == p {
				s.Kills = n
			}
		}
	}
	kills(3, 5)
	kills(2, 2)
	looksLike(3, "at first")
	kills(4, 9)
	looksLike(3, "while they live")
	fighter(3).Health = 0
	looksLike(4, "when they are dead")
	fighter(4).Health, fighter(2).Health = 0, 0
	looksLike(1, "when one is left")
	fighter(1).Health = 0
	looksLike(1, "when all are dead")
	// Players look from where they are themselves.
	var o interest.Observer
	if views.Sight(w, 2, &o); o.Player != 2 || o.Pos.X != fighter(2).Pos.X {
		t.Errorf("player 2 looks from %+v", o)
	}
	if n := testing.AllocsPerRun(20, func() { views.player = arenaStar(w, views.player) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
