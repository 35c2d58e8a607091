package tunnel_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/lab/tunnel"
)

// Half of the players are on cable and half on phones; how far are they from a server, and from each
// other?
func ExampleParseField() {
	f, err := tunnel.ParseField("cable+lte")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := f.Servers(1, 2)[0]
	fmt.Println(f.Trip(f.Player(0), server), f.Trip(f.Player(1), server))
	fmt.Println(f.Trip(f.Player(0), f.Player(1)))
	// Output:
	// 30ms 70ms
	// 100ms
}
