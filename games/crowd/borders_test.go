package crowd

import (
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// TestBorders: the square can be divided among servers.
func TestBorders(t *testing.T) {
	o := world.CheckOptions{Settings: SettingsFor(40, 3), Players: 12, Ticks: 600}
	o.Settings.Develop = true
	if testing.Short() {
		o.Ticks = 200
	}
	rep, err := world.CheckBorders(Game, o)
	if err != nil || rep.Wrong > 0 {
		t.Error(rep, err)
	}
	t.Log(rep)
}
