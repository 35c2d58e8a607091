package peers_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
)

// roster is who somebody sees, in short.
func (x *starSeat) roster() string {
	var list []string
	for _, m := range x.Members() {
		text := fmt.Sprint(m.Name, m.Player)
		switch {
		case m.Self:
			text += " self"
		case m.Open:
			text += " open"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// Everybody is told who takes part, how far away they are, and who is not there; as in a mesh.
func TestRelayedMembers(t *testing.T) {
	path := netsim.Both(netsim.Profile{Latency: 20 * time.Millisecond})
	s := starOf(t, 21, 3, peers.Match{Start: 3}, path, nil)
	s.sit("w", func(o *peers.RelayedOptions) { o.Watch = true })
	s.until("the watcher follows", 5*time.Second, s.allPlay)
	s.run(2 * time.Second)
	for i, want := range []string{"p01 self, p12 open, p23 open", "p01 open, p12 self, p23 open",
		"p01 open, p12 open, p23 self", "p01, p12, p23"} {
		if got := s.seats[i].roster(); got != want {
			t.Errorf("%s sees %s; want %s", s.seats[i].name, got, want)
		}
	}
	for _, m := range s.seats[0].Members() {
		if !m.Self && (m.RoundTrip < 80*time.Millisecond || m.RoundTrip > 95*time.Millisecond ||
			m.Silent > 100*time.Millisecond) {
			t.Errorf("%+v", m)
		}
	}
	if s.seats[0].Style() != peers.Rollback() || s.seats[0].Waiting() != 0 {
		t.Error(s.seats[0].Style(), s.seats[0].Waiting())
	}
	x := s.seats[2]
	x.crash()
	s.run(1500 * time.Millisecond)
	if m := s.seats[0].Members(); len(m) != 3 || m[2].Silent < time.Second ||
		m[2].Silent > 1500*time.Millisecond {
		t.Errorf("soon after a crash: %+v", m)
	}
	s.run(1500 * time.Millisecond)
	if got := s.seats[0].roster(); got != "p01 self, p12 open" {
		t.Errorf("of one that is absent, whose connection has not ended: %s", got)
	}
	s.run(5 * time.Second)
	if got := s.seats[0].roster(); got != "p01 self, p12 open" {
		t.Errorf("after a crash: %s", got)
	}
	x.restart()
	s.until("it plays again", 5*time.Second, s.allPlay)
	s.run(time.Second)
	if got := s.seats[0].roster(); got != "p01 self, p12 open, p23 open" {
		t.Errorf("after it has come back: %s", got)
	}
	// Who is cut off sees itself alone, and waits.
	s.net.Cut(x.end, s.at)
	s.run(2 * time.Second)
	if d := x.Waiting(); d < time.Second || d > 2*time.Second {
		t.Errorf("it waits for %v", d)
	}
	s.run(2 * time.Second)
	if got := x.roster(); got != "p01, p12, p23 self" {
		t.Errorf("who is cut off sees %s", got)
	}
}

// Who is cut off from all for most of its grace, the place where tokens come from included, comes
// back to the same body; and gives up when its body is gone.
func TestRelayedGoneForLong(t *testing.T) {
	s := starOf(t, 22, 2, peers.Match{Grace: 12 * time.Second}, netsim.Cable, nil)
	s.run(time.Second)
	x := s.seats[1]
	player, body := x.Player(), x.bodyOf(x.Player())
	for _, gone := range []time.Duration{11 * time.Second, 27 * time.Second} {
		s.net.Cut(x.end, s.at)
		s.mute = errors.New("no way there")
		s.net.RunUntil(gone, func() bool { return s.failed != nil })
		if gone > 20*time.Second {
			break
		}
		if s.failed != nil {
			t.Fatal(s.failed)
		}
		s.net.Heal(x.end, s.at)
		s.mute = nil
		s.until("it plays again", 10*time.Second, func() bool {
			return s.allPlay() && x.Copy().Known()+30 > s.seats[0].Copy().Known()
		})
		if x.Player() != player || x.bodyOf(player) != body {
			t.Errorf("it is player %d with %v", x.Player(), x.bodyOf(player))
		}
	}
	if s.failed == nil || !errors.Is(s.failed, s.mute) || x.Phase() != peers.Ended {
		t.Errorf("it has ended with %v", s.failed)
	}
}

// creates has somebody make a match of a mode with a relay, and tells its code.
func creates(t *testing.T, n *netsim.Net, at *netsim.Endpoint, o conn.ClientOptions,
	mode relay.Mode) relay.Code {
	t.Helper()
	o.Servers = []netip.AddrPort{at.PublicAddr()}
	c, err := relay.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	game := fmt.Sprintf("%s %016x", rules.Name(), rules.Hash())
	if err := c.Create(relay.Match{Game: game, Mode: mode}, relay.Entry{Name: "z"}); err != nil {
		t.Fatal(err)
	}
	var code relay.Code
	end, batch := n.Endpoint("z"), make([]link.Datagram, 16)
	n.Connect(end, at, netsim.LAN)
	end.Every(4*time.Millisecond, func() {
		k, _ := end.Receive(batch)
		c.Receive(n.Now(), batch[:k])
		for _, e := range c.Events() {
			switch e.Kind {
			case relay.Welcomed:
				code = e.Welcome.Code
			case relay.Met:
				t.Errorf("%s was let in", e.Peer.Name)
			}
		}
		_, _ = end.Send(c.Flush(n.Now(), nil))
	})
	n.RunUntil(5*time.Second, func() bool { return code != relay.Code{} })
	return code
}

// A code of a mesh is refused to one who plays by rows, and the other way around: with a reason,
// and without a seat being taken.
func TestCodeOfAnotherMode(t *testing.T) {
	s := newStar(t, netsim.New(netsim.Options{Seed: 23}), peers.Match{})
	o := conn.ClientOptions{Options: conn.Options{Seed: s.seed("z"), Wall: relayWall}}
	o.Token, _ = s.token()
	code := creates(t, s.net, s.at, o, relay.Mesh)
	s.sit("x", func(o *peers.RelayedOptions) { o.Code, o.Create, o.World = code, nil, nil })
	s.net.RunUntil(5*time.Second, func() bool { return s.failed != nil })
	var refused *peers.RefusedError
	if !errors.As(s.failed, &refused) || !strings.Contains(refused.Why, "is of mode mesh") {
		t.Errorf("by rows: %v", s.failed)
	}

	tb := newTable(t, netsim.New(netsim.Options{Seed: 23}), peers.Match{})
	at := tb.relay()
	o = conn.ClientOptions{Options: conn.Options{Seed: tb.seed("z"), Wall: 1_700_000_000}}
	o.Token = at.token(tb)
	code = creates(t, tb.net, at.at, o, relay.Rows)
	tb.sit("p0", nil)
	tb.sit("x", func(o *peers.Options) { o.Ask, o.Meeting = nil, at.meeting(tb, code) })
	tb.net.RunUntil(5*time.Second, func() bool { return tb.failed != nil })
	if !errors.As(tb.failed, &refused) || !strings.Contains(refused.Why, "is of mode rows") {
		t.Errorf("in a mesh: %v", tb.failed)
	}
}
