// Command lagcomp shows lag compensation. A target runs to and fro. A player 100 ms away fires at
// it twice a second, where they see it. Judged by the present the shots miss; judged by what the
// shooter saw when the trigger was pulled, they hit. The rules ask for it by two lines.
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
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

type Shoot struct { // a command
	X    float64
	Fire bool `world:"edge"`
}

func (c *Shoot) Sync(s *bits.Sync) {
	s.Float(&c.X, 0, 40, 1.0/64)
	s.Bool(&c.Fire)
}

type Target struct{ Pos, Vel det.Vec2 }

func (t *Target) Sync(s *bits.Sync) {
	s.Vec2(&t.Pos, 0, 40, 1.0/64)
	s.Vec2(&t.Vel, -20, 20, 1.0/64)
}

// The first line: where it was is remembered.
func (t *Target) Rewind(r *world.Rewinding) { r.Place(&t.Pos) }

func (t *Target) Step(w *world.World, me world.ID) {
	if t.Pos = t.Pos.MulAdd(t.Vel, w.Seconds()); t.Pos.X < 1 || t.Pos.X > 39 {
		t.Vel.X = -t.Vel.X
	}
}

type Range struct{ Hits, Struck int } // by what was seen, and by the present

func (r *Range) Sync(s *bits.Sync) {
	s.Int(&r.Hits, 0, 1<<16)
	s.Int(&r.Struck, 0, 1<<16)
}

type Gun struct{}

func (g *Gun) Sync(*bits.Sync) {}

func (g *Gun) Step(w *world.World, me world.ID) {
	c, r := world.Command[Shoot](w, me), world.StateOf[Range](w)
	if !c.Fire {
		return
	}
	shot := world.Shot{By: w.Owner(me)}
	for id, t := range world.All[Target](w) {
		if det.Abs(t.Pos.X-c.X) < 0.5 {
			r.Struck++
		}
		at, _ := w.Sees(shot, id) // the second: where the shooter saw it
		if det.Abs(at.X-c.X) < 0.5 {
			r.Hits++
			w.Strike(shot, id)
		}
	}
}

var rules = world.Define("range", world.Class[Target](), world.Class[Gun](), world.State[Range](),
	world.Commands[Shoot](),
	world.OnStart(func(w *world.World) {
		world.Spawn(w, Target{Pos: det.Vec2{X: 20}, Vel: det.Vec2{X: 15}})
	}),
	world.OnJoin(func(w *world.World, p world.Player) { w.SetOwner(world.Spawn(w, Gun{}), p) }))

func main() {
	r := play()
	fmt.Println("judged by the present,", r.Struck, "of 39 shots hit")
	fmt.Println("judged by what was seen,", r.Hits, "of 39 shots hit")
}

func play() Range {
	t := &game.Title{Game: rules}
	net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Transatlantic})
	end := net.Endpoint("server")
	srv := must(server.New(server.Options{Title: t, Links: []link.Link{end}}))
	end.Every(rules.TickLength(), func() { _ = srv.Tick(net.Now()) })
	c := must(client.New(client.Options{Title: t, Style: predict.HalfLife,
		Token: must(srv.Token(1, nil, time.Minute)), Link: net.Endpoint("player"),
		Servers: []netip.AddrPort{end.PublicAddr()}}))
	net.Every(rules.TickLength(), func() { c.Frame(net.Now(), aim) })
	net.Run(20 * time.Second)
	return *world.StateOf[Range](srv.World())
}

func aim(tick world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	for _, target := range world.All[Target](shown) {
		_ = world.Give(in, me, Shoot{X: target.Pos.X, Fire: tick%30 == 0})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
