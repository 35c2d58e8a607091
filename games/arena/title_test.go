package arena

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// TestBotsInsistOnTheirNames loses the first two commands by which a bot asks for its name, as on a
// busy machine a command may come too late.
func TestBotsInsistOnTheirNames(t *testing.T) {
	settings, err := Settings("duel", Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Game.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	in := Game.NewInputs()
	in.Join(1)
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	think := insistent(3)
	asked, name := 0, ""
	for range 300 {
		in.Reset()
		c := think(w, 1)
		if c.Verb == Name {
			name = c.Text
			if asked++; asked < 3 {
				c.Verb = Nothing
			}
		}
		if err := world.Give(in, 1, c); err != nil {
			t.Fatal(err)
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range world.All[Sheet](w) {
		if s.Name != name || name == "" || asked != 3 {
			t.Errorf("asked %d times for %q and is called %q", asked, name, s.Name)
		}
	}
}

// TestWhoWatchesFollowsAPlayer: a spectator looks from where a fighter is, stays with them while
// they live, and goes on to the best of the others when they die.
func TestWhoWatchesFollowsAPlayer(t *testing.T) {
	settings, err := Settings(DefaultMap, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Game.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	views, err := Title.NewViews(w, game.Level{})
	if err != nil {
		t.Fatal(err)
	}
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
	fighter := func(p world.Player) *Fighter {
		t.Helper()
		for id, f := range world.All[Fighter](w) {
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
	in := Game.NewInputs()
	for p := range world.Player(4) {
		in.Join(p + 1)
	}
	if err := w.Host().Step(in); err != nil {
		t.Fatal(err)
	}
	for p := range world.Player(4) {
		fighter(p + 1).Health = Healthy
	}
	kills := func(p world.Player, n int) {
		for id, s := range world.All[Sheet](w) {
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
	star := world.Nobody
	if n := testing.AllocsPerRun(20, func() { star = Star(w, star) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
