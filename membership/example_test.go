package membership_test

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

// Three mirrors form a group. The überserver crashes, and one of the others takes its
// place.
func Example() {
	const wall = 1_800_000_000 // the time of day when the network's clock starts
	key, _ := token.NewKey(rand.Reader)
	path := netsim.Profile{Latency: 20 * time.Millisecond}
	network := netsim.New(netsim.Options{Seed: 1,
		Conditions: netsim.Conditions{Up: path, Down: path}})

	var machines []*netsim.Endpoint
	var group []*membership.Membership
	var first netip.AddrPort
	for i := range 3 {
		machine := network.Endpoint(fmt.Sprint("machine", i))
		o := crimp.Options{}
		rand.Read(o.Seed[:])
		o.Identity, _ = crimp.NewIdentity(o.Seed)
		mo := membership.Options{Options: o, Card: crimp.Card{Addr: machine.LocalAddr()},
			Protocol: token.ProtocolID("mirrors of arena"), Keys: []token.Key{key}, Wall: wall,
			About: membership.About{Name: "arena", Version: 7, Text: "ticks 60\nwindow 1s"}}
		if i == 0 {
			mo.Found, first = true, machine.LocalAddr()
		} else {
			mo.Ask = []netip.AddrPort{first}
		}
		m, err := membership.New(mo)
		if err != nil {
			fmt.Println(err)
			return
		}
		node, err := crimp.NewNode(o, m)
		if err != nil {
			fmt.Println(err)
			return
		}
		machines, group = append(machines, machine), append(group, m)

		var batch [64]link.Datagram
		var out []link.Datagram
		machine.Every(10*time.Millisecond, func() {
			now := network.Now()
			n, _ := machine.Receive(batch[:])
			node.Receive(now, batch[:n])
			for _, e := range node.Events() {
				if e.Kind == crimp.StateWanted {
					node.ProvideState(now, e.Member, []byte("the world"))
				}
			}
			node.Tick(now)
			out = node.Flush(now, out[:0])
			link.SendAll(machine, out)
		})
		network.RunUntil(10*time.Second, func() bool { return len(group[0].Voters()) == i+1 })
	}
	fmt.Println("voters", group[0].Voters(), "überserver", group[0].Uber(), "needed to be safe",
		group[0].Need())

	machines[0].Restart(time.Hour)
	network.RunUntil(10*time.Second,
		func() bool { return group[1].Uber() != 1 && group[2].Uber() != 1 })
	fmt.Println("voters", group[1].Voters(), "überserver", group[1].Uber())
	// Output:
	// voters [1 2 3] überserver 1 needed to be safe 2
	// voters [2 3] überserver 2
}
