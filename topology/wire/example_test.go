package wire_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/topology/wire"
)

// A client greets, and the server reads who it is.
func Example() {
	hello := wire.Message{Kind: wire.Hello, Version: 7, Name: "ada"}
	b := hello.Append(nil)

	var m wire.Message
	err := m.Parse(b)
	fmt.Println(m.Name, m.Version, len(b), err)
	fmt.Println(wire.ReasonText(wire.ReasonNoSeat))
	// Output:
	// ada 7 20 <nil>
	// all seats are taken
}
