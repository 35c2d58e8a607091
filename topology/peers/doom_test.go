package peers

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// TestDoomGoesOn plays in DOOM's own way where packets are lost, and where some that were taken for
// lost came all the same: nothing must be waited for that nobody sends again.
func TestDoomGoesOn(t *testing.T) {
	for seed := uint64(10); seed <= 12; seed++ {
		tb := &table{match: Match{Start: 2, Every: 20, Doom: true},
			net: netsim.New(netsim.Options{Seed: seed, Conditions: netsim.Both(netsim.Profile{
				Latency: 40 * time.Millisecond, Loss: 0.05,
				Jitter: netsim.Jitter{Amount: 60 * time.Millisecond}})})}
		var ask []netip.AddrPort
		for i := range 2 {
			tb.sit(i, ask, func(o *Options) { o.Packets, o.Style = 20, Lockstep() })
			ask = append(ask, tb.peers[i].opt.Address)
		}
		tb.playing(t)
		last, at := world.Tick(0), tb.net.Now()
		for tb.net.Now() < 40*time.Second {
			tb.net.Run(100 * time.Millisecond)
			if s := tb.peers[0].copy.Shown(); s != last {
				last, at = s, tb.net.Now()
			} else if tb.net.Now()-at > 3*time.Second {
				t.Fatalf("seed %d: nothing goes on since %v: %v", seed, at, tb.peers)
			}
		}
	}
}
