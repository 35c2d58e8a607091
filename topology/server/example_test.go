package server_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A listen server: one program that serves a game and plays it. The host's own client comes by
// memory, and others would by the socket. Here both are driven tick by tick, in a time that the
// example makes; a real program calls Run of the server in a goroutine, and Frame in its own loop.
func Example() {
	hub := mem.NewHub(mem.Options{})
	inside, _ := hub.Open(netip.AddrPort{})
	srv, err := server.New(server.Options{
		Title: pong.Title,
		Level: server.Level{Name: "court", Seed: 1},
		Links: []link.Link{inside}, // and a socket of link/udp for everyone else
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	tok, err := srv.Token(1, nil, time.Minute) // the host lets itself in
	if err != nil {
		fmt.Println(err)
		return
	}
	own, _ := hub.Open(netip.AddrPort{})
	host, err := client.New(client.Options{
		Title: pong.Title, Link: own, Token: tok, Servers: []netip.AddrPort{inside.LocalAddr()},
		Name: "ada",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer host.Close()
	up := func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
		_ = world.Give(in, me, pong.Keys(true, false))
	}

	now, view := time.Duration(0), client.View{}
	for range 5 * 60 {
		now += pong.Game.TickLength()
		view = host.Frame(now, up)
		if err := srv.Tick(now); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("%s is player %d at level %q\n", host.Name(), view.Me, view.Level.Name)
	for id, p := range world.All[pong.Paddle](view.World) {
		if view.World.Owner(id) == view.Me {
			fmt.Println("her paddle is at the top:", p.Y == pong.Height-pong.Reach)
		}
	}
	// Output:
	// ada is player 1 at level "court"
	// her paddle is at the top: true
}
