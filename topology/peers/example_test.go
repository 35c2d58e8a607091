package peers_test

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// Two machines play a match with each other, over a simulated network.
func Example() {
	net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.WiFi})
	var list []*peers.Peer
	var ask []netip.AddrPort
	for _, name := range []string{"ann", "bob"} {
		end := net.Endpoint(name)
		o := peers.Options{
			Game: rules, Link: end, Address: end.PublicAddr(), Name: name,
			Seed:   sha256.Sum256([]byte(name)),            // of crypto/rand, in earnest
			Secret: sha256.Sum256([]byte("an invitation")), // which both have
			Wall:   1_800_000_000,                          // time.Now().Unix(), in earnest
			Style:  peers.Rollback(), Ask: ask,
			Input: func(_ *world.World, me world.Player, t world.Tick, in *world.Inputs) {
				_ = world.Give(in, me, walk{X: int8(t % 7), Fire: t%10 == 0})
			},
		}
		if ask == nil { // the first founds the match
			o.Match = &peers.Match{Start: 2, Seed: 7}
			o.World = func(m *peers.Match) (*world.World, error) {
				return rules.New(world.Settings{Seed: m.Seed})
			}
		}
		p, err := peers.New(o)
		if err != nil {
			fmt.Println(err)
			return
		}
		end.Every(4*time.Millisecond, func() { _ = p.Poll(net.Now()) }) // or p.Run(ctx)
		list, ask = append(list, p), append(ask, end.PublicAddr())
	}
	net.Run(10 * time.Second)
	for _, p := range list {
		s := p.Stats()
		fmt.Println("player", p.Player(), p.Phase(), "differed", s.Differed, "compared some:",
			s.Compared > 3)
	}
	// Output:
	// player 1 playing differed 0 compared some: true
	// player 2 playing differed 0 compared some: true
}
