// Command predicted shows what prediction is for. A player presses a key over a phone's network,
// 100 ms from the server and back: once with everything predicted, and once with what the server
// says and nothing else. It runs over a simulated network, in virtual time, and is the same every
// time.
package main

import (
	"fmt"
	"log"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

func main() {
	for _, style := range []predict.Style{predict.Doom3, predict.None} {
		wait, err := answer(style)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: the paddle answers a key after %v\n", style, wait.Round(time.Millisecond))
	}
}

// answer is how long after a key is pressed the player sees the paddle move.
func answer(style predict.Style) (time.Duration, error) {
	net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.LTE})
	end := net.Endpoint("server")
	srv, err := server.New(server.Options{Title: pong.Title, Links: []link.Link{end}})
	if err != nil {
		return 0, err
	}
	defer srv.Close()
	end.Every(pong.Game.TickLength(), func() { _ = srv.Tick(net.Now()) })

	token, err := srv.Token(1, nil, time.Minute)
	if err != nil {
		return 0, err
	}
	c, err := client.New(client.Options{
		Title: pong.Title, Style: style, Link: net.Endpoint("player"), Token: token,
		Servers: []netip.AddrPort{end.PublicAddr()},
	})
	if err != nil {
		return 0, err
	}
	defer c.Close()

	var pressed, moved time.Duration
	keys := func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
		_ = world.Give(in, me, pong.Keys(pressed != 0, false))
	}
	height := 0.0
	net.Every(time.Second/60, func() {
		if net.Now() >= 5*time.Second && pressed == 0 {
			pressed = net.Now()
		}
		v := c.Frame(net.Now(), keys)
		if v.World == nil {
			return
		}
		for id, p := range world.All[pong.Paddle](v.World) {
			if v.World.Owner(id) != v.Me {
				continue
			}
			if pressed != 0 && moved == 0 && p.Y != height {
				moved = net.Now()
			}
			height = p.Y
		}
	})
	net.Run(7 * time.Second)
	return moved - pressed, nil
}
