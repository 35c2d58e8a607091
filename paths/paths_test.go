package paths

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

var cable = netsim.Conditions{
	Up: netsim.Profile{Latency: 20 * time.Millisecond}, Down: netsim.Profile{
		Latency: 20 * time.Millisecond}}

// TestStartsCarried: the first datagram of a pair goes over the relay, and a round trip later all
// go directly.
func TestStartsCarried(t *testing.T) {
	simtest.Run(t, 3, func(n *netsim.Net) error {
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
	simtest.Run(t, 5, func(n *netsim.Net) error {
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
