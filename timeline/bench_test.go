package timeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
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

	judge  *ruled.Timeline // if there is one: it gets all in time, and rules
	ruling ruled.Ruling
	bytes  []byte
	sent   int
}

func newTraffic(b testing.TB, m maker, late world.Tick) *traffic {
	line, err := m.make(begin(b), timeline.Options{Margins: margins, HashEvery: -1},
		[]member.ID{1, 2})
	if err != nil {
		b.Fatal(err)
	}
	k := &traffic{line: line, late: late, waits: m.waits}
	if _, ok := line.(*ruled.Timeline); ok {
		if k.judge, err = ruled.New(begin(b),
			ruled.Options{Options: timeline.Options{HashEvery: -1}, Judge: true}); err != nil {
			b.Fatal(err)
		}
	}
	for p := range k.cmds {
		for i := range k.cmds[p] {
			a, _ := busy(world.Player(p+1), world.Tick(i))
			k.cmds[p][i] = image(a)
		}
	}
	for p := range k.cmds {
		k.send(b, 0,
			timeline.Command{
				Kind: timeline.Join, Tick: 1, Origin: member.ID(p%2 + 1),
				Player: world.Player(p + 1)})
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
	if k.judge != nil {
		if _, err := k.judge.Submit(now, c); err != nil {
			b.Fatal(err)
		}
	}
}

// step lets a tick pass.
func (k *traffic) step(b testing.TB) {
	k.tick++
	now := at(k.tick)
	for p := range k.cmds {
		c := timeline.Command{Tick: k.tick, Origin: member.ID(p%2 + 1), Player: world.Player(p + 1)}
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
			k.send(b, now,
				timeline.Command{Kind: timeline.Promise, Tick: k.tick - k.late, Origin: 2})
		}
	}
	if k.tick%8 == 0 { // beyond its window, and by leaps
		k.line.Hold(k.tick - min(k.tick, 30))
	}
	if k.judge != nil {
		k.rule(b, now)
	}
	if err := k.line.Advance(now); err != nil {
		b.Fatal(err)
	}
}

// rule lets the judge come as far, and sends what it ruled.
func (k *traffic) rule(b testing.TB, now time.Duration) {
	if err := k.judge.Advance(now); err != nil {
		b.Fatal(err)
	}
	for r := range k.judge.Rulings {
		k.bytes = r.Append(k.bytes[:0])
		k.sent += len(k.bytes)
		if err := k.ruling.Parse(game, k.bytes); err != nil {
			b.Fatal(err)
		}
		if _, err := k.line.(*ruled.Timeline).Rule(now, &k.ruling); err != nil {
			b.Fatal(err)
		}
	}
}

// everyone are all timelines that can be measured alike, as they come, held, and by rulings.
func everyone() []maker {
	out := makers()
	for _, m := range holders(0) {
		if m.name != "auto" { // making plans takes memory
			m.name += ", held"
			out = append(out, m)
		}
	}
	for _, held := range []bool{false, true} {
		name := "ruled"
		if held {
			name += ", held"
		}
		out = append(out,
			maker{name: name,
				make: func(start *world.World, o timeline.Options,
					_ []member.ID) (timeline.Timeline, error) {
					o.Held = held
					return ruled.New(start, ruled.Options{Options: o})
				}})
	}
	return out
}

// What a tick costs with half of the commands 50 ms late, all in; the game itself is small.
func BenchmarkAdvance(b *testing.B) {
	for _, m := range everyone() {
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
			if k.judge != nil {
				b.ReportMetric(float64(k.sent)/float64(k.tick), "ruled-B/tick")
			}
		})
	}
}

// Once everything has been as large as it gets, nothing is allocated, late commands and rollbacks
// included.
func TestNoAllocations(t *testing.T) {
	for _, m := range everyone() {
		k := newTraffic(t, m, 3)
		s := k.line.Stats()
		if s.Rollbacks+s.Returns == 0 && !m.waits && !strings.HasPrefix(m.name, "trailing 1") {
			t.Errorf("%s: nothing had to be repaired", m.name)
		}
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
	m := timeline.Model{
		Spread: &s, Tick: time.Second / 60, Rate: 360, Harm: 0.1, Step: 50 * time.Microsecond,
		Copy: 20 * time.Microsecond, Size: 1 << 20, Window: time.Second}
	for b.Loop() {
		if _, err := m.Plan(); err != nil {
			b.Fatal(err)
		}
	}
}
