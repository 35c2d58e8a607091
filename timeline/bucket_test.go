package timeline_test

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/rivals"
	"github.com/coeval-dev/coeval/world"
)

// In time, a bucket of one tick is as good as anything. Late commands happen late, the newest of
// each player only, and the copies come apart.
func TestBucket(t *testing.T) {
	start := begin(t)
	run := func(late time.Duration, width int) (hashes map[world.Tick]uint64, s timeline.Stats,
		right map[world.Tick]uint64) {
		k := talk{ticks: 200, mirrors: 2, players: 2, do: busy,
			delay: func(m member.ID, n world.Tick) time.Duration {
				return time.Duration(m-1) * late
			}}
		m := maker{name: "bucket",
			make: func(start *world.World, o timeline.Options, _ []member.ID) (timeline.Timeline,
				error) {
				return rivals.NewBucket(start,
					rivals.BucketOptions{Options: o, Delay: 100 * time.Millisecond, Width: width})
			}}
		out, err := play(start, m, nil, k.script(), 200, nil)
		if err != nil {
			t.Fatal(err)
		}
		right, _ = oracle(start, k.script(), 200)
		if out.line.Exact() {
			t.Error("it promises what it cannot keep")
		}
		return out.hashes, out.stats, right
	}
	hashes, s, right := run(100*time.Millisecond, 1)
	for n := world.Tick(1); n <= 200; n++ {
		if hashes[n] != right[n] {
			t.Fatalf("in time, tick %d is wrong", n)
		}
	}
	if s.Late != 0 || s.Steps != s.Settled {
		t.Errorf("%+v", s)
	}
	hashes, s, right = run(150*time.Millisecond, 1)
	wrong := 0
	for n := world.Tick(1); n <= 200; n++ {
		if hashes[n] != right[n] {
			wrong++
		}
	}
	if s.Late == 0 || wrong < 150 || s.Rollbacks > 0 {
		t.Errorf("late: %d ticks are wrong, %+v", wrong, s)
	}
	if _, s, _ = run(0, 3); s.Executions > 200*4/3+8 {
		t.Errorf("buckets of three ticks executed %d commands of 4 players in 200 ticks",
			s.Executions)
	}
}

func TestBucketTakesTheNewest(t *testing.T) {
	line, err := rivals.NewBucket(begin(t), rivals.BucketOptions{Delay: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	submit := func(c timeline.Command, want timeline.Fate) {
		t.Helper()
		if f, err := line.Submit(0, c); f != want || err != nil {
			t.Errorf("%v is %v, %v; want %v", &c, f, err, want)
		}
	}
	give := func(n world.Tick, seq uint32, x int8) timeline.Command {
		return timeline.Command{Tick: n, Origin: 1, Seq: seq, Player: 1, Image: image(act{X: x})}
	}
	submit(timeline.Command{Kind: timeline.Join, Tick: 1, Origin: 1, Seq: 1, Player: 1},
		timeline.OnTime)
	if err := line.Advance(at(10) + 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	x := func() (x float64) {
		for _, r := range world.All[runner](line.Leading()) {
			x = r.Pos.X
		}
		return x
	}
	before := x()
	submit(give(8, 4, 1), timeline.Late)
	submit(give(7, 3, -1), timeline.Superseded) // older, and late
	submit(give(8, 4, 1), timeline.Duplicate)
	submit(give(9, 5, 0), timeline.Late) // newer: it takes the place
	submit(timeline.Command{Kind: timeline.Leave, Tick: 0, Origin: 1, Seq: 2, Player: 1},
		timeline.Superseded)
	if err := line.Advance(at(11) + 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if x() != before {
		t.Errorf("went from %v to %v", before, x())
	}
	submit(give(11, 6, 1), timeline.Late)
	submit(give(12, 7, 1), timeline.OnTime)
	if err := line.Advance(at(12) + 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if x() != before+0.25 {
		t.Errorf("went from %v to %v", before, x())
	}
}
