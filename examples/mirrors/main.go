// Command mirrors runs one game on three servers, 40 ms apart. They settle on the same world at
// every tick, and when one is killed the others go on. All of it runs over a simulated network, in
// virtual time; with real sockets it is "mirror" of any program made by package host.
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
)

// A machine is one of the servers.
type machine struct {
	mirror  *mirror.Mirror
	between *netsim.Endpoint // to the other mirrors
	dead    bool
}

func main() {
	net := netsim.New(netsim.Options{Seed: 1})
	var machines []*machine
	for i := range 3 {
		m, err := launch(net, machines)
		if err != nil {
			log.Fatal(err)
		}
		machines = append(machines, m)
		net.Run(2 * time.Second)
		fmt.Printf("mirror %d is %v, one of %d\n", i+1, m.mirror.Phase(), len(m.mirror.Members()))
	}
	net.Run(5 * time.Second)
	compare(machines)

	machines[0].dead = true // the power fails, without a word
	net.Run(5 * time.Second)
	fmt.Println("mirror 1 is killed; of the others there are",
		len(machines[1].mirror.Members()), "and the game goes on:")
	compare(machines[1:])
}

// launch starts a mirror that asks those before it to be let in.
func launch(net *netsim.Net, others []*machine) (*machine, error) {
	n := len(others)
	clients := net.Endpoint(fmt.Sprint("clients of ", n+1))
	m := &machine{between: net.Endpoint(fmt.Sprint("mirror ", n+1))}
	o := mirror.Options{
		Server: server.Options{Title: pong.Title, Links: []link.Link{clients}, Workers: 1},
		Link:   m.between, Address: m.between.PublicAddr(), Public: clients.PublicAddr(),
		Keys: []token.Key{{1, 2, 3}}, // what they have in common
		// Random in a real program, and the time of day:
		Seed: [32]byte{byte(n + 1)}, Wall: 1_800_000_000,
		Step: time.Microsecond, Copy: time.Microsecond, // measured if they are left out
		Found: n == 0, // the first one begins the game
	}
	o.Server.Conn.Seed = [32]byte{9, byte(n)}
	for _, other := range others {
		net.Connect(m.between, other.between,
			netsim.Both(netsim.Profile{Latency: 40 * time.Millisecond}))
		o.Ask = append(o.Ask, other.between.PublicAddr())
	}
	var err error
	if m.mirror, err = mirror.New(o); err != nil {
		return nil, err
	}
	m.between.Every(4*time.Millisecond, func() {
		if !m.dead {
			_ = m.mirror.Poll(net.Now())
		}
	})
	return m, nil
}

// compare prints whether the worlds that can change no more are the same.
func compare(machines []*machine) {
	hashes := map[uint64]map[uint64]bool{}
	for _, m := range machines {
		w := m.mirror.Timeline().Settled()
		tick := uint64(w.Tick())
		if hashes[tick] == nil {
			hashes[tick] = map[uint64]bool{}
		}
		hashes[tick][w.Hash()] = true
	}
	for tick, list := range hashes {
		fmt.Printf("settled tick %d has %d version\n", tick, len(list))
	}
}
