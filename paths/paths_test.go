package paths

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

var cable = netsim.Conditions{
	Up: netsim.Profile{Latency: 20 * time.Millisecond}, Down: netsim.Profile{
		Latency: 20 * time.Millisecond}}

// TestStartsCarried: the first datagram of a pair goes over the relay, and a round trip later all
// go directly.
func TestStartsCarried(t *testing.T) {
	simtest.Run(t, 1, func(n *netsim.Net) error {
		n.Use(cable)
		g := newGroup(n, 3, true)
		g.start()
		n.Run(30 * time.Millisecond)
		if k := g.kind(0, 1); k != Relay {
			return fmt.Errorf("begins as %v", k)
		}
		n.Run(470 * time.Millisecond)
		for a := range 3 {
			for b := range 3 {
				if k := g.kind(a, b); a != b && k != Direct {
					return fmt.Errorf("%d to %d is %v", a+1, b+1, k)
				}
			}
		}
		carried := g.relay.carried
		g.look()
		n.Run(20 * time.Second)
		if g.relay.carried != carried {
			return fmt.Errorf("the relay still carries: %d", g.relay.carried-carried)
		}
		s := g.machines[0].paths.Stats()
		t.Logf("%+v", s)
		return g.lacking(60 * time.Millisecond)
	})
}

// cutTest cuts something in a group that runs, and says how long a pair was without datagrams at
// most.
func cutTest(t *testing.T, members int, relayed bool, longest time.Duration,
	cut func(g *group), want Kind) {
	t.Helper()
	simtest.Run(t, seeds(2, 100), func(n *netsim.Net) error {
		n.Use(cable)
		g := newGroup(n, members, relayed)
		g.start()
		n.Run(3*time.Second + n.Rand().Duration(time.Second))
		if k := g.kind(0, 1); k != Direct {
			return fmt.Errorf("before: %v", k)
		}
		g.look()
		cut(g)
		n.Run(4 * time.Second)
		if k := g.kind(0, 1); k != want {
			return fmt.Errorf("is %v, want %v", k, want)
		}
		if k := g.kind(1, 0); k != want {
			return fmt.Errorf("back is %v, want %v", k, want)
		}
		t.Logf("the longest time without a datagram: %v", g.longest())
		return g.lacking(longest)
	})
}

// changeover is how long a pair at 60 datagrams a second and 40 ms there and back is without
// datagrams at most when its path is cut: until it is noticed, and until the others' word came.
const changeover = 400 * time.Millisecond

func TestCutIsCarried(t *testing.T) {
	cutTest(t, 2, true, changeover, func(g *group) {
		g.net.Cut(g.machines[0].ep, g.machines[1].ep)
	}, Relay)
}

func TestCutOneWay(t *testing.T) {
	cutTest(t, 2, true, changeover, func(g *group) {
		g.net.CutOneWay(g.machines[0].ep, g.machines[1].ep)
	}, Relay)
}

func TestCutOverMember(t *testing.T) {
	cutTest(t, 3, false, changeover, func(g *group) {
		g.net.Cut(g.machines[0].ep, g.machines[1].ep)
	}, Over)
}

func TestCutOneWayOverMember(t *testing.T) {
	cutTest(t, 3, false, changeover, func(g *group) {
		g.net.CutOneWay(g.machines[0].ep, g.machines[1].ep)
	}, Over)
}

// TestSlowTraffic: pairs that send 20 a second, as many games do, are without datagrams no longer.
func TestSlowTraffic(t *testing.T) {
	simtest.Run(t, seeds(2, 100), func(n *netsim.Net) error {
		n.Use(cable)
		g := newGroup(n, 2, true)
		g.every = time.Second / 20
		g.start()
		n.Run(3*time.Second + n.Rand().Duration(time.Second))
		g.look()
		n.Cut(g.machines[0].ep, g.machines[1].ep)
		n.Run(3 * time.Second)
		return g.lacking(changeover + 50*time.Millisecond)
	})
}

// TestPause: a member that has nothing to send for a while is asked, and found where it was. It
// costs few bytes.
func TestPause(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 2, Conditions: cable})
	g := newGroup(n, 2, true)
	g.start()
	n.Run(3 * time.Second)
	g.machines[0].quiet = true
	before := g.machines[1].paths.Stats()
	n.Run(time.Minute)
	s := g.machines[1].paths.Stats()
	if k := g.kind(0, 1); k != Direct || g.kind(1, 0) != Direct {
		t.Errorf("is %v", k)
	}
	if most := uint64(maxAlarms); s.Silences-before.Silences > most {
		t.Errorf("%d alarms, at most %d", s.Silences-before.Silences, most)
	}
	if asks := s.Asks - before.Asks; asks > 60 {
		t.Errorf("%d asks in a minute", asks)
	}
}

