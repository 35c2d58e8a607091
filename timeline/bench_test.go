package timeline_test

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A traffic is what four players do for some seconds, again and again, with the half of it late.
type traffic struct {
	line  timeline.Timeline
	cmds  [4][600][]int32
	tick  world.Tick
	late  world.Tick // by how many ticks the second mirror's come late
	seqs  [3]uint32
	waits bool
}

func newTraffic(b testing.TB, m maker, late world.Tick) *traffic {
	line, err := m.make(begin(b), timeline.Options{Margins: margins, HashEvery: -1}, []timeline.Mirror{1, 2})
	if err != nil {
		b.Fatal(err)
	}
	k := &traffic{line: line, late: late, waits: m.waits}
	for p := range k.cmds {
		for i := range k.cmds[p] {
			a, _ := busy(world.Player(p+1), world.Tick(i))
			k.cmds[p][i] = image(a)
		}
	}
	for p := range k.cmds {
		k.send(b, 0, timeline.Command{Kind: timeline.Join, Tick: 1, Origin: timeline.Mirror(p%2 + 1), Player: world.Player(p + 1)})
	}
	for range 1200 { // until all memory is there
		k.step(b)
	}
	return k
}

func (k *traffic) send(b testing.TB, now time.Duration, c timeline.Command) {
	if c.Kind != timeline.Promise {
		k.seqs[c.Origin]++
	}
	c.Seq = k.seqs[c.Origin]
	if _, err := k.line.Submit(now, c); err != nil {
		b.Fatal(err)
	}
}

// step lets a tick pass.
func (k *traffic) step(b testing.TB) {
	k.tick++
	now := at(k.tick)
	for p := range k.cmds {
		c := timeline.Command{Tick: k.tick, Origin: timeline.Mirror(p%2 + 1), Player: world.Player(p + 1)}
		if c.Origin == 2 {
			if k.tick <= k.late {
				continue
			}
			c.Tick -= k.late
		}
		c.Image = k.cmds[p][int(c.Tick)%len(k.cmds[p])]
		k.send(b, now, c)
	}
	if k.waits {
		k.send(b, now, timeline.Command{Kind: timeline.Promise, Tick: k.tick, Origin: 1})
		if k.tick > k.late {
			k.send(b, now, timeline.Command{Kind: timeline.Promise, Tick: k.tick - k.late, Origin: 2})
		}
	}
	if err := k.line.Advance(now); err != nil {
		b.Fatal(err)
	}
}

// What a tick costs with half of the commands 50 ms late, all in; the game itself is small.
func BenchmarkAdvance(b *testing.B) {
	for _, m := range makers() {
		b.Run(m.name, func(b *testing.B) {
			k := newTraffic(b, m, 3)
			b.ReportAllocs()
			for b.Loop() {
				k.step(b)
			}
			s := k.line.Stats()
			b.ReportMetric(float64(s.Steps)/float64(k.tick), "steps/tick")
			b.ReportMetric(float64(s.CopiedBytes)/float64(k.tick), "copied-B/tick")
			b.ReportMetric(float64(s.Held), "held-B")
		})
	}
}

// Once everything has been as large as it gets, nothing is allocated, late commands and rollbacks included.
func TestNoAllocations(t *testing.T) {
	for _, m := range makers() {
		k := newTraffic(t, m, 3)
		least := 1e9
		for range 5 { // the runtime has some of its own now and then
			least = min(least, testing.AllocsPerRun(60, func() { k.step(t) }))
		}
		if least > 0 {
			t.Errorf("%s: %v allocations a tick", m.name, least)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	var s timeline.Spread
	for i := range 1000 {
		s.Add(time.Duration(i%90) * time.Millisecond)
	}
	m := timeline.Model{Spread: &s, Tick: time.Second / 60, Rate: 360, Harm: 0.1, Step: 50 * time.Microsecond, Copy: 20 * time.Microsecond, Size: 1 << 20, Window: time.Second}
	for b.Loop() {
		if _, err := m.Plan(); err != nil {
			b.Fatal(err)
		}
	}
}
