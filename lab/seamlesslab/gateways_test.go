//go:build !js

package seamlesslab

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
)

// What is measured of gateways is measured, and what can be judged in virtual time is reached.
func TestGateways(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs in one goroutine, in which the race detector finds nothing")
	}
	g, err := gateways(t.Context(), &Options{Seed: 1, Time: 4 * time.Second, Reach: crowd.Sight,
		Find: func(string) (*game.Title, error) { return crowd.Title, nil }}, gatePlayers, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *g)
	if g.Seam.Crossed == 0 || g.Plain.Bytes == 0 || g.Seam.Lead <= 0 {
		t.Errorf("nothing was measured: %+v", *g)
	}
	for _, x := range g.targets() {
		t.Logf("%s: %.4g, %s", x.What, x.Got, x.Want)
		if !x.Reached && !strings.HasPrefix(x.What, "what a player costs") {
			t.Errorf("%s: %.4g, which should be %s", x.What, x.Got, x.Want)
		}
	}
}
