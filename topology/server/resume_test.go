package server_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A court is a server with players, in a time of its own.
type court struct {
	t       *testing.T
	hub     *mem.Hub
	at      netip.AddrPort
	server  *server.Server
	clients map[uint64]*client.Client
	now     time.Duration
}

func newCourt(t *testing.T, resume *server.Saved, keys ...token.Key) *court {
	t.Helper()
	c := &court{t: t, hub: mem.NewHub(mem.Options{}), clients: map[uint64]*client.Client{}}
	l, err := c.hub.Open(netip.AddrPort{})
	if err != nil {
		t.Fatal(err)
	}
	c.at = l.LocalAddr()
	c.server, err = server.New(server.Options{
		Title: pong.Title, Level: server.Level{Seed: 5}, Links: []link.Link{l}, Resume: resume,
		Keys: keys,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.server.Close() })
	return c
}

// join lets someone come by a number.
func (c *court) join(id uint64, name string) {
	c.t.Helper()
	tok, err := c.server.Token(id, nil, time.Minute)
	if err != nil {
		c.t.Fatal(err)
	}
	l, err := c.hub.Open(netip.AddrPort{})
	if err != nil {
		c.t.Fatal(err)
	}
	if c.clients[id], err = client.New(client.Options{
		Title: pong.Title, Link: l, Token: tok, Servers: []netip.AddrPort{c.at}, Name: name,
	}); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = c.clients[id].Close() })
}

// play lets so many ticks pass, and gives who the clients are and where they see their paddles.
func (c *court) play(ticks int) (me map[uint64]world.Player, y map[uint64]float64) {
	c.t.Helper()
	up := func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
		_ = world.Give(in, me, pong.Move{Y: 1})
	}
	me, y = map[uint64]world.Player{}, map[uint64]float64{}
	for range ticks {
		c.now += pong.Game.TickLength()
		for id, x := range c.clients {
			v := x.Frame(c.now, up)
			if me[id] = v.Me; v.World == nil {
				continue
			}
			for e, p := range world.All[pong.Paddle](v.World) {
				if v.World.Owner(e) == v.Me {
					y[id] = p.Y
				}
			}
		}
		if err := c.server.Tick(c.now); err != nil {
			c.t.Fatal(err)
		}
	}
	return me, y
}

// TestAServerGoesOnWhereAnotherWas: a server takes the place of another, with its world and its
// seats. Those who come back are the players that they were, and nobody else gets their numbers.
func TestAServerGoesOnWhereAnotherWas(t *testing.T) {
	c := newCourt(t, nil)
	c.join(7, "ada")
	c.join(9, "grace")
	before, _ := c.play(120)
	saved, err := c.server.Save()
	if err != nil || len(saved.Seats) != 2 || before[7] == world.Nobody {
		t.Fatalf("%+v, %v, %v", saved, before, err)
	}
	tick, hash := c.server.World().Tick(), c.server.World().Hash()
	if level, world := saved.Fits(pong.Title); level != nil || world != nil {
		t.Fatal(level, world)
	}
	if _, world := saved.Fits(crowd.Title); world == nil {
		t.Error("another game takes the world")
	}

	next := newCourt(t, saved)
	if w := next.server.World(); w.Tick() != tick || w.Hash() != hash {
		t.Fatalf("tick %d and hash %x, which were %d and %x", w.Tick(), w.Hash(), tick, hash)
	}
	next.join(11, "new")
	next.join(9, "grace")
	next.join(7, "ada")
	after, y := next.play(120)
	for _, id := range []uint64{7, 9} {
		if after[id] != before[id] || y[id] < pong.Height-pong.Reach-1 {
			t.Errorf("%d was player %d and is %d, at %v", id, before[id], after[id], y[id])
		}
		if name := next.server.Seat(id).Name; name != map[uint64]string{7: "ada", 9: "grace"}[id] {
			t.Errorf("%d is called %q", id, name)
		}
	}
	if p := after[11]; p != 3 {
		t.Errorf("the new one is player %d", p)
	}

	// Without a world the level begins anew, and everyone is who they were.
	saved.World = nil
	fresh := newCourt(t, saved)
	if w := fresh.server.World(); w.Tick() != 0 {
		t.Errorf("tick %d", w.Tick())
	}
	fresh.join(9, "grace")
	if who, y := fresh.play(120); who[9] != before[9] || y[9] < pong.Height-pong.Reach-1 {
		t.Errorf("%v, %v", who, y)
	}
}

// TestGoingOnFromNonsense: what was not saved by a server is refused.
func TestGoingOnFromNonsense(t *testing.T) {
	hub := mem.NewHub(mem.Options{})
	for name, v := range map[string]*server.Saved{
		"world":   {World: []byte("nothing of the kind")},
		"nobody":  {Seats: []server.SavedSeat{{Client: 1}}},
		"twice":   {Seats: []server.SavedSeat{{Client: 1, Player: 2}, {Client: 3, Player: 2}}},
		"too far": {Seats: []server.SavedSeat{{Client: 1, Player: 60000}}},
	} {
		l, err := hub.Open(netip.AddrPort{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = server.New(server.Options{Title: pong.Title, Links: []link.Link{l}, Resume: v})
		if err == nil {
			t.Errorf("%s: it was taken", name)
		}
		_ = l.Close()
	}
}

// TestGoingOnWithoutSomeone: a world was saved with a player who has no seat any more. The player
// leaves it, and whoever comes next is someone new.
func TestGoingOnWithoutSomeone(t *testing.T) {
	c := newCourt(t, nil)
	c.join(7, "ada")
	c.join(9, "grace")
	before, _ := c.play(120)
	saved, err := c.server.Save()
	if err != nil || len(saved.Seats) != 2 {
		t.Fatal(saved, err)
	}
	gone := saved.Seats[0].Player
	saved.Seats = saved.Seats[1:]
	next := newCourt(t, saved)
	if !next.server.World().Present(gone) {
		t.Fatal("the player has left before the first tick")
	}
	next.play(1)
	if w := next.server.World(); w.Present(gone) || !w.Present(saved.Seats[0].Player) {
		t.Errorf("player %d of %v is still there, or the other is not", gone, before)
	}
}
