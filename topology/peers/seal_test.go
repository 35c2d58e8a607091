package peers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// TestNobodyPeeks plays in lock step with commitments, over a bad network. Nobody ever has the
// command of another for a tick to which it has not committed itself. One who commits to nothing
// is shown nothing, and is put out.
func TestNobodyPeeks(t *testing.T) {
	for seed := range uint64(4) {
		tb := newTable(t, netsim.New(netsim.Options{Seed: seed}),
			peers.Match{Start: 3, Commit: true})
		tb.path = netsim.WiFi
		for i := range 4 {
			tb.sit(fmt.Sprint("p", i), func(o *peers.Options) { o.Style = peers.Lockstep() })
		}
		tb.until("all play", 10*time.Second, tb.allPlay)
		for range 300 {
			tb.run(20 * time.Millisecond)
			for _, s := range tb.seats {
				if mine, theirs := s.Committed(), s.Seen(); theirs > mine {
					t.Fatalf("seed %d: %s has committed up to %d and has seen %d", seed, s.name,
						mine, theirs)
				}
			}
		}
		tb.goesOn(100, 10*time.Second)
		for _, s := range tb.seats {
			if n := s.Stats().Unopened; n > 0 {
				t.Errorf("seed %d: %d commands do not fit what %s was told before", seed, n, s.name)
			}
		}
		cheat := tb.seats[2]
		cheat.CommitToNothing()
		at := cheat.Committed()
		var seen world.Tick
		tb.until("the cheat is out", 10*time.Second, func() bool {
			if cheat.Phase() == peers.Playing {
				seen = max(seen, cheat.Seen())
			}
			return tb.said("p0: left member") || tb.said("p1: left member")
		})
		if seen > at {
			t.Errorf("seed %d: it had committed up to %d, and saw %d", seed, at, seen)
		}
		cheat.crash()
		tb.goesOn(60, 10*time.Second)
		for _, s := range tb.seats {
			t.Log(s.Peer, s.Delay(), s.Stats().Waits)
		}
	}
}
