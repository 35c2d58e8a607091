package gateway

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A player plays over real sockets, in real time, and the gateway ends in good order.
func TestSockets(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	listen := func() link.Link {
		l, err := udp.Listen("127.0.0.1:0", udp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	title, kept := walkTitle(), seamless.Memory()
	_, err := seamless.Found(ctx, seamless.FoundOptions{Title: title, Cluster: kept, Zones: 2})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	run, stop := context.WithCancel(ctx)
	lines := [2]link.Link{listen(), listen()}
	defer lines[0].Close()
	defer lines[1].Close()
	defer running.Wait() // before the links are closed
	defer stop()
	s, err := seamless.New(seamless.Options{Title: title, Cluster: kept, Link: lines[0],
		Keys: []token.Key{{1}}, Leave: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	running.Go(func() {
		if err := s.Run(run); err != nil {
			t.Error(err)
		}
	})
	door := listen()
	key := token.Key{2}
	g, err := New(ctx, Options{Public: door.LocalAddr(),
		Server:  server.Options{Title: title, Links: []link.Link{door}, Keys: []token.Key{key}},
		Cluster: seamless.Options{Cluster: kept, Link: lines[1], Keys: []token.Key{{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	running.Go(func() {
		if err := g.Run(run); err != nil {
			t.Error(err)
		}
		_ = g.Close()
	})
	to, err := token.Issue(key, token.Grant{Protocol: token.ProtocolID(title.Name()), Client: 1,
		Expires: time.Now().Unix() + 3600, Servers: []netip.AddrPort{door.LocalAddr()}}, plain(1))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Options{Title: title, Link: listen(), Token: to})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	k, born := newTrack(), time.Now()
	for k.id == world.None || len(k.me) < 60 || k.fired < 5 {
		v := c.Frame(time.Since(born), func(t world.Tick, me world.Player, w *world.World,
			in *world.Inputs) {
			k.walk(w, me, t, in)
		})
		if k.see(&v); v.Ended || ctx.Err() != nil {
			t.Fatal(v.Err, ctx.Err(), v.Phase, k.id)
		}
		time.Sleep(4 * time.Millisecond) // between frames
	}
	if k.most != 1 {
		t.Errorf("%d bodies at once", k.most)
	}
}
