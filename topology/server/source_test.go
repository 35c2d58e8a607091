package server

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
)

// joinAt makes a client with an address of its own choice.
func (s *sim) joinAt(addr string, id uint64) *bot {
	b := &bot{sim: s, id: id, careless: true,
		end: s.net.EndpointAt(fmt.Sprint("client ", id), netip.MustParseAddrPort(addr))}
	s.net.Connect(b.end, s.end, netsim.Cable)
	b.start(client.Options{}, s.token(id))
	b.end.Every(yard.TickLength(), func() {
		if b.ended == nil {
			b.ended = b.frame()
		}
	})
	return b
}

// reason is why a client's connection ended.
func (b *bot) reason() conn.Reason {
	var end *client.EndError
	if errors.As(b.ended, &end) {
		return end.Reason
	}
	return conn.ReasonNone
}

// TestOneAddress: someone with any number of tokens and one address wants all seats. They get a
// share, and when they have gone without a word the seats that are kept for them go to newcomers;
// but not the seat of one who was alone at an address.
func TestOneAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	for _, x := range []struct{ name, thief string }{
		{"IPv4", "203.0.113.66:%d"}, {"a network of IPv6", "[2001:db8:1:2::%x]:9"},
	} {
		t.Run(x.name, func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error { return oneAddress(n, x.thief) })
		})
	}
}

func oneAddress(n *netsim.Net, thief string) error {
	s, err := newSim(n, Options{Title: near(0), Players: 8, Spectators: -1})
	if err != nil {
		return err
	}
	defer s.close()
	var thieves []*bot
	for i := range 20 {
		thieves = append(thieves, s.joinAt(fmt.Sprintf(thief, i+1), uint64(100+i)))
	}
	n.Run(3 * time.Second)
	in := 0
	for _, b := range thieves {
		switch {
		case b.Phase() == client.Playing:
			in++
		case b.reason() != conn.ReasonCrowded:
			s.fail("a thief ended with %v", b.ended)
		}
	}
	if in != 4 { // a quarter, and at least 4
		s.fail("one address has %d seats", in)
	}
	var honest []*bot
	for i := range 4 {
		honest = append(honest, s.joinAt(fmt.Sprintf("198.51.100.%d:7", i+1), uint64(i+1)))
	}
	n.Run(2 * time.Second)
	for i, b := range honest {
		if b.Phase() != client.Playing {
			s.fail("honest client %d is %v: %v", i, b.Phase(), b.ended)
		}
	}
	late := s.joinAt("198.51.100.9:7", 9)
	n.Run(2 * time.Second)
	if late.Phase() == client.Playing {
		s.fail("there is a ninth of eight seats")
	}
	// The thieves and one honest player vanish.
	for _, b := range append(thieves, honest[0]) {
		b.end.Pause()
	}
	n.Run(12 * time.Second)
	var newcomers []*bot
	for i := range 5 {
		newcomers = append(newcomers,
			s.joinAt(fmt.Sprintf("198.51.100.%d:7", i+20), uint64(i+20)))
	}
	n.Run(3 * time.Second)
	in = 0
	for _, b := range newcomers {
		if b.Phase() == client.Playing {
			in++
		}
	}
	// The last of the thieves' seats is kept like anyone's.
	if in != 3 || s.server.Stats().GaveWay != 3 {
		s.fail("%d newcomers are in, %d seats were given up", in, s.server.Stats().GaveWay)
	}
	honest[0].end.Resume() // its client comes back by itself
	n.Run(3 * time.Second)
	if honest[0].Phase() != client.Playing || s.count(Returned) != 1 {
		s.fail("the one who was away is %v, %d returned", honest[0].Phase(), s.count(Returned))
	}
	if st := s.server.Stats(); st.Crowded == 0 && !refused(s.server, conn.ReasonCrowded) {
		s.fail("nothing was counted: %+v", st)
	}
	return s.err
}

