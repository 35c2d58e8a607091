// Command interest shows who is told what. A field has a thousand sheep, and each player is told of
// those within reach: by one line of the title. What a player is not shown never leaves the server,
// so nobody can cheat by looking at packets, and a large world costs no more than a small one.
package main

import (
	"fmt"
	"log"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

const side = 1000

type Sheep struct{ Pos det.Vec2 }

func (o *Sheep) Sync(s *bits.Sync) { s.Vec2(&o.Pos, 0, side, 1.0/16) }

type Shepherd struct{ Pos det.Vec2 }

func (o *Shepherd) Sync(s *bits.Sync)   { s.Vec2(&o.Pos, 0, side, 1.0/16) }
func (o *Shepherd) Hints(h *game.Hints) { h.Body(1) } // what a player moves about in, and sees from

var title = &game.Title{
	Game: world.Define("field", world.Class[Sheep](), world.Class[Shepherd](),
		world.OnStart(func(w *world.World) {
			for range 1000 {
				x, y := w.Rand().Range(0, side), w.Rand().Range(0, side)
				world.Spawn(w, Sheep{Pos: det.Vec2{X: x, Y: y}})
			}
		}),
		world.OnJoin(func(w *world.World, p world.Player) {
			at := det.Vec2{X: side / 2, Y: side / 4 * float64(p)}
			w.SetOwner(world.Spawn(w, Shepherd{Pos: at}), p)
		})),
	Sight: game.Sight{Reach: 100}, // the line
}

func main() {
	net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Cable})
	end := net.Endpoint("server")
	srv, err := server.New(server.Options{Title: title, Links: []link.Link{end}})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	end.Every(title.Game.TickLength(), func() { _ = srv.Tick(net.Now()) })

	for i := range uint64(2) {
		token, err := srv.Token(i+1, nil, time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		here := net.Endpoint(fmt.Sprint("player ", i+1))
		c, err := client.New(client.Options{Title: title, Link: here, Token: token,
			Servers: []netip.AddrPort{end.PublicAddr()}})
		if err != nil {
			log.Fatal(err)
		}
		defer c.Close()
		var view client.View
		here.Every(title.Game.TickLength(), func() { view = c.Frame(net.Now(), nil) })
		net.Run(3 * time.Second)
		fmt.Printf("player %d is told of %d sheep of %d\n", view.Me, count(view.World),
			count(srv.World()))
	}
}

func count(w *world.World) (n int) {
	for range world.All[Sheep](w) {
		n++
	}
	return n
}
