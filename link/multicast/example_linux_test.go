package multicast_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/multicast"
)

// Two links of one machine are in a group; what one sends to it, the other gets.
func Example() {
	group := netip.MustParseAddrPort("239.77.9.9:47099")
	o := multicast.Options{Group: group, Interface: "lo"}
	speaker, err := multicast.Open(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer speaker.Close()
	listener, err := multicast.Open(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer listener.Close()

	link.SendAll(speaker, []link.Datagram{{Addr: group, Data: []byte("hello, all")}})
	listener.Wait(10 * time.Second)
	var batch [8]link.Datagram
	n, _ := listener.Receive(batch[:])
	for _, d := range batch[:n] {
		fmt.Printf("%s\n", d.Data)
	}
	// Output: hello, all
}
