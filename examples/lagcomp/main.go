// Command lagcomp shows lag compensation. A target runs to and fro. A player 100 ms away fires at
// it twice a second, where they see it. Judged by the present the shots miss; judged by what the
// shooter saw when the trigger was pulled, they hit. A title asks for it by two lines.
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

func (t *Target) Hints(h *game.Hints) { h.Rewind() } // the first line: its past is remembered

func (t *Target) Step(w *world.World, me world.ID) {
	if t.Pos = t.Pos.MulAdd(t.Vel, w.Seconds()); t.Pos.X < 1 || t.Pos.X > 39 {
		t.Vel.X = -t.Vel.X
	}
}

type Range struct { // the state of the shooting range
	Hits int
	past game.Past `world:"derived"`
}

func (r *Range) Sync(s *bits.Sync) { s.Int(&r.Hits, 0, 1<<16) }

// By what to judge belongs to one world, and to no copy of it.
func (r *Range) Derive()              {}
func (r *Range) CopyFrom(from *Range) { r.Hits = from.Hits }

type Gun struct{}

func (g *Gun) Sync(*bits.Sync) {}

func (g *Gun) Step(w *world.World, me world.ID) {
	c, r := world.Command[Shoot](w, me), world.StateOf[Range](w)
	for id, t := range world.All[Target](w) {
		at := t.Pos.X
		if r.past != nil {
			if was, ok := r.past(w.Owner(me), id); ok {
				at = was.X
			}
		}
		if c.Fire && det.Abs(at-c.X) < 0.5 {
			r.Hits++
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
	present := func(*world.World, game.Past) {}
	// the second
	seen := func(w *world.World, past game.Past) { world.StateOf[Range](w).past = past }
	fmt.Println("judged by the present,", play(present), "of 39 shots hit")
	fmt.Println("judged by what was seen,", play(seen), "of 39 shots hit")
}

func play(judge func(*world.World, game.Past)) int {
	t := &game.Title{Game: rules, Shots: game.Shots{Judge: judge}}
	net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Transatlantic})
	end := net.Endpoint("server")
	srv := must(server.New(server.Options{Title: t, Links: []link.Link{end}}))
	end.Every(rules.TickLength(), func() { _ = srv.Tick(net.Now()) })
	c := must(client.New(client.Options{Title: t, Style: predict.HalfLife,
		Token: must(srv.Token(1, nil, time.Minute)), Link: net.Endpoint("player"),
		Servers: []netip.AddrPort{end.PublicAddr()}}))
	net.Every(rules.TickLength(), func() { c.Frame(net.Now(), aim) })
	net.Run(20 * time.Second)
	return world.StateOf[Range](srv.World()).Hits
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
