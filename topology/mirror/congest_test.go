package mirror

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
)

// narrow lets three mirrors with six players run over lines of some rate, and says how they did.
func narrow(rate int64, idle bool) (f *fleet, level float64, rejoins uint64) {
	n := netsim.New(netsim.Options{Seed: 21})
	f = newFleet(n, Options{})
	wide := netsim.Both(netsim.Profile{Latency: 20 * time.Millisecond})
	for i := range 3 {
		f.launch(string(rune('a'+i)), wide)
		n.Run(200 * time.Millisecond)
	}
	f.until(10*time.Second, "all serve", f.whole)
	for i := range 6 {
		f.play(uint64(i+1), f.machines[i%3], netsim.Both(netsim.Profile{Latency: time.Millisecond}))
	}
	n.Run(2 * time.Second)
	for _, s := range f.machines {
		s.mirror.congest.idle = idle
	}
	f.lines(rate)
	n.Run(7 * time.Second)
	for range 8 {
		n.Run(250 * time.Millisecond)
		for _, s := range f.machines {
			level += s.mirror.group.node.Group().Congestion() / 24
		}
	}
	for _, s := range f.machines {
		rejoins += s.mirror.Stats().Rejoins
	}
	return f, level, rejoins
}

// slowest is the longest way from one mirror to another, and the most that is lost on any.
func (f *fleet) slowest() (delay time.Duration, loss float64) {
	for _, s := range f.machines {
		for _, p := range s.mirror.peers {
			q, _ := s.mirror.group.node.Group().Quality(p.id)
			delay, loss = max(delay, q.Delay), max(loss, q.Loss)
		}
	}
	return delay, loss
}

// lines sets the rate of all lines between mirrors, in bits a second, with a queue of 8 KiB.
func (f *fleet) lines(rate int64) {
	for i, s := range f.machines {
		for _, other := range f.machines[:i] {
			f.net.Connect(s.between, other.between, netsim.Both(netsim.Profile{
				Latency: 20 * time.Millisecond, Rate: rate, Queue: 8 << 10}))
		}
	}
}

// TestNarrowLines: lines between mirrors carry less than mirrors send. They send less often until
// it fits, and as often as before when lines are wide again.
func TestNarrowLines(t *testing.T) {
	const rate = 60_000
	f, level, rejoins := narrow(rate, true)
	before, lost := f.slowest()
	t.Logf("lines of %d bit/s, if nothing is done: congestion %.2f, %v on the way, %.3f lost, %d "+
		"rejoins", rate, level, before, lost, rejoins)
	if level < congestHigh || rejoins == 0 {
		t.Error("these lines are not narrow")
	}
	f.close()
	f, level, rejoins = narrow(rate, false)
	defer f.close()
	after, lost := f.slowest()
	t.Logf("if mirrors act on it: congestion %.2f, %v on the way, %.3f lost, %d rejoins; every %v",
		level, after, lost, rejoins, f.machines[0].mirror.Congestion().SendEvery)
	if after > before/4 || lost > 0.01 || rejoins > 0 {
		t.Error("that is no better")
	}
	for _, s := range f.machines {
		r := s.mirror.Congestion()
		if r.SendEvery <= s.mirror.opt.SendEvery || r.SendEvery > 10*s.mirror.game.TickLength() ||
			r.Full {
			t.Errorf("%s: %+v", s.name, r)
		}
		if !slices.ContainsFunc(s.news, func(n News) bool { return n.Kind == Congested }) {
			t.Errorf("%s does not say that lines are congested", s.name)
		}
	}
	f.lines(0)
	f.until(20*time.Second, "all send as often as they should", func() bool {
		return !slices.ContainsFunc(f.machines, func(s *machine) bool {
			return s.mirror.sendEvery() != s.mirror.opt.SendEvery
		})
	})
	if f.err != nil {
		t.Error(f.err)
	}
}

// TestHopelessLines: where lines are so narrow that nothing helps, newcomers are sent away with a
// reason, those who play stay, and all is well when the lines are.
func TestHopelessLines(t *testing.T) {
	f, _, _ := narrow(30_000, false)
	defer f.close()
	shut := func(s *machine) bool {
		return s.mirror.Congestion().Full && s.mirror.Phase() == Serving
	}
	full := func() bool { return slices.ContainsFunc(f.machines, shut) }
	f.until(20*time.Second, "a mirror lets nobody in any more", full)
	if f.err != nil {
		t.Fatal(f.err)
	}
	at := slices.IndexFunc(f.machines, shut)
	late := f.play(9, f.machines[at], netsim.Both(netsim.Profile{Latency: time.Millisecond}))
	f.until(5*time.Second, "the newcomer is sent away", func() bool {
		return late.ended != nil || late.Phase() == client.Ended
	})
	if r := f.machines[at].mirror.Congestion(); r.Refused == 0 {
		t.Errorf("%+v, and the newcomer: %v", r, late.ended)
	}
	f.lines(0)
	f.until(30*time.Second, "all is well", func() bool { return !full() && f.whole() })
	in := f.play(10, f.machines[at], netsim.Both(netsim.Profile{Latency: time.Millisecond}))
	f.until(10*time.Second, "another newcomer plays", in.plays)
	if f.err != nil {
		t.Error(f.err)
	}
}
