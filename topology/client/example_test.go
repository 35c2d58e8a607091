package client_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// up is a player who holds one key down.
func up(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
	_ = world.Give(in, me, pong.Keys(true, false)) // it is of the game's type
}

// serve runs a server on a simulated network.
func serve(net *netsim.Net) (*server.Server, netip.AddrPort) {
	end := net.Endpoint("server")
	srv, err := server.New(server.Options{Title: pong.Title, Links: []link.Link{end}})
	if err != nil {
		panic(err)
	}
	end.Every(pong.Game.TickLength(), func() { _ = srv.Tick(net.Now()) })
	return srv, end.PublicAddr()
}

// A client is driven by whatever loop there is; here by that of a simulated network.
func Example() {
	net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.LTE})
	srv, at := serve(net)
	defer srv.Close()
	token, _ := srv.Token(1, nil, time.Minute)
	c, err := client.New(client.Options{Title: pong.Title, Link: net.Endpoint("ann"), Token: token,
		Servers: []netip.AddrPort{at}, Name: "ann"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	var view client.View
	net.Every(pong.Game.TickLength(), func() { view = c.Frame(net.Now(), up) })
	net.Run(5 * time.Second)
	for id, p := range world.All[pong.Paddle](view.World) {
		if view.World.Owner(id) == view.Me {
			fmt.Println("the paddle is at the top:", p.Y == pong.Height-pong.Reach)
		}
	}
	fmt.Println("the present is past what the server told:", view.World.Tick() > view.Truth.Tick())
	// Output:
	// the paddle is at the top: true
	// the present is past what the server told: true
}

// A session finds its way in by itself, and again whenever it was thrown out by a restart.
func ExampleSession() {
	net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Cable})
	srv, at := serve(net)
	defer srv.Close()
	joined := make(chan client.Entry, 1)
	token, _ := srv.Token(1, nil, time.Minute)
	joined <- client.Entry{Link: net.Endpoint("ann"), Token: token, Servers: []netip.AddrPort{at}}
	s := client.NewSession(client.SessionOptions{
		Options: client.Options{Title: pong.Title, Name: "ann"},
		// A real one asks a web server for a token, and opens a socket.
		Join: func(context.Context) (client.Entry, error) { return <-joined, nil },
	})
	defer s.Close()
	view := s.Frame(0, up)
	fmt.Println(view.Status)
	for s.Client() == nil { // until Join has answered
		view = s.Frame(0, up)
	}
	net.Every(pong.Game.TickLength(), func() { view = s.Frame(net.Now(), up) })
	net.Run(5 * time.Second)
	fmt.Println("player", view.Me, view.Phase)
	// Output:
	// looking for the server
	// player 1 playing
}
