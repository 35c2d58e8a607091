package netsim_test

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

// A minute of echo over a wireless network takes a moment, and goes the same
// way every time.
func Example() {
	n := netsim.New(netsim.Options{Seed: 7})
	server, client := n.Endpoint("server"), n.Endpoint("client")
	n.Connect(client, server, netsim.WiFi)

	server.Handle(func(from netip.AddrPort, data []byte) {
		server.SendTo(from, data)
	})
	echoes := 0
	client.Handle(func(netip.AddrPort, []byte) { echoes++ })
	sent := 0
	client.Every(time.Second/60, func() {
		client.SendTo(server.PublicAddr(), []byte("tick"))
		sent++
	})
	n.Run(time.Minute)

	fmt.Println(sent, "sent,", echoes, "echoed, digest", fmt.Sprintf("%016x", n.Digest()))
	// Output:
	// 3600 sent, 3511 echoed, digest aff8cece8f2c174e
}

// A protocol that forgets that datagrams can arrive twice is found out, and the
// report shows the one that did.
func ExampleExplore() {
	run := func(n *netsim.Net) error {
		bank, client := n.Endpoint("bank"), n.Endpoint("client")
		n.Connect(client, bank, netsim.Awful)
		balance := 0
		bank.Handle(func(from netip.AddrPort, data []byte) { balance += 100 })
		for i := range 10 {
			client.After(time.Duration(i)*time.Second, func() {
				client.SendTo(bank.PublicAddr(), []byte("pay 100"))
			})
		}
		n.Run(time.Minute)
		if balance > 1000 {
			return errors.New("more was paid than was asked for")
		}
		return nil
	}
	err := netsim.Explore(netsim.Search{Seeds: 1000}, run)
	fmt.Print(err)

	var f *netsim.Failure
	errors.As(err, &f)
	fmt.Println("again:", netsim.Replay(f.Script, run))
	// Output:
	// seed 21: more was paid than was asked for
	// reduced from 11 faults to 1 in 5 runs; replay this script:
	// seed 21
	// exact
	// copy client > bank 2 by 0s
	// again: more was paid than was asked for
}
