package conn

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// TestRefusedIsBooked has both ends' links take only some of what they are given, and has the
// connection end in several ways: what a ledger says in all is what the link took, at any time.
func TestRefusedIsBooked(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			n := netsim.New(netsim.Options{Seed: seed, Conditions: netsim.WiFi})
			p := newPair(t, n, pairOptions{})
			dice := rand.New(rand.NewPCG(seed, 7))
			full, refused := 0.0, 0
			taken := map[*party]uint64{}
			for _, q := range []*party{p.sp, p.cp} {
				q.takes = func(d *link.Datagram) bool {
					if dice.Float64() < full {
						refused++
						return false
					}
					taken[q] += uint64(len(d.Data))
					return true
				}
			}
			p.connect(t)
			full = 0.3
			ended := false
			n.RunUntil(40*time.Second, func() bool {
				switch {
				case n.Now() < 2*time.Second:
					p.sc.Send(0, []byte("as always"))
				case !ended && seed%4 == 0:
					p.client.Close(0, "")
				case !ended && seed%4 == 1:
					p.sc.Close(0, "")
				case !ended && seed%4 == 2:
					full = 1 // the browser is gone, and its session with it
				case !ended:
					p.server.Shutdown(0, "")
				}
				ended = n.Now() >= 2*time.Second
				for q, sent := range taken {
					if l := q.machine.Ledger(); l.Total() != sent {
						t.Fatalf("after %v: %d bytes are booked, %d were taken", n.Now(), l.Total(),
							sent)
					}
				}
				return false
			})
			if refused == 0 || !p.server.Done() {
				t.Fatalf("%d refused; done: %v", refused, p.server.Done())
			}
		})
	}
}
