package crimp_test

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/netsim"
)

// Three machines form a group over a network that loses a tenth of all datagrams; one
// says hello, and both others hear it.
func Example() {
	const wall = 1_800_000_000 // the time of day when the network's clock starts
	protocol := token.ProtocolID("hello")
	key, _ := token.NewKey(rand.Reader) // shared by all members
	bad := netsim.Profile{Latency: 25 * time.Millisecond, Loss: 0.1}
	network := netsim.New(netsim.Options{Seed: 1,
		Conditions: netsim.Conditions{Up: bad, Down: bad}})

	heard := 0
	var founder []netip.AddrPort
	for i := range 3 {
		machine := network.Endpoint(fmt.Sprint("machine", i))
		o := crimp.Options{}
		rand.Read(o.Seed[:])
		o.Identity, _ = crimp.NewIdentity(o.Seed)
		card := crimp.Card{Addr: machine.LocalAddr()} // no site: a mesh of unicast

		// The first founds the group, the others ask it to be let in.
		authority, err := membership.New(membership.Options{Options: o, Card: card, Found: i == 0,
			Ask:      founder,
			Protocol: protocol, Keys: []token.Key{key}, Wall: wall})
		if err != nil {
			panic(err)
		}
		if i == 0 {
			founder = append(founder, machine.LocalAddr())
		}
		node, err := crimp.NewNode(o, authority)
		if err != nil {
			panic(err)
		}

		var batch [64]link.Datagram
		var out []link.Datagram
		said := false
		machine.Every(10*time.Millisecond, func() {
			now := network.Now()
			n, _ := machine.Receive(batch[:])
			node.Receive(now, batch[:n])
			for _, e := range node.Events() {
				switch e.Kind {
				case crimp.Delivered:
					fmt.Printf("%s\n", e.Data)
					heard++
				case crimp.StateWanted: // there is none; the newcomer may begin
					node.ProvideState(now, e.Member, nil)
				}
			}
			if i == 0 && !said && len(node.Group().Members()) == 3 && now > 2*time.Second {
				said = true
				node.Send(now, []byte("hello, all"))
			}
			node.Tick(now)
			out = node.Flush(now, out[:0])
			link.SendAll(machine, out)
		})
	}
	network.RunUntil(10*time.Second, func() bool { return heard == 2 })
	// Output:
	// hello, all
	// hello, all
}
