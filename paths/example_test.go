package paths_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/paths"
)

// Two players and a relay that hands over what one has for the other. The first datagram is
// carried, and when an answer has come the next goes directly.
func Example() {
	key := [32]byte{1, 2, 3} // which only the two have
	ada := paths.New(paths.Options{Self: 1, Seed: [32]byte{1}})
	bob := paths.New(paths.Options{Self: 2, Seed: [32]byte{2}})
	adaAt, bobAt := netip.MustParseAddrPort("192.0.2.1:4000"),
		netip.MustParseAddrPort("192.0.2.2:4000")
	ada.SetRelay(0, true)
	bob.SetRelay(0, true)
	ada.Add(0, 2, key, []netip.AddrPort{bobAt})
	bob.Add(0, 1, key, []netip.AddrPort{adaAt})

	send := func(now time.Duration) {
		out := []link.Datagram{{Addr: paths.Addr(2), Data: []byte("\x80hello")}}
		for _, d := range ada.Send(now, out) {
			fmt.Printf("%v: %q to %v\n", now, d.Data, d.Addr)
		}
		for _, c := range ada.Carry() {
			fmt.Printf("%v: %q to %d by the relay\n", now, c.Data, c.Member)
		}
	}
	send(0)

	asks := ada.Tick(0, nil)
	ada.Carry() // the relay is asked, too
	for _, d := range asks {
		d.Addr = adaAt // as bob sees it
		bob.Receive(0, []link.Datagram{d})
	}
	for _, d := range bob.Send(0, nil) {
		d.Addr = bobAt
		ada.Receive(40*time.Millisecond, []link.Datagram{d})
	}
	send(50 * time.Millisecond)
	path, _ := ada.To(2)
	fmt.Println(path.Kind, path.Addr, path.Trip)
	// Output:
	// 0s: "\x80hello" to 2 by the relay
	// 50ms: "\x80hello" to 192.0.2.2:4000
	// direct 192.0.2.2:4000 40ms
}
