package server

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A seer is a client that predicts. It notes how its body moves on the screen.
type seer struct {
	*mover
	last   det.Vec2
	known  bool
	jump   float64 // the most that the body moved between two frames
	frozen int     // frames in a row in which it did not move
	most   int
	absent int
}

func (g *league) predicts(name string, id uint64, c netsim.Conditions, at *member) *seer {
	b := &seer{mover: g.joinAs(name, id, c, at,
		client.Options{Predict: predict.Options{Keep: 128}})}
	b.moves = func(world.Tick) walk { return walk{X: 1} }
	b.frame = b.look
	return b
}

func (b *seer) look() {
	w := b.view.World
	if w == nil || !b.snapped() {
		return
	}
	for id, x := range world.All[walker](w) {
		if w.Owner(id) != b.Player() {
			continue
		}
		if d := x.Pos.Sub(b.last).Len(); b.known {
			b.jump = max(b.jump, d)
			if b.frozen++; d > 0 {
				b.frozen = 0
			}
			b.most = max(b.most, b.frozen)
		}
		b.last, b.known = x.Pos, true
		return
	}
	if b.known {
		b.absent++
	}
}

// TestPredictionGoesOn: whoever predicts sees their body go on evenly when they move to another
// server, and never sees it vanish when a server dies.
func TestPredictionGoesOn(t *testing.T) {
	for _, c := range []netsim.Conditions{netsim.Cable, netsim.WiFi, netsim.LTE} {
		t.Run(c.Name, func(t *testing.T) {
			var moved, died []int
			simtest.Alone(t, 2, func(n *netsim.Net) error {
				g, err := newLeague(n, 3, Options{Title: near(100)})
				if err != nil {
					return err
				}
				defer g.close()
				g.ahead = 12
				b := g.predicts("b", 1, c, g.members[0])
				if !g.playing(20 * time.Second) {
					g.fail("not playing")
					return g.err
				}
				n.Run(4 * time.Second)
				b.jump, b.most, b.begun = 0, 0, 0
				for i := range 4 {
					at := g.members[(i+1)%2]
					b.home().server.Move(b.home().server.Seat(1), at.end.PublicAddr())
					n.Run(1500 * time.Millisecond)
					if b.home() != at || b.Stats().Moves != uint64(i+1) {
						g.fail("move %d did not happen", i)
					}
					moved = append(moved, int(100*b.jump/0.25))
					b.jump = 0
				}
				if b.most > 30 {
					g.fail("the body stood still for %d frames while the player moved on", b.most)
				}
				b.home().kill()
				n.Run(5 * time.Second)
				died = append(died, int(100*b.jump/0.25))
				if b.begun != 0 || b.absent != 0 || b.Phase() != client.Playing || b.home().dead {
					g.fail("%d worlds began anew, the body was gone in %d frames, %v", b.begun,
						b.absent, b.Phase())
				}
				if e := b.Stats().Bad; e != 0 {
					g.fail("%v", e)
				}
				b.jump, b.most = 0, 0
				n.Run(2 * time.Second)
				if b.most > 2 || b.jump > 1 {
					g.fail("after all, the body moves by %.2f and stands still for %d frames",
						b.jump, b.most)
				}
				return g.err
			})
			if len(moved) > 0 {
				t.Logf("largest motion between two frames, in percent of a tick's: in a move "+
					"median %d, most %d; when a server died median %d, most %d",
					percentile(moved, 50), slices.Max(moved), percentile(died, 50),
					slices.Max(died))
			}
		})
	}
}
