package peers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// two lets two play who have met at a relay, or have not.
func two(t *testing.T, seed uint64, m peers.Match, met bool) (*table, *station) {
	m.Start, m.Seats = 2, 2
	tb := newTable(t, netsim.New(netsim.Options{Seed: seed, Conditions: netsim.Cable}), m)
	at := tb.relay()
	first := tb.sit("p0", func(o *peers.Options) {
		if met {
			o.Meeting = at.meeting(tb, relay.Code{})
		}
	})
	if met {
		tb.until("there is a code", 5*time.Second,
			func() bool { return first.Code() != relay.Code{} })
	}
	tb.sit("p1", func(o *peers.Options) {
		if met {
			o.Meeting = at.meeting(tb, first.Code())
		}
	})
	tb.until("both play", 10*time.Second, tb.allPlay)
	tb.goesOn(60, 10*time.Second)
	return tb, at
}

// TestOfTwo has one of two crash, or be cut off. With a relay as witness the other goes on,
// whichever it is; without one it waits, unless the title says that each goes on alone.
func TestOfTwo(t *testing.T) {
	for i, c := range []struct {
		gone       int
		met, alone bool
		cut, goes  bool
	}{
		{gone: 0, met: true, goes: true}, {gone: 1, met: true, goes: true},
		{gone: 0}, {gone: 1},
		{gone: 0, alone: true, goes: true}, {gone: 1, alone: true, goes: true},
		{gone: 0, met: true, cut: true, goes: true}, {gone: 1, met: true, cut: true, goes: true},
		{gone: 0, cut: true}, {gone: 1, cut: true},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			tb, at := two(t, uint64(i), peers.Match{Alone: c.alone}, c.met)
			gone, left := tb.seats[c.gone], tb.seats[1-c.gone]
			if c.cut {
				tb.net.Cut(gone.end, left.end)
				tb.net.Cut(gone.end, at.at)
			} else {
				gone.crash()
			}
			tb.run(8 * time.Second)
			before := left.World().Tick()
			stood := gone.World().Tick()
			tb.run(4 * time.Second)
			if goes := left.World().Tick() > before+world.Tick(120); goes != c.goes {
				tb.dump()
				t.Fatalf("it goes on: %v, want %v", goes, c.goes)
			}
			if c.cut && gone.World().Tick() != stood {
				t.Fatal("the one that is cut off goes on as well")
			}
			if c.cut {
				tb.net.Heal(gone.end, left.end)
				tb.net.Heal(gone.end, at.at)
				tb.until("both play again", 30*time.Second, tb.allPlay)
				tb.goesOn(100, 20*time.Second)
				if gone.Player() != world.Player(c.gone+1) {
					t.Fatalf("it returned as player %d", gone.Player())
				}
			}
		})
	}
}
