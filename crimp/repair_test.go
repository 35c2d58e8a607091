package crimp

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestAskerThatHearsNothing: a member dies, and two others miss some of its packets. One of them
// hears nothing any more and asks on and on, in good faith or not. That must not keep the other
// from being answered by who has the packets: where a repair reaches one member only, each that
// asks is sent its own.
func TestAskerThatHearsNothing(t *testing.T) {
	simtest.Run(t, seeds(6, 60), func(n *netsim.Net) error {
		p := netsim.Profile{Latency: 10 * time.Millisecond}
		n.Use(netsim.Conditions{Up: p, Down: p})
		all, _ := bareGroup(n, 4, Immediate)
		dead, keeper, lacks, deaf := all[0], all[1], all[2], all[3]
		n.Run(500 * time.Millisecond)
		n.Cut(dead.ep, lacks.ep)
		for _, b := range all[:3] {
			n.Path(b.ep, deaf.ep).Cut()
		}
		n.Run(200 * time.Millisecond)
		last := dead.g.Last()
		dead.silent = true
		n.Cut(dead.ep, keeper.ep)
		n.Run(100 * time.Millisecond)
		for _, b := range []*bare{lacks, deaf} { // they were told, say
			b.g.noticeUpTo(b.g.byID[dead.id], last, true)
		}
		deaf.ep.Every(5*time.Millisecond, func() {
			for i := range deaf.g.byID[dead.id].losses {
				l := &deaf.g.byID[dead.id].losses[i]
				l.due, l.asked = n.Now(), 3
			}
		})
		n.Run(600 * time.Millisecond)
		for s := Sequence(1); s <= last; s++ {
			if !keeper.has[name{dead.id, s}] {
				continue // lost with the source
			}
			if !lacks.has[name{dead.id, s}] {
				return fmt.Errorf("packet %d of %d did not come, and member %d has it", s, last,
					keeper.id)
			}
		}
		for _, b := range all {
			if b.err != nil {
				return b.err
			}
		}
		return nil
	})
}