func refused(s *Server, why conn.Reason) bool {
	for _, st := range s.ConnStats {
		if st.Refusals[why] > 0 {
			return true
		}
	}
	return false
}

// TestPartyAtOneAddress: an operator may let all come from one address, and someone who comes again
// takes the seat of one who is away.
func TestPartyAtOneAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	for _, x := range []struct{ limit, in int }{{-1, 8}, {6, 6}} {
		simtest.Run(t, 1, func(n *netsim.Net) error {
			s, err := newSim(n, Options{Title: near(0), Players: 8, Spectators: -1,
				Limits: Limits{PerAddress: x.limit}})
			if err != nil {
				return err
			}
			defer s.close()
			var list []*bot
			for i := range 9 {
				list = append(list, s.joinAt(fmt.Sprintf("203.0.113.66:%d", i+1), uint64(i+1)))
			}
			n.Run(3 * time.Second)
			if p := s.server.Population(); p.Players != x.in {
				s.fail("%+v with a limit of %d", p, x.limit)
			}
			i := slices.IndexFunc(list, func(b *bot) bool { return b.Phase() == client.Playing })
			list[i].end.Pause()
			n.Run(12 * time.Second)
			again := s.joinAt("203.0.113.66:50", 50)
			n.Run(3 * time.Second)
			if again.Phase() != client.Playing {
				s.fail("who comes again is %v: %v", again.Phase(), again.ended)
			}
			return s.err
		})
	}
}

// remotes is a link that knows other addresses of its peers than those that it names them by.
type remotes struct {
	*websocket.Server
	real netip.AddrPort
}

func (r remotes) Remote(peer netip.AddrPort) (netip.AddrPort, bool) {
	_, ok := r.Server.Remote(peer)
	return r.real, ok
}

// TestRealAddress: the game's rules are told the real address of whoever comes by a browser, and
// limits count by it.
func TestRealAddress(t *testing.T) {
	web := remotes{websocket.NewServer(websocket.Options{}),
		netip.MustParseAddrPort("203.0.113.5:77")}
	site := httptest.NewServer(web)
	defer site.Close()
	var visitors []netip.AddrPort
	title := yardTitle(20, 100, 100)
	s, err := New(Options{Title: title, Links: []link.Link{web}, Players: 4, Workers: 1,
		Limits: Limits{PerAddress: 1},
		Rules: Rules{Admit: func(v Visitor) error {
			visitors = append(visitors, v.Addr)
			return nil
		}}})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	join := func(id uint64) error {
		ws, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(site.URL, "http"),
			websocket.Options{})
		must(t, err)
		var c *client.Client
		must(t, s.Do(ctx, func() {
			tok, e := s.Token(id, nil, time.Minute)
			if err = e; err == nil {
				c, err = client.New(client.Options{Title: title, Style: predict.None, Link: ws,
					Token: tok, Servers: []netip.AddrPort{ws.Peer()}})
			}
		}))
		must(t, err)
		came := make(chan error, 2)
		running.Go(func() {
			defer c.Close()
			came <- drive.Loop{Step: yard.TickLength(), Tick: func(now time.Duration) error {
				v := c.Frame(now, nil)
				if v.World != nil && len(came) == 0 {
					came <- nil
				}
				return v.Err
			}}.Run(t.Context())
		})
		return <-came
	}
	must(t, join(1))
	must(t, s.Do(ctx, func() {
		if a := s.Seat(1).Addr(); a != web.real {
			t.Errorf("the seat is at %v", a)
		}
		if len(visitors) != 1 || visitors[0] != web.real {
			t.Errorf("the rules were told of %v", visitors)
		}
	}))
	var end *client.EndError
	if err := join(2); !errors.As(err, &end) || end.Reason != conn.ReasonCrowded {
		t.Errorf("a second of one address: %v", err)
	}
	stop()
	running.Wait()
	must(t, s.Close())
}
