package predict_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

type push struct{ X int8 }

func (p *push) Sync(s *bits.Sync) { s.Int8(&p.X, -1, 1) }

type cart struct{ X float64 }

func (c *cart) Sync(s *bits.Sync) { s.Float(&c.X, -1000, 1000, 1.0/64) }

func (c *cart) Step(w *world.World, me world.ID) {
	c.X += float64(world.Command[push](w, me).X)
}

var carts = world.Define("carts", world.Class[cart](), world.Commands[push](),
	world.OnJoin(func(w *world.World, p world.Player) { w.SetOwner(world.Spawn(w, cart{}), p) }))

// A client that hears from its server six ticks late sees its own commands at once, and what it
// predicted turns out to be right.
func Example() {
	server, _ := carts.New(world.Settings{Seed: 1})
	client, _ := predict.New(carts, predict.Options{Player: 1, Settings: world.Settings{Seed: 1}})
	client.SetQuality(100*time.Millisecond, 0)

	in := carts.NewInputs()
	in.Join(1)
	_ = server.Host().Step(in)
	news := func() *replica.Snapshot { // what replica would bring
		s := &replica.Snapshot{Tick: server.Tick(), Certain: true}
		for id := range server.Entities() {
			s.Updates = append(s.Updates,
				replica.Update{
					ID: id, What: replica.Held, Entry: server.Host().Entry(id),
					Image: server.Host().Image(id)})
		}
		return s
	}
	client.Snapshot(0, news())

	sent := map[world.Tick]push{} // on its way to the server
	for now := time.Duration(0); now < time.Second; now += time.Second / 60 {
		for range client.Due(now) {
			_ = world.Give(client.Next(), 1, push{X: 1})
			client.Step()
			sent[client.Tick()] = push{X: 1}
		}
	}
	show := func() {
		w := client.Show(time.Second)
		for _, c := range world.All[cart](w) {
			fmt.Println("tick", w.Tick(), "shows the cart at", c.X)
		}
	}
	show()

	// The server has come to tick 60 by now, with the commands that reached it.
	for server.Tick() < 60 {
		in.Reset()
		if c, ok := sent[server.Tick()+1]; ok {
			_ = world.Give(in, 1, c)
		}
		_ = server.Host().Step(in)
	}
	client.Snapshot(time.Second, news())
	show()
	fmt.Println(&client.Report()[0])
	// Output:
	// tick 63 shows the cart at 60
	// tick 63 shows the cart at 60
	// cart: all of 1 as predicted
}
