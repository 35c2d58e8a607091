package mirror

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
)

// apart is the network between mirrors.
func apart(latency, jitter time.Duration, loss float64) netsim.Conditions {
	return netsim.Both(netsim.Profile{Latency: latency,
		Jitter: netsim.Jitter{Shape: netsim.Uniform, Amount: jitter}, Loss: loss})
}

// near is the network between clients and their mirror.
var near = apart(8*time.Millisecond, time.Millisecond, 0.001)

// TestThreeMirrors: three mirrors with players on each settle the same worlds.
func TestThreeMirrors(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			o := Options{Timeline: kind, Delays: kindDelays[kind]}
			simtest.Alone(t, 2, func(n *netsim.Net) error { return threeMirrors(t, n, o) })
		})
	}
}

// kindDelays fit the 40 ms between mirrors, where the defaults do not.
var kindDelays = map[string]kinds.Delays{
	"rollback":     {Most: 250 * time.Millisecond},
	"lockstep":     {Delays: timeline.Delays{Lead: 100 * time.Millisecond}},
	"conservative": {Delays: timeline.Delays{Lead: 80 * time.Millisecond}},
	"bucket":       {Delays: timeline.Delays{Lead: 100 * time.Millisecond}},
}

func threeMirrors(t *testing.T, n *netsim.Net, o Options) error {
	f := newFleet(n, o)
	defer f.close()
	road := apart(40*time.Millisecond, 5*time.Millisecond, 0.01)
	a := f.launch("a", road)
	n.Run(500 * time.Millisecond)
	b, c := f.launch("b", road), f.launch("c", road)
	f.until(5*time.Second, "all serve", f.whole)
	for i, s := range []*machine{a, b, c} {
		f.play(uint64(i+1)*10, s, near)
		f.play(uint64(i+1)*10+1, s, near)
	}
	f.until(5*time.Second, "all play", func() bool {
		for _, x := range f.bots {
			if !x.plays() {
				return false
			}
		}
		return true
	})
	n.Run(20 * time.Second)
	f.settles(5 * time.Second)
	if f.err != nil {
		return f.err
	}
	for _, s := range f.machines {
		st := s.mirror.TimelineStats()
		t.Logf("seed %d %s: %d commands, %d late, %d rollbacks (%.1f a thousand), settled %d "+
			"ticks; clock %+v; %+v", n.Seed(), s.name, st.Commands, st.Late, st.Rollbacks,
			st.RollbacksPerThousand(), st.Settled, s.mirror.Clock(), s.mirror.Stats())
		if s.mirror.Stats().TooLate+s.mirror.Stats().Differed > 0 {
			f.fail("%s: %+v", s.name, s.mirror.Stats())
		}
	}
	return f.err
}

// TestChatIsHeardEverywhere: what is said at one mirror is heard at the others, once.
func TestChatIsHeardEverywhere(t *testing.T) {
	simtest.Alone(t, 2, func(n *netsim.Net) error {
		f := fleetOf(n, 2, 1, road, Options{})
		defer f.close()
		f.bots[0].Say("hello over there")
		n.Run(time.Second)
		for _, b := range f.bots {
			if len(b.heard) != 1 || b.heard[0].Text != "hello over there" ||
				b.heard[0].Player != f.bots[0].Player() {
				f.fail("client %d heard %+v", b.id, b.heard)
			}
		}
		return f.err
	})
}
