package clientserver_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// A listen server: one program that serves a game and plays it. The host's own client comes by memory, and others would by the socket. Here both are driven tick by tick,
// in a time that the example makes; a real program calls Run of each in a goroutine.
func Example() {
	hub := mem.NewHub(mem.Options{})
	inside, _ := hub.Open(netip.AddrPort{})
	server, err := clientserver.NewServer(clientserver.Options{
		Title: pong.Title,
		Level: clientserver.Level{Name: "court", Seed: 1},
		Links: []link.Link{inside}, // and a socket of link/udp for everyone else
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	tok, err := server.Token(1, nil, time.Minute) // the host lets itself in
	if err != nil {
		fmt.Println(err)
		return
	}
	own, _ := hub.Open(netip.AddrPort{})
	client, err := clientserver.NewClient(clientserver.ClientOptions{
		Game: pong.Game, Link: own, Token: tok, Servers: []netip.AddrPort{inside.LocalAddr()}, Name: "ada",
		Input: func(_ world.Tick, p world.Player, in *world.Inputs) { _ = world.Give(in, p, pong.Keys(true, false)) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	now := time.Duration(0)
	for range 5 * 60 {
		now += pong.Game.TickLength()
		if err := client.Tick(now); err != nil {
			fmt.Println(err)
		}
		if err := server.Tick(now); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("%s is player %d at level %q\n", client.Name(), client.Player(), client.Level().Name)
	for id, p := range world.All[pong.Paddle](client.View()) {
		if client.View().Owner(id) == client.Player() {
			fmt.Println("her paddle is at the top:", p.Y == pong.Height-pong.Reach)
		}
	}
	// Output:
	// ada is player 1 at level "court"
	// her paddle is at the top: true
}
