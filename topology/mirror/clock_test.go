package mirror

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"pgregory.net/rapid"
)

// A town is several clocks that tell each other the time over paths of different length.
type town struct {
	clocks []*clock
	skew   []time.Duration // of each machine's own time
	drift  []float64       // parts in a million
	lie    []time.Duration // that it adds when it tells the time
	paths  [][]time.Duration
	now    time.Duration
	mail   []letter
	told   []time.Duration
	turn   []int
}

type letter struct {
	at, group time.Duration
	from, to  int
	raw       uint32
	echo      bool
	sure      bool
	echoRaw   uint32
	held      time.Duration
}

func newTown(n int, paths func(i, j int) time.Duration) *town {
	t := &town{skew: make([]time.Duration, n), drift: make([]float64, n),
		lie: make([]time.Duration, n), told: make([]time.Duration, n), turn: make([]int, n)}
	for i := range n {
		c := newClock()
		t.clocks = append(t.clocks, &c)
		t.paths = append(t.paths, make([]time.Duration, n))
		for j := range n {
			t.paths[i][j] = paths(i, j)
		}
	}
	for i, c := range t.clocks {
		for j := range t.clocks {
			if i != j {
				c.peer(member.ID(j + 1))
			}
		}
	}
	return t
}

// machine is what a machine's own clock says.
func (t *town) machine(i int) time.Duration {
	return t.now + t.skew[i] + time.Duration(float64(t.now)*t.drift[i]/1e6)
}

// run lets time pass in steps of 4 ms; each tells one other the time ten times a second.
func (t *town) run(d time.Duration) {
	for end := t.now + d; t.now < end; t.now += 4 * time.Millisecond {
		for i, c := range t.clocks {
			c.advance(t.machine(i), 1)
		}
		rest := t.mail[:0]
		for _, m := range t.mail {
			if m.at > t.now {
				rest = append(rest, m)
				continue
			}
			c, id := t.clocks[m.to], member.ID(m.from+1)
			c.heard(id, m.raw)
			if m.echo {
				c.echoed(id, m.echoRaw, m.held, m.group, m.sure)
			}
		}
		t.mail = rest
		for i, c := range t.clocks {
			if t.now-t.told[i] < 100*time.Millisecond/time.Duration(len(t.clocks)) {
				continue
			}
			t.told[i] = t.now
			t.turn[i] = (t.turn[i] + 1) % len(t.clocks)
			for j := range t.clocks {
				if j == i {
					continue
				}
				m := letter{
					at: t.now + t.paths[i][j], from: i, to: j, raw: c.raw(), group: c.telling() +
						t.lie[i], sure: !c.unsure}
				if p := c.peers[member.ID(j+1)]; p.heard && j == t.turn[i] {
					m.echo, m.echoRaw, m.held = true, p.raw, c.local-p.came
				}
				t.mail = append(t.mail, m)
			}
		}
	}
}

// spread is how far the furthest of some clocks are apart.
func (t *town) spread(of ...int) time.Duration {
	lo, hi := t.clocks[of[0]].now(), t.clocks[of[0]].now()
	for _, i := range of {
		lo, hi = min(lo, t.clocks[i].now()), max(hi, t.clocks[i].now())
	}
	return hi - lo
}

func all(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

func TestClocksAgree(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(r, "mirrors")
		way := rapid.IntRange(1, 120).Draw(r, "path")
		town := newTown(n,
			func(i, j int) time.Duration { return time.Duration(way) * time.Millisecond })
		for i := range n {
			town.skew[i] = time.Duration(rapid.IntRange(0, 5000).Draw(r, "skew")) * time.Millisecond
			town.drift[i] = float64(rapid.IntRange(-200, 200).Draw(r, "drift"))
			if i == 0 {
				town.clocks[0].advance(town.machine(0), 1)
				town.clocks[0].set(0)
			} else {
				town.clocks[i].doubt()
			}
		}
		town.run(10 * time.Second)
		if s := town.spread(all(n)...); s > 3*time.Millisecond {
			r.Fatalf("clocks of %d mirrors %d ms apart differ by %v", n, way, s)
		}
		before := town.clocks[0].now()
		town.run(time.Second)
		if d := town.clocks[0].now() - before - time.Second; d > 20*time.Millisecond ||
			d < -20*time.Millisecond {
			r.Fatalf("a second took %v", time.Second+d)
		}
	})
}

