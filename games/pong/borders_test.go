package pong

import (
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// TestBorders: the game can be divided among servers.
func TestBorders(t *testing.T) {
	o := world.CheckOptions{Settings: world.Settings{Seed: 3, Develop: true}, Ticks: 600}
	if testing.Short() {
		o.Ticks = 200
	}
	rep, err := world.CheckBorders(Game, o)
	if err != nil || rep.Wrong > 0 {
		t.Error(rep, err)
	}
	t.Log(rep)
}
