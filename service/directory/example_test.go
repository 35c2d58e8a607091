package directory_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/service/directory"
)

// What a server says of its players is brought within what there can be.
func ExampleAnnouncement() {
	a := directory.Announcement{Game: "tanks", Mode: directory.Server, Name: "Friday night",
		Players: 900, Capacity: 16, Addresses: directory.Addresses{UDP: ":4000"}}
	fmt.Println(a.Check(), a.Players)
	// Output: <nil> 16
}
