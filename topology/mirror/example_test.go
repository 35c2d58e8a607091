package mirror_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
)

// A player hosts a game, and others have mirrors of it ready on their own machines. When the host
// leaves, one of those takes over, and the game goes on: a listen server that moves. Everything
// runs over a simulated network here; real programs give real links, and call Run.
func Example() {
	net := netsim.New(netsim.Options{Seed: 1})
	key := token.Key{1, 2, 3}
	road := netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond})

	var mirrors []*mirror.Mirror
	var ends []*netsim.Endpoint
	launch := func(name string) {
		between, clients := net.Endpoint("mirror-"+name), net.Endpoint("clients-"+name)
		o := mirror.Options{
			Server: server.Options{Title: pong.Title, Links: []link.Link{clients}, Workers: 1},
			Link:   between, Address: between.PublicAddr(), Public: clients.PublicAddr(),
			Name: name,
			Keys: []token.Key{key}, Seed: [32]byte{byte(len(mirrors) + 1)}, Wall: 1_800_000_000,
			Step: time.Microsecond, Copy: time.Microsecond, // measured in a real program
			Found: len(mirrors) == 0,
		}
		o.Server.Conn.Seed = [32]byte{9, byte(len(mirrors))}
		for _, other := range ends {
			net.Connect(between, other, road)
			o.Ask = append(o.Ask, other.PublicAddr())
		}
		m, err := mirror.New(o)
		if err != nil {
			fmt.Println(err)
			return
		}
		mirrors, ends = append(mirrors, m), append(ends, between)
		between.Every(4*time.Millisecond, func() { _ = m.Poll(net.Now()) })
	}
	for _, name := range []string{"host", "ann", "bob"} {
		launch(name)
		net.Run(2 * time.Second)
	}
	fmt.Println("mirrors:", len(mirrors[2].Members()), "led by the host:",
		mirrors[2].Uber() == mirrors[0].ID())

	mirrors[0].Leave()
	net.Run(5 * time.Second)
	fmt.Println("the host is", mirrors[0].Phase())
	fmt.Println("ann is", mirrors[1].Phase(), "and bob is", mirrors[2].Phase(), "under one lead:",
		mirrors[1].Uber() == mirrors[2].Uber())
	a, b := mirrors[1].Timeline().Settled(), mirrors[2].Timeline().Settled()
	fmt.Println("the game went on:", a.Tick() > 500 && b.Tick() > 500)
	// Output:
	// mirrors: 3 led by the host: true
	// the host is out
	// ann is serving and bob is serving under one lead: true
	// the game went on: true
}
