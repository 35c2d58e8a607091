package mirror

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/netsim"
)

// TestLife: the ways through a mirror's life, and what users see.
func TestLife(t *testing.T) {
	for _, way := range []struct {
		to   []state
		want string
	}{
		{[]state{serving, leaving, out}, "serving leaving out"},
		{[]state{waiting, serving, cutOff, reunited, waiting, serving},
			"waiting serving suspended suspended waiting serving"},
		{[]state{waiting, cutOff, reunited, cutOff, reunited, serving},
			"waiting suspended suspended suspended suspended suspended"},
		{[]state{waiting, serving, spoiled, released, joining, waiting},
			"waiting serving serving serving joining waiting"},
		{[]state{serving, spoiled, cutOff, serving, joining},
			"serving serving suspended suspended joining"},
		{[]state{serving, spoiled, waiting, serving}, "serving serving waiting serving"},
		// none of which is possible
		{[]state{waiting, released, reunited, joining}, "waiting waiting waiting waiting"},
		{[]state{serving, leaving, spoiled, joining, failing, serving, out, joining},
			"serving leaving leaving leaving leaving leaving out out"},
	} {
		var l life
		got := ""
		for _, s := range way.to {
			l.to(s)
			got += fmt.Sprint(l.phase, " ")
		}
		if got != way.want+" " {
			t.Errorf("%v: %s; want %s", way.to, got, way.want)
		}
	}
}

// few is the first seeds, fewer of them where a simulated network, which is one goroutine, is
// raced.
func few(n uint64) iter.Seq[uint64] {
	if testing.Short() {
		n = (n + 5) / 6
	}
	return func(yield func(uint64) bool) {
		for seed := uint64(1); seed <= n && yield(seed); seed++ {
		}
	}
}

// TestLastKeepsTheWorld: a mirror that cannot go on with its world while the only other one dies
// keeps it after all: it is the only one there is. Who comes later is given it.
func TestLastKeepsTheWorld(t *testing.T) {
	for seed := range few(3) {
		n := netsim.New(netsim.Options{Seed: seed})
		f := tallyFleet(n, 2, 0, line)
		a, b := f.machines[0], f.machines[1]
		n.Run(time.Duration(500+seed*150) * time.Millisecond)
		b.kill()
		n.Run(time.Duration(800+seed*50) * time.Millisecond) // so that it is not asked to lead
		if a.mirror.again("it is a test"); a.mirror.life.state != spoiled {
			f.fail("another has the world, and a does not join anew: %d", a.mirror.life.state)
		}
		f.until(8*time.Second, "a serves alone",
			func() bool { return a.mirror.life.state == serving && f.whole() })
		n.Run(500 * time.Millisecond)
		if a.mirror.again("it is a test"); a.mirror.life.state != serving {
			f.fail("a has nowhere to go, and goes: %d", a.mirror.life.state)
		}
		b.start()
		f.until(heal, "both serve", f.whole)
		f.settles(10 * time.Second)
		if f.close(); f.err != nil {
			t.Error(f.err)
		}
	}
}

// TestAllWouldJoinAnew: whatever makes all mirrors of a group believe, at about the same time, that
// their worlds are worth nothing, one of them keeps its own, and the others are given that.
func TestAllWouldJoinAnew(t *testing.T) {
	for seed := range few(6) {
		n := netsim.New(netsim.Options{Seed: seed})
		f := tallyFleet(n, 2+int(seed%3), 0, line)
		n.Run(time.Second)
		for i, s := range f.machines {
			n.After(time.Duration(i*int(seed/2)*20)*time.Millisecond, func() {
				s.mirror.again("it is a test")
			})
		}
		n.Run(200 * time.Millisecond)
		kept := func() (n int) {
			for _, s := range f.machines {
				for _, k := range s.news {
					if k.Kind == Kept {
						n++
					}
				}
			}
			return n
		}
		f.until(heal, "all serve in one group", func() bool { return kept() > 0 && f.whole() })
		f.settles(10 * time.Second)
		if kept() != 1 {
			f.fail("%d have kept their world", kept())
		}
		if f.close(); f.err != nil {
			t.Error(f.err)
		}
	}
}

// TestGoneHoldsNothing: a mirror of which not all has come, but which is no member any more, is
// nobody to get the world from.
func TestGoneHoldsNothing(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1})
	f := tallyFleet(n, 1, 0, line)
	defer f.close()
	m := f.machines[0].mirror
	p := newPeer(7)
	p.started = true
	m.peers = m.peers.with(p)
	m.lost(&crimp.Event{Kind: crimp.GaveUp, Member: 7, Seq: 1})
	if m.life.state != serving {
		t.Errorf("the last mirror with a world has given it up: state %d", m.life.state)
	}
	if p.next != 2 {
		t.Errorf("what was lost is waited for: next is %d", p.next)
	}
}
