package network_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/service/dis/network"
)

func Example() {
	n, err := network.Join(network.Options{To: "127.0.0.1:3000", Listen: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()
	fmt.Println("to", n.To())
	// Output: to 127.0.0.1:3000
}
