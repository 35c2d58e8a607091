package server

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
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
		s, err := newSim(n, Options{})
		if err != nil {
			return err
		}
		defer s.close()
		b := s.join("cheat", 1, conditions(t, "latency=20ms jitter=2ms"), client.Options{})
		b.makeMove = func(t world.Tick) walk { return walk{X: int8(t / 8 % 2)} }
		if !s.playing(20 * time.Second) {
			s.fail("not playing")
			return s.err
		}
		n.Run(2 * time.Second)
		writer, r := replica.NewCommandWriter(s.server.protocol), n.Rand()
		b.end.Every(yard.TickLength(), func() {
			tick := b.Sent()
			image := b.Made(tick)
			if image == nil || b.ended != nil {
				return
			}
			back := world.Tick(r.IntN(30))
			if n.Rand().IntN(3) > 0 {
				back = 29 // it would like that best
			}
			m, err := writer.Append([]byte{byte(b.Epoch())}, replica.CommandHeader{
				Tick: tick, Seen: true, SeenTick: tick - back}, [][]int32{image}, 500)
			if err != nil {
				s.fail("%v", err)
				return
			}
			b.send(wire.CommandChannel, m)
		})
		n.Run(time.Second)
		var last float64
		var lastTick world.Tick
		most, moves, used := 0.0, 0.0, 0
		for range 600 {
			n.Run(yard.TickLength())
			seat, now := s.server.Seat(1), s.server.World().Tick()
			tick, part := seat.Seen()
			if tick == 0 || now == lastTick {
				continue
			}
			lag := float64(now) - float64(tick) - float64(part)/16
			if used++; used > 1 {
				moves = max(moves, max(lag-last, last-lag)/float64(now-lastTick))
			}
			most, last, lastTick = max(most, lag), lag, now
		}
		c := s.server.Seat(1).Commands()
		t.Logf("of %d commands %d bounded; at most %.1f ticks back, and %.1f from one to the next",
			c.Taken, c.Bounded, most, moves)
		// A round trip of 40 ms, snapshots every 50 ms, and a command waits for its tick.
		if used < 100 || most > 14 || moves > 2.5 || c.Bounded < 100 {
			s.fail("of %d shots one was judged %.1f ticks back, and it moved by %.1f ticks",
				used, most, moves)
		}
		return s.err
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
	if s, ok := m.claim(1010, seenAt{tick: 992, sixteenths: 4}, 1000, 10); !ok ||
		s != (seenAt{tick: 992, sixteenths: 4}) {
		t.Errorf("what can be is said to be %+v", s)
	}
	if s, ok := m.claim(1011, seenAt{tick: 980}, 1001, 10); ok || s.tick < 991 {
		t.Errorf("further back than can be: %+v", s)
	}
	if s, ok := m.claim(1012, seenAt{tick: 1005}, 1002, 10); ok || s.tick > 994 {
		t.Errorf("a leap: %+v", s)
	}
}
