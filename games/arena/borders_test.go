package arena

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// TestBorders: matches of bots, and of players who press everything, can be divided among servers,
// with borders that everything crosses all the time.
func TestBorders(t *testing.T) {
	for _, x := range []struct {
		name    string
		options Options
		bots    int
	}{
		{"duel", Options{Seed: 4, FriendlyFire: true}, 0},
		{"duel", Options{Seed: 6, Time: 5 * time.Second, Rotation: []string{"foundry"}}, 0},
		{"duel", Options{Seed: 4, Kills: 1, Rotation: []string{"foundry"}}, 6},
		{"foundry", Options{Seed: 5, Teams: true}, 8},
	} {
		s, err := Settings(x.name, x.options)
		if err != nil {
			t.Fatal(err)
		}
		s.Develop = true
		o := world.CheckOptions{Settings: s, Ticks: 1500, Players: 24}
		if testing.Short() {
			o.Ticks = 300
		}
		if x.bots > 0 {
			o.Inputs = recorded(t, s, x.bots, o.Ticks)
		}
		rep, err := world.CheckBorders(Game, o)
		if err != nil || rep.Wrong > 0 {
			t.Error(x, rep, err)
		}
		t.Log(rep)
	}
}
