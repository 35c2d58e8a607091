package client

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// The yard is a game in which walkers walk, birds fly and someone counts the steps.
type walker struct{ Pos det.Vec2 }

func (x *walker) Sync(s *bits.Sync) { s.Vec2(&x.Pos, -2000, 2000, 1.0/16) }

func (x *walker) Step(w *world.World, me world.ID) {
	c := world.Command[walk](w, me)
	x.Pos.X = det.Clamp(x.Pos.X+float64(c.X)/4, -2000, 2000)
	if c.X != 0 {
		world.StateOf[tally](w).Steps++
	}
}

type bird struct{ Pos, Vel det.Vec2 }

func (x *bird) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -2000, 2000, 1.0/16)
	s.Vec2(&x.Vel, -8, 8, 1.0/16)
}

func (x *bird) Step(w *world.World, me world.ID) {
	if w.Rand().Chance(0.1) {
		x.Vel = det.Vec2{X: w.Rand().Range(-4, 4), Y: w.Rand().Range(-4, 4)}
	}
	x.Pos = x.Pos.Add(x.Vel)
	x.Pos = det.Vec2{X: det.Clamp(x.Pos.X, -2000, 2000), Y: det.Clamp(x.Pos.Y, -2000, 2000)}
}

type tally struct{ Steps, Birds int }

func (x *tally) Sync(s *bits.Sync) {
	s.Int(&x.Steps, 0, 1<<20)
	s.Int(&x.Birds, 0, 1<<10)
}

type walk struct{ X int8 }

func (c *walk) Sync(s *bits.Sync) { s.Int8(&c.X, -1, 1) }

var yard = world.Define("client yard",
	world.Class[walker](), world.Class[bird](), world.State[tally](), world.Commands[walk](),
	world.OnStart(func(w *world.World) {
		for i := range world.StateOf[tally](w).Birds {
			world.Spawn(w, bird{Pos: det.Vec2{X: float64(i) * 10}})
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, walker{Pos: det.Vec2{X: float64(p) * 40}}), p)
	}),
)

var yardTitle = &game.Title{Game: yard, Levels: game.Levels{
	Settings: func(game.Level) (world.Settings, error) {
		return world.Settings{States: []bits.Syncer{&tally{Birds: 20}}}, nil
	},
}}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// toAndFro walks for a while this way and for a while that way.
func toAndFro(t world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
	_ = world.Give(in, me, walk{X: int8(t/40%2)*2 - 1}) // it is of the game's type
}

func body(w *world.World, p world.Player) *walker {
	for id, x := range world.All[walker](w) {
		if w.Owner(id) == p {
			return x
		}
	}
	return nil
}

// A cable carries datagrams within the program, without allocating anything.
type cable struct {
	air  map[netip.AddrPort]*cable
	addr netip.AddrPort
	in   [][]byte
	from []netip.AddrPort
	n    int
	read int
}

func newCable(air map[netip.AddrPort]*cable) *cable {
	a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(len(air) + 1)}), 1000)
	c := &cable{air: air, addr: a, in: make([][]byte, 256), from: make([]netip.AddrPort, 256)}
	for i := range c.in {
		c.in[i] = make([]byte, 0, 1500)
	}
	air[a] = c
	return c
}

func (c *cable) Send(batch []link.Datagram) (int, error) {
	for i := range batch {
		to := c.air[batch[i].Addr]
		if to == nil || to.n-to.read == len(to.in) {
			continue // lost
		}
		k := to.n % len(to.in)
		to.in[k], to.from[k] = append(to.in[k][:0], batch[i].Data...), c.addr
		to.n++
	}
	return len(batch), nil
}

func (c *cable) Receive(batch []link.Datagram) (int, error) {
	n := 0
	for ; n < len(batch) && c.read < c.n; n++ {
		k := c.read % len(c.in)
		batch[n] = link.Datagram{Addr: c.from[k], Data: c.in[k]}
		c.read++
	}
	return n, nil
}

func (c *cable) LocalAddr() netip.AddrPort        { return c.addr }
func (c *cable) MaxDatagram() int                 { return 1200 }
func (c *cable) Close() error                     { return nil }
func (c *cable) Wait(time.Duration) (bool, error) { return c.read < c.n, nil }
func (c *cable) Wake()                            {}
func (c *cable) Counters() link.Counters          { return link.Counters{} }

// A rig is a server and one client, beside each other.
type rig struct {
	server *server.Server
	client *Client
	now    time.Duration
	next   time.Duration // when the server is due
	view   View
}

func newRig(t testing.TB, style predict.Style) *rig {
	if testing.Short() {
		t.Skip("it runs in one goroutine")
	}
	air := map[netip.AddrPort]*cable{}
	at := newCable(air)
	r := &rig{}
	var err error
	r.server, err = server.New(server.Options{Title: yardTitle, Links: []link.Link{at}, Workers: 1})
	must(t, err)
	t.Cleanup(func() { _ = r.server.Close() })
	tok, err := r.server.Token(1, nil, time.Hour)
	must(t, err)
	r.client, err = New(Options{Title: yardTitle, Style: style, Link: newCable(air), Token: tok,
		Servers: []netip.AddrPort{at.LocalAddr()}, Name: "ann"})
	must(t, err)
	return r
}

// frame lets some time pass, and draws.
func (r *rig) frame(t testing.TB, d time.Duration) {
	r.now += d
	for ; r.next <= r.now; r.next += yard.TickLength() {
		must(t, r.server.Tick(r.next))
	}
	r.view = r.client.Frame(r.now, toAndFro)
	must(t, r.view.Err)
}
