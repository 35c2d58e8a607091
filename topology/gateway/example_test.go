package gateway_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/gateway"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A world in four zones, a gateway and a player, in virtual time. With real sockets Server.Run and
// Gateway.Run take the place of the timers.
func Example() {
	ctx := context.Background()
	net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.LAN})
	kept, soon := seamless.Memory(), func() time.Duration { return time.Millisecond }
	_, err := seamless.Found(ctx, seamless.FoundOptions{Title: crowd.Title, Cluster: kept,
		Zones: 4, Reach: crowd.Sight, Level: game.Level{Seed: 1}})
	check(err)

	part := func(name string, id byte) seamless.Options {
		return seamless.Options{Title: crowd.Title, Cluster: kept, Link: net.Endpoint(name),
			Keys: []token.Key{{1}}, Seed: [32]byte{id}, Simulated: soon}
	}
	zones, err := seamless.Enter(ctx, part("zones", 1), nil)
	check(err)
	net.Every(2*time.Millisecond, func() { check(zones.Poll(net.Now())) })

	door := net.Endpoint("gateway")
	g, err := gateway.New(ctx, gateway.Options{Cluster: part("line", 2), Public: door.PublicAddr(),
		Server: server.Options{Title: crowd.Title, Links: []link.Link{door},
			Keys: []token.Key{{2}}}})
	check(err)
	net.Every(2*time.Millisecond, func() { check(g.Poll(net.Now())) })
	net.RunUntil(10*time.Second, func() bool { return g.Server() != nil })

	t, err := g.Server().Token(1, nil, time.Hour)
	check(err)
	c, err := client.New(client.Options{Title: crowd.Title, Link: net.Endpoint("player"), Token: t,
		Servers: []netip.AddrPort{door.PublicAddr()}, Name: "ann"})
	check(err)
	var v client.View
	bot := crowd.Title.NewBot(1)
	net.Every(crowd.Title.Game.TickLength(), func() {
		v = c.Frame(net.Now(), func(t world.Tick, me world.Player, w *world.World,
			in *world.Inputs) {
			_ = bot(w, me, t, in)
		})
	})
	net.RunUntil(10*time.Second, func() bool { return v.World != nil && v.World.Tick() > 0 })
	fmt.Println("player", v.Me, "is", v.Phase)
	check(g.Close())
	// Output:
	// player 1 is playing
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
