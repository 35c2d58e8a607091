package server

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// TestHonestClientsAreBelieved: what a client says that shows others in the past is within what the
// server measures of it, but for the first moments and a jump now and then.
func TestHonestClientsAreBelieved(t *testing.T) {
	presets := []string{"cable", "wifi", "lte"}
	switch {
	case testing.Short():
		presets = presets[:1]
	case soak():
		presets = append(presets, "lan", "satellite", "modem")
	}
	for _, preset := range presets {
		t.Run(preset, func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error {
				g, err := newLeague(n, 1, Options{})
				if err != nil {
					return err
				}
				defer g.close()
				b := g.joinAs("b", 1, conditions(t, preset), g.members[0],
					client.Options{Style: predict.HalfLife})
				b.moves = func(world.Tick) walk { return walk{X: 1} }
				if !g.playing(20 * time.Second) {
					g.fail("not playing")
					return g.err
				}
				n.Run(15 * time.Second)
				c := g.members[0].server.Seat(1).Commands()
				t.Logf("%s: bounded %d of %d", preset, c.Bounded, c.Taken)
				if c.Taken < 800 || c.Bounded > c.Taken/50 {
					g.fail("an honest client is bounded %d times in %d commands", c.Bounded,
						c.Taken)
				}
				return g.err
			})
		})
	}
}

// TestTheMomentOfAShotIsNotChosen: a client says with each command that it showed others at some
// moment of the last half a second, another one each time, as it would to hit who was easy to hit a
// moment ago. It is held to what its way takes, and to a steady pace.
func TestTheMomentOfAShotIsNotChosen(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		r := n.Rand()
		var last float64
		var lastTick world.Tick
		most, moves, used := 0.0, 0.0, 0
		look := func(g *galleryServer, _ world.Tick) (at det.Vec2, s world.Sight) {
			now, sight := g.World().Tick(), g.World().Sight(1)
			if lag := float64(sight.Ago) / 16; lag > 0 && now != lastTick {
				if used++; used > 700 { // what was measured while it began is forgotten
					moves = max(moves, max(lag-last, last-lag)/float64(now-lastTick))
					most = max(most, lag)
				}
				last, lastTick = lag, now
			}
			s.Ago = uint16(r.IntN(30 * 16))
			if r.IntN(3) > 0 {
				s.Ago = 29 * 16 // it would like that best
			}
			return det.Vec2{Y: 9}, s
		}
		err := cheat(t, n, look, func(c *CommandCounts) uint64 { return c.Bounded }, false)
		t.Logf("at most %.1f ticks back, and %.1f from one to the next", most, moves)
		// A round trip of 40 ms, snapshots every 50 ms, and a command waits for its tick.
		if used < 1000 || most > 14 || moves > 2.5 {
			t.Errorf("of %d shots one was judged %.1f ticks back, and it moved by %.1f ticks", used,
				most, moves)
		}
		return err
	})
}

// TestLagMeter: what is measured counts for ten seconds, and a claim that nothing was said about
// goes by the round trip.
func TestLagMeter(t *testing.T) {
	var m lagMeter
	if most := m.most(9); most != 9+lagSlack {
		t.Errorf("at first %v", most)
	}
	for i := range 40 { // a snapshot every three ticks, here after five
		m.arrived(time.Duration(i)*50*time.Millisecond, float64(3*i+8), world.Tick(3*i+3))
	}
	if most := m.most(99); most != 8+lagSlack {
		t.Errorf("measured %v, want 8", most-lagSlack)
	}
	m.arrived(3*time.Second, 190, 150) // a long gap
	if most := m.most(0); most != 70+lagSlack {
		t.Errorf("after a gap %v", most-lagSlack)
	}
	m.arrived(14*time.Second, 850, 845)
	m.arrived(14*time.Second+50*time.Millisecond, 853, 848)
	if most := m.most(0); most > 710 || most < 8 {
		t.Errorf("later %v", most)
	}
	m.arrived(27*time.Second, 1633, 1628)
	m.met(40*time.Second, 7)
	if most := m.most(0); most != 7+lagSlack {
		t.Errorf("ten seconds after it %v", most-lagSlack)
	}
	if ago, ok := m.claim(1010, 284, 1000, 10); !ok || ago != 284 {
		t.Errorf("what can be is said to be %d", ago)
	}
	if ago, ok := m.claim(1011, 31*16, 1001, 10); ok || ago > 20*16 {
		t.Errorf("further back than can be: %d", ago)
	}
	if ago, ok := m.claim(1012, 7*16, 1002, 10); ok || ago < 17*16 {
		t.Errorf("a leap: %d", ago)
	}
}
