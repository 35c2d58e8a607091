package relay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/relay"
)

// Everyone gets the same rows, at the pace of the match, whatever the network does.
func TestRowsAreTheSame(t *testing.T) {
	for _, c := range []netsim.Conditions{netsim.LAN, netsim.WiFi, netsim.LTE, netsim.Awful} {
		t.Run(c.Name, func(t *testing.T) {
			simtest.Run(t, 2, func(n *netsim.Net) error {
				n.Use(c)
				w := newTown(n, relay.Limits{})
				var people []*person
				for i := range 4 {
					people = append(people, w.person(fmt.Sprintf("%cnn", 'a'+i)))
				}
				w.match(relay.Match{Seats: 4, Start: 4}, people...)
				n.Run(6 * time.Second)
				if err := w.same(people...); err != nil {
					return err
				}
				for _, p := range people {
					if len(p.rows) < 120 {
						return fmt.Errorf("%s has only %d rows", p.name, len(p.rows))
					}
				}
				return nil
			})
		})
	}
}
