package client

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
)

const wall = 1_700_000_000

// A house is a server on a simulated network that can be started anew, and lets people in.
type house struct {
	net    *netsim.Net
	end    *netsim.Endpoint
	server *server.Server
	key    token.Key
	starts byte
	issued byte
	guests int
	learn  *server.Learning
}

func seedOf(n uint64, parts ...byte) (s [32]byte) {
	for i := range 8 {
		s[i] = byte(n >> (8 * i))
	}
	copy(s[8:], parts)
	s[31] = 1
	return s
}

func newHouse(n *netsim.Net) (*house, error) {
	h := &house{net: n, end: n.Endpoint("server")}
	return h, h.start()
}

// start begins a life of the server, with a new key and a new world.
func (h *house) start() error {
	h.starts++
	h.key = token.Key(seedOf(h.net.Seed(), 1, h.starts))
	s, err := server.New(server.Options{Title: yardTitle, Links: []link.Link{h.end},
		Keys: []token.Key{h.key}, Workers: 1, Conn: conn.Options{
			Seed: seedOf(h.net.Seed(), 2, h.starts), Wall: wall}})
	if err != nil {
		return err
	}
	if h.learn != nil {
		s.Learn(*h.learn)
	}
	h.server = s
	from := h.net.Now()
	h.end.Every(yard.TickLength(), func() { _ = s.Tick(h.net.Now() - from) })
	return nil
}

type plain byte

func (r plain) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r) + byte(i)
	}
	return len(b), nil
}

// entry is what Join gives to someone who comes by a network.
func (h *house) entry(c netsim.Conditions) (Entry, error) {
	h.guests++
	h.issued++
	end := h.net.Endpoint(fmt.Sprint("guest", h.guests))
	h.net.Connect(end, h.end, c)
	t, err := token.Issue(h.key,
		token.Grant{Protocol: token.ProtocolID(yard.Name()), Client: 7, Expires: wall + 3600,
			Servers: []netip.AddrPort{h.end.PublicAddr()}}, plain(h.issued))
	return Entry{Link: end, Token: t}, err
}

// A guest plays by a session.
type guest struct {
	*Session
	asked int
	view  View
	began int
}

func (h *house) invite(c netsim.Conditions, o Options) *guest {
	g := &guest{}
	o.Title, o.Name = yardTitle, "ann"
	o.Conn.Seed, o.Conn.Wall, o.Conn.Timeout = seedOf(h.net.Seed(), 3), wall, 3*time.Second
	asked := make(chan struct{})
	g.Session = NewSession(SessionOptions{Options: o, Join: func(context.Context) (Entry, error) {
		defer close(asked)
		g.asked++
		return h.entry(c)
	}})
	h.net.Every(yard.TickLength(), func() {
		idle := g.asking == nil
		g.view = g.Frame(h.net.Now(), toAndFro)
		if idle && g.asking != nil { // simulated time waits for the goroutine
			<-asked
			asked = make(chan struct{})
		}
		if g.view.Began {
			g.began++
		}
	})
	return g
}

// TestSessionSurvivesRestart: the server is started anew, with another key and another world. The
// ticket is refused, Join is asked again, and the player is in the new world.
func TestSessionSurvivesRestart(t *testing.T) {
	for _, style := range []predict.Style{predict.Doom3, predict.None} {
		t.Run(style.String(), func(t *testing.T) {
			simtest.Run(t, 3, func(n *netsim.Net) error {
				h, err := newHouse(n)
				if err != nil {
					return err
				}
				defer func() { _ = h.server.Close() }()
				g := h.invite(netsim.WiFi, Options{Style: style, ConnectTimeout: 2 * time.Second})
				plays := func() bool {
					return g.Playing() && g.view.Status == "" &&
						body(g.view.World, g.view.Me) != nil
				}
				if !n.RunUntil(20*time.Second, plays) {
					return fmt.Errorf("never plays: %q", g.view.Status)
				}
				n.Run(2 * time.Second)
				for life := range 3 {
					h.end.Restart(time.Second)
					n.Run(1100 * time.Millisecond)
					if err := h.start(); err != nil {
						return err
					}
					if !n.RunUntil(60*time.Second,
						func() bool { return g.asked == life+2 && plays() }) {
						return fmt.Errorf("life %d: asked %d times, %q", life+2, g.asked,
							g.view.Status)
					}
					n.Run(2 * time.Second)
					if x := body(h.server.World(), g.view.Me); x == nil || g.began != life+2 ||
						g.Numbers().Worlds != uint64(life+2) {
						return fmt.Errorf("life %d: player %d, %d worlds began", life+2, g.view.Me,
							g.began)
					}
				}
				return nil
			})
		})
	}
}

// TestSessionEnds: there is no more to try for someone who was thrown out, or who left.
func TestSessionEnds(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		h, err := newHouse(n)
		if err != nil {
			return err
		}
		defer func() { _ = h.server.Close() }()
		g := h.invite(netsim.Cable, Options{})
		if !n.RunUntil(20*time.Second, g.Playing) {
			return fmt.Errorf("never plays: %q", g.view.Status)
		}
		n.Run(time.Second)
		h.server.Kick(h.server.Seat(7), "enough")
		n.Run(30 * time.Second)
		var end *EndError
		if !g.view.Ended || !errors.As(g.view.Err, &end) || end.Reason != wire.ReasonKicked ||
			end.Note != "enough" || g.asked != 1 {
			return fmt.Errorf("%+v, asked %d times", g.view, g.asked)
		}
		x := h.invite(netsim.Cable, Options{})
		if !n.RunUntil(20*time.Second, x.Playing) {
			return fmt.Errorf("never plays: %q", x.view.Status)
		}
		x.SetName("bob")
		n.Run(time.Second)
		if name := h.server.Seat(7).Name; name != "bob" {
			return fmt.Errorf("is called %q", name)
		}
		x.Leave()
		n.Run(time.Second)
		if !x.view.Ended || !errors.Is(x.view.Err, ErrOver) || h.server.Population().Players != 0 {
			return fmt.Errorf("%+v, %+v", x.view, h.server.Population())
		}
		return nil
	})
}

// TestSessionWaits: where there is no way in, Join is asked less and less often, and the player
// reads why.
func TestSessionWaits(t *testing.T) {
	var now time.Duration
	s := NewSession(SessionOptions{Options: Options{Title: yardTitle},
		Join: func(context.Context) (Entry, error) {
			return Entry{}, errors.New("nobody is there")
		}})
	defer s.Close()
	var waits []time.Duration
	last := time.Duration(-1)
	for len(waits) < 6 {
		before := s.asking
		v := s.Frame(now, nil)
		switch {
		case s.asking != nil && before == nil:
			if last >= 0 {
				waits = append(waits, now-last)
			}
			last = now
		case s.asking != nil:
			continue // until the goroutine has answered
		case last >= 0 && v.Status != "nobody is there; trying again":
			t.Fatalf("the player reads %q", v.Status)
		}
		now += 100 * time.Millisecond
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 8, 8} {
		if off := waits[i] - want*time.Second; off < 0 || off > 300*time.Millisecond {
			t.Errorf("waited %v before try %d", waits[i], i+2)
		}
	}
}
