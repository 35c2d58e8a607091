package replica

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

func TestEveryImageIsOneThatWasPublished(t *testing.T) {
	for _, strategy := range everyStrategy {
		seeds := uint64(24)
		if strategy > Doom3 && os.Getenv("COEVAL_SOAK") == "" {
			seeds = 8 // every kind of loss, delay and room once
		}
		for seed := range seeds {
			t.Run(fmt.Sprintf("%v/seed=%d", strategy, seed), func(t *testing.T) {
				s := newSite(t, Options{Strategy: strategy}, seed, 6)
				s.hist = map[world.ID]map[uint32][]int32{}
				var guests []*guest
				for i := range 3 {
					g := newGuest(s, world.Player(i+1), seed)
					g.shown = map[world.ID][]int{}
					g.loss = []float64{0, 0.1, 0.4}[int(seed)%3]
					g.ackLoss = []float64{0, 0.1}[int(seed/3)%2]
					g.delay = 1 + int(seed)%9
					g.jitter = []int{0, 0, 4, 12}[int(seed/2)%4]
					if seed%5 == 4 {
						g.room = Room{Packet: 200, Budget: 120}
					}
					guests = append(guests, g)
				}
				for range 900 {
					s.step()
					for _, g := range guests {
						g.tick()
					}
				}
				for i, g := range guests {
					// Everything stands still, and nothing is lost any more.
					g.loss, g.ackLoss, g.jitter = 0, 0, 0
					g.room = Room{Packet: 1150, Budget: 1150}
					snapshots := 0
					for ; !(g.exact() && g.now > 900) || snapshots == 0; snapshots++ {
						if snapshots > 60 {
							t.Fatalf("guest %d is not exact after %d snapshots: %v, holds %d of %d",
								i, snapshots, g.fails, g.r.Stats().Held, len(g.view.Entries()))
						}
						for range g.every {
							g.tick()
						}
					}
					var want []int
					for e := range s.w.Host().SavedHappened {
						if g.concerned(e) {
							want = append(want, int(e.Tick))
						}
					}
					slices.Sort(want)
					slices.Sort(g.saved)
					if !slices.Equal(g.saved, want) {
						t.Errorf("guest %d heard of deaths at %v, they were at %v", i, g.saved,
							want)
					}
					if i == 0 {
						t.Logf("%d packets, %d bytes, exact after %d snapshots, %v, %+v", g.packets,
							g.bytes, snapshots, g.fails, g.r.Stats())
					}
				}
			})
		}
	}
}

// everyStrategy is what tests try where nothing depends on which it is: Coeval, and the others.
var everyStrategy = func() (all []Strategy) {
	for i := range strategyNames {
		all = append(all, Strategy(i))
	}
	return all
}()