// TestRelayOnly: a machine that can only reach the relay never sends anywhere else.
func TestRelayOnly(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 2, Conditions: cable})
	g := newGroup(n, 3, true)
	g.machines[0].paths = New(Options{Self: 1, RelayOnly: true})
	n.SetTrace(func(e netsim.Event) {
		if e.What == netsim.Sent && e.From == "m1" && e.To != "relay" {
			t.Fatalf("sends to %q", e.To)
		}
	})
	g.start()
	n.Run(time.Second)
	g.look()
	n.Run(2 * time.Second)
	if g.kind(0, 1) != Relay || g.kind(1, 0) != Relay || g.kind(1, 2) != Direct {
		t.Errorf("%v, %v, %v", g.kind(0, 1), g.kind(1, 0), g.kind(1, 2))
	}
	if err := g.lacking(60 * time.Millisecond); err != nil {
		t.Error(err)
	}
}

// TestBeginAnew: a machine that was restarted under the same keys, with a later time, is heard.
func TestBeginAnew(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 2, Conditions: cable})
	g := newGroup(n, 2, true)
	g.start()
	n.Run(5 * time.Second)
	m := g.machines[0]
	m.ep.OnRestart(func() {
		m.paths = New(Options{Self: 1, Seed: [32]byte{8}, Wall: 7})
		m.start()
	})
	m.ep.Restart(time.Second)
	n.Run(3 * time.Second)
	if g.kind(0, 1) != Direct || g.kind(1, 0) != Direct {
		t.Errorf("%v, %v", g.kind(0, 1), g.kind(1, 0))
	}
}

// TestForgotten: a member that was forgotten and is known again, under the same key, is heard.
func TestForgotten(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 2, Conditions: cable})
	g := newGroup(n, 2, true)
	g.start()
	n.Run(5 * time.Second)
	m := g.machines[0]
	m.paths.Remove(2)
	n.Run(time.Second)
	m.paths.Add(n.Now(), 2, pairKey(1, 2), nil)
	n.Run(time.Second)
	g.look()
	n.Run(time.Second)
	if g.kind(0, 1) != Direct || g.kind(1, 0) != Direct {
		t.Errorf("%v, %v", g.kind(0, 1), g.kind(1, 0))
	}
	if err := g.lacking(60 * time.Millisecond); err != nil {
		t.Error(err)
	}
}

// TestMany: sixteen machines behind routers find each other within the bytes that asks may take.
func TestMany(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 2, Conditions: cable})
	g := newGroup(n, 16, true)
	g.every = 50 * time.Millisecond
	for i, m := range g.machines {
		m.ep.Behind(n.Router(fmt.Sprint("home", i), netsim.NAT{Kind: netsim.PortRestricted}))
	}
	g.start()
	took := time.Duration(0)
	for done := false; !done && took < 10*time.Second; took += 100 * time.Millisecond {
		n.Run(100 * time.Millisecond)
		done = true
		for a := range g.machines {
			for b := range g.machines {
				done = done && (a == b || g.kind(a, b) == Direct)
			}
		}
	}
	s := g.machines[15].paths.Stats()
	t.Logf("all are direct after %v; the last made %d asks, %d were put off", took, s.Asks,
		s.Withheld)
	if took > 3*time.Second {
		t.Errorf("all are direct after %v", took)
	}
}

// TestDeadline: a machine that only looks when it is told to does all that is due, and is not told
// to look all the time.
func TestDeadline(t *testing.T) {
	a, b := New(Options{Self: 1, Seed: [32]byte{1}}), New(Options{Self: 2, Seed: [32]byte{2}})
	at := [2]netip.AddrPort{
		netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("192.0.2.2:1")}
	a.Add(0, 2, pairKey(1, 2), at[1:])
	b.Add(0, 1, pairKey(1, 2), at[:1])
	now, looks := time.Duration(0), 0
	for now < time.Minute {
		next := min(a.Deadline(), b.Deadline())
		if next < now {
			t.Fatalf("due at %v, it is %v", next, now)
		}
		now = next
		looks++
		// Nothing is under way for any time.
		for range 3 {
			for _, d := range a.Tick(now, nil) {
				b.Receive(now, []link.Datagram{{Addr: at[0], Data: d.Data}})
			}
			for _, d := range b.Tick(now, nil) {
				a.Receive(now, []link.Datagram{{Addr: at[1], Data: d.Data}})
			}
		}
	}
	x, _ := a.To(2)
	y, _ := b.To(1)
	if x.Kind != Direct || y.Kind != Direct || looks > 400 {
		t.Errorf("%v, %v, %d looks in a minute", x.Kind, y.Kind, looks)
	}
}
