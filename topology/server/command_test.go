package server

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// TestRedundancy: each packet carries as many commands as the options say, and the server finds as
// many that it has already.
func TestRedundancy(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	simtest.Run(t, 1, func(n *netsim.Net) error {
		s, err := newSim(n, Options{})
		if err != nil {
			return err
		}
		defer s.close()
		for i, x := range []struct{ say, want int }{
			{1, 1}, {8, 8}, {2, 2}, {0, 4}, {-5, 4}, {100, 16}} {
			id := uint64(i + 1)
			a := s.join(string(rune('a'+i)), id, netsim.Perfect,
				client.Options{Redundancy: predict.Redundancy{Least: x.say}})
			a.makeMove = func(world.Tick) walk { return walk{X: 1} }
			a.target = a.shifted(0)
			n.Run(3 * time.Second) // what was sent before has come
			before := s.server.Seat(id).Commands()
			n.Run(5 * time.Second)
			after := s.server.Seat(id).Commands()
			again, taken := after.Again-before.Again, after.Taken-before.Taken
			if want := uint64(x.want-1) * taken; taken < 200 || again != want {
				s.fail("who says %d: of the commands %d are new and %d are not, want %d", x.say,
					taken, again, want)
			}
			// Who rests says so in the end, and is believed, however many commands there are to a
			// packet.
			a.makeMove = func(world.Tick) walk { return walk{} }
			n.Run(3 * time.Second)
			before = s.server.Seat(id).Commands()
			n.Run(3 * time.Second)
			if after := s.server.Seat(id).Commands(); after.Taken != before.Taken ||
				after.Again != before.Again {
				s.fail("who rests sends commands: %+v, and before %+v", after, before)
			}
		}
		return s.settle(time.Second)
	})
}

// TestRedundancyAdapts: where more is lost, each command of who predicts is sent more often; where
// nothing is predicted, as often as ever.
func TestRedundancyAdapts(t *testing.T) {
	lossy := conditions(t, "latency=20ms loss=40%")
	for _, style := range []predict.Style{
		predict.Doom3, predict.Quake3, predict.HalfLife, predict.None} {
		t.Run(style.String(), func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error {
				g, err := newLeague(n, 1, Options{})
				if err != nil {
					return err
				}
				defer g.close()
				b := g.joinAs("b", 1, lossy, g.members[0], client.Options{Style: style})
				b.moves = func(world.Tick) walk { return walk{X: 1} }
				if !g.playing(20 * time.Second) {
					g.fail("not playing")
					return g.err
				}
				n.Run(10 * time.Second)
				before := g.members[0].server.Seat(1).Commands()
				n.Run(5 * time.Second)
				after := g.members[0].server.Seat(1).Commands()
				// Of each packet that arrives, all that it repeats is told again or was missed.
				each := float64(after.Again-before.Again+after.Taken-before.Taken) / (5 * 60 * 0.6)
				t.Logf("%.1f commands to a packet, %+v", each, after)
				if adapts := each > 5; adapts != (style != predict.None) {
					g.fail("%.1f commands to a packet", each)
				}
				return g.err
			})
		})
	}
}
