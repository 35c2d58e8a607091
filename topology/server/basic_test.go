package server

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/client"
)

// TestTwoPlayersOverEachPreset: two play and a third joins later; whatever each holds of an entity
// is what the server had at that tick, and saved events come once and in order.
func TestTwoPlayersOverEachPreset(t *testing.T) {
	for _, c := range networks(netsim.Presets()...) {
		t.Run(c.Name, func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error {
				s, err := newSim(n, Options{Title: near(100)})
				if err != nil {
					return err
				}
				defer s.close()
				a := s.join("a", 1, c, client.Options{})
				b := s.join("b", 2, c, client.Options{})
				a.fires, b.fires = true, true
				if !s.playing(20 * time.Second) {
					s.fail("not all are playing: %v %v %v", a.Phase(), b.Phase(), s.news)
					return s.err
				}
				n.Run(10 * time.Second)
				late := s.join("late", 3, c, client.Options{})
				n.Run(10 * time.Second)
				if late.Phase() != client.Playing {
					s.fail("the late one is %v", late.Phase())
				}
				for _, b := range s.clients {
					if b.checked < 200 || b != late && len(b.saved) < 20 {
						s.fail("%s: only %d updates and %d saved events were looked at",
							b.end.Name(), b.checked, len(b.saved))
					}
				}
				// on the worst, the last packet may be lost several times
				return s.settle(10 * time.Second)
			})
		})
	}
}
