package route_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/route"
)

// Member 1 hears 2 and not 3, and 2 hears both: what 1 has for 3 goes over 2.
func Example() {
	now := time.Second
	t := route.New(route.Options{Self: 1, Dead: 500 * time.Millisecond})
	t.Members(now, []member.ID{1, 2, 3})
	for range 25 {
		now += 100 * time.Millisecond
		t.Say(now, &route.State{Member: 2, Number: uint32(now / time.Millisecond),
			Hears: []route.Hearing{{Member: 1, Up: true}, {Member: 3, Up: true}}})
		t.Pass(now, &route.State{Member: 3, Number: uint32(now / time.Millisecond),
			Hears: []route.Hearing{{Member: 2, Up: true}}})
		t.Tick(now)
	}
	for _, l := range t.Lines() {
		fmt.Printf("%d: over %d, %d lines\n", l.Member, l.Via, l.Hops)
	}
	// Output:
	// 2: over 2, 1 lines
	// 3: over 2, 2 lines
}