// TestClockUneven: what cannot be known is which way takes longer; the error stays within half of
// the difference.
func TestClockUneven(t *testing.T) {
	town := newTown(3, func(i, j int) time.Duration {
		if i < j {
			return 60 * time.Millisecond
		}
		return 20 * time.Millisecond
	})
	for i, c := range town.clocks {
		c.advance(town.machine(i), 1)
		c.set(0)
	}
	town.run(20 * time.Second)
	if s := town.spread(0, 1, 2); s > 41*time.Millisecond {
		t.Errorf("clocks differ by %v, more than the ways do", s)
	}
	if r := town.clocks[1].report(1); r.Bound < 39*time.Millisecond ||
		r.Bound > 50*time.Millisecond {
		t.Errorf("bound %v, want half of the round trip of 80 ms", r.Bound)
	}
}

// TestClockJumps: one machine's clock jumps by seconds. It takes no part until the others have told
// it the time, and theirs is not disturbed.
func TestClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{
		5 * time.Second, -5 * time.Second, 700 * time.Millisecond} {
		town := newTown(3, func(i, j int) time.Duration { return 30 * time.Millisecond })
		for i, c := range town.clocks {
			c.advance(town.machine(i), 1)
			c.set(0)
		}
		town.run(5 * time.Second)
		town.skew[2] += jump
		before := town.clocks[0].now()
		town.run(8 * time.Millisecond)
		if !town.clocks[2].unsure || town.clocks[2].jumps != 1 {
			t.Errorf("jump by %v: the clock is sure of itself", jump)
		}
		town.run(5 * time.Second)
		if town.clocks[2].unsure || town.spread(0, 1, 2) > 5*time.Millisecond {
			t.Errorf("jump by %v: clocks differ by %v afterwards", jump, town.spread(0, 1, 2))
		}
		if d := town.clocks[0].now() - before - 5008*time.Millisecond; d > 5*time.Millisecond ||
			d < -5*time.Millisecond {
			t.Errorf("jump by %v: it moved another's time by %v", jump, d)
		}
	}
}

// TestClockLiar: a mirror that lies about the time leads nobody astray who can ask two others.
func TestClockLiar(t *testing.T) {
	town := newTown(4, func(i, j int) time.Duration { return 20 * time.Millisecond })
	for i, c := range town.clocks {
		c.advance(town.machine(i), 1)
		c.set(0)
	}
	town.run(2 * time.Second)
	town.lie[0] = 90 * time.Millisecond // the überserver itself
	before, real := town.clocks[1].now(), town.now
	town.run(20 * time.Second)
	if s := town.spread(1, 2, 3); s > 5*time.Millisecond {
		t.Errorf("the honest differ by %v", s)
	}
	if d := (town.clocks[1].now() - before) - (town.now - real); d > 200*time.Millisecond {
		t.Errorf("the honest were led %v ahead in 20 s", d)
	}
}

// TestClocksAllStall: all machines stand still at once, so that nobody is sure of anything; they go
// on together.
func TestClocksAllStall(t *testing.T) {
	for n := 2; n <= 4; n++ {
		town := newTown(n, func(i, j int) time.Duration { return 20 * time.Millisecond })
		for i, c := range town.clocks {
			c.advance(town.machine(i), 1)
			c.set(0)
		}
		town.run(3 * time.Second)
		for i := range town.skew {
			town.skew[i] += 900 * time.Millisecond
		}
		town.run(5 * time.Second)
		for i, c := range town.clocks {
			if c.unsure {
				t.Errorf("clock %d of %d is still unsure", i+1, n)
			}
		}
		if s := town.spread(all(n)...); s > 3*time.Millisecond {
			t.Errorf("%d clocks differ by %v", n, s)
		}
	}
}

// TestEnter: a machine that has run for longer than the group keeps the group's time, not its own.
func TestEnter(t *testing.T) {
	c := newClock()
	c.advance(0, 1)
	for now := time.Duration(0); now < time.Hour; now += 400 * time.Millisecond {
		c.advance(now, 1)
	}
	c.enter(3 * time.Second)
	if c.now() != 3*time.Second || !c.unsure {
		t.Fatalf("it is %v, unsure %v", c.now(), c.unsure)
	}
	c.peer(1)
	c.peer(2)
	for range clockSamples + 1 {
		for id := member.ID(1); id <= 2; id++ {
			c.echoed(id, c.raw(), 0, 10*time.Second, true)
		}
		c.advance(c.last+clockEvery, 1)
	}
	if c.unsure || c.now() > 12*time.Second {
		t.Errorf("it is %v, unsure %v", c.now(), c.unsure)
	}
}
