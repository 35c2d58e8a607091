package peers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// idle is a match of four in which all walk about, without what tests do beside.
func idle(tb testing.TB, style peers.Style) *star {
	s := starOf(tb, 1, 4, peers.Match{Start: 4},
		netsim.Both(netsim.Profile{Latency: 20 * time.Millisecond}),
		func(i int, o *peers.RelayedOptions) {
			o.Style = style
			o.Input = func(_ *world.World, me world.Player, t world.Tick, in *world.Inputs) {
				_ = world.Give(in, me, walk{X: int8(t/16%15) - 7, Y: int8(i),
					Aim: det.Angle(t * 64), Fire: t%9 == 0})
			}
		})
	s.run(12 * time.Second) // all that grows has grown
	return s
}

// BenchmarkRelayedTick is what a tick of a match of four takes, at all four and the relay, with the
// simulated network between them.
func BenchmarkRelayedTick(b *testing.B) {
	for _, style := range []peers.Style{peers.Lockstep(), {Depth: 8, Delay: 1}} {
		b.Run(fmt.Sprintf("depth=%d", style.Depth), func(b *testing.B) {
			s := idle(b, style)
			had := s.seats[0].Copy().Known()
			b.ReportAllocs()
			for b.Loop() {
				s.net.Run(time.Second / 60)
			}
			if n := int(s.seats[0].Copy().Known() - had); n < b.N-16 {
				b.Fatalf("%d ticks in %d steps", n, b.N)
			}
		})
	}
}

// In steady state a tick allocates nothing. A mark, once a second, allocates the few bytes that are
// said of it: less than one allocation for each tick of a peer.
func TestRelayedAllocatesNothing(t *testing.T) {
	s := idle(t, peers.Style{Depth: 8, Delay: 1})
	again := s.seats[0].Copy().Stats().Again
	if n := testing.AllocsPerRun(40, func() { s.net.Run(time.Second / 60) }); n > 2 {
		t.Errorf("%v allocations for each tick of four peers", n)
	}
	if s.seats[0].Copy().Stats().Again == again {
		t.Error("nothing was computed again")
	}
}
