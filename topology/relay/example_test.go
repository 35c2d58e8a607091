package relay_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/relay"
)

// Two players meet at a relay, over a simulated network, and see the same rows.
func Example() {
	n := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Cable})
	w := newTown(n, relay.Limits{}) // a relay on the network
	ann, bob := w.person("ann"), w.person("bob")

	// Ann creates a match for two and tells bob the code.
	_ = ann.client.Create(relay.Match{Game: "tag 1", Seats: 2, Start: 2}, relay.Entry{Name: "ann"})
	n.RunUntil(time.Second, func() bool { return ann.in != nil })
	_ = bob.client.Join(ann.in.Code, "tag 1", relay.Rows, [relay.SecretSize]byte{},
		relay.Entry{Name: "bob"})

	// Once both are ready, and an item of each is there, rows come.
	n.RunUntil(2*time.Second, func() bool { return len(bob.rows) >= 3 })
	for _, row := range bob.rows[:3] {
		fmt.Println(row)
	}
	// Output:
	// 0 joined:1:1 joined:2:2 1(1)*1 "" 2(2)*1 ""
	// 1 1(1)*1 "a" 2(2)*1 "b"
	// 2 1(1)*1 "a2" 2(2)*1 "b2"
}
