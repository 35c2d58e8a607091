package trailinglab

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// row sums a run up, as the first mirror saw it.
func (r *run) row() (*Row, error) {
	m := r.mirrors[0]
	s := m.line.Stats()
	if s.GameErrors > 0 {
		return nil, s.GameError
	}
	n := r.job.network
	row := &Row{
		Name: r.job.name, Network: pathName(n), Latency: lab.Millis(n.Latency),
		Jitter: lab.Millis(n.Jitter.Amount),
		Counts: Counts{
			Commands: s.Commands, Late: s.Late, TooLate: s.TooLate, Executed: s.Executions,
			Steps: s.Steps, PerTick: s.Again(),
			Rollbacks: s.Rollbacks, PerCommand: s.RollbacksPerThousand(), Seen: s.Seen,
			Returns:   s.Returns,
			Corrected: s.Corrections, Deepest: s.Deepest, Copies: s.Copies,
		},
		Times: Times{
			StepMillis: lab.Millis(s.StepTime), CopyMillis: lab.Millis(s.CopyTime),
			TotalMillis:   lab.Millis(m.cpu),
			CommandMicros: 1000 * lab.Millis(s.StepTime) / float64(max(s.Executions, 1)),
			Memory:        memory(s.MostHeld),
		},
		Feel: Feel{
			Jump: s.Jump, MeanJump: s.Moved / float64(max(s.Jumps, 1)), Jumps: s.Jumps,
			Waited: lab.Millis(s.Waited),
			Delay:  lab.Millis(m.delay) / float64(max(m.shown, 1)), Promise: m.line.Exact(),
		},
	}
	if s.Rollbacks > 0 && s.Copies == s.Rollbacks {
		row.RollbackMicros = 1000 * lab.Millis(s.CopyTime) / float64(s.Rollbacks)
	}
	if d := m.line.Delays(); !d.IsZero() {
		row.Delays = wholeMillis(d.List())
	}
	row.Shown = lab.SumShown(r.mirrors[0].sees, r.mirrors[1].sees)
	row.ByEvent = nil
	// When the run ends the copies are at different ticks, so each counts its own.
	switch m.line.(type) {
	case *timeline.Trailing:
		row.PerTick *= float64(len(row.Delays))
		if s.Returns > 0 {
			row.PerTick = float64(s.Steps) / float64(m.line.Leading().Tick())
		}
	case *timeline.Auto: // which had now more and now fewer
		row.PerTick = float64(s.Steps) / float64(m.line.Leading().Tick())
	}
	if m.plan != nil {
		row.Plan = m.plan.Explain()
	}
	if err := r.judge(row); err != nil {
		return nil, err
	}
	row.Unlike = fmt.Sprintf("%.1f %%", 100*lab.Per(row.Differ, row.Settled))
	if row.Promise && row.Differ == 0 {
		row.Unlike = "never"
	}
	return row, nil
}

func wholeMillis(list []time.Duration) (out []int) {
	for _, d := range list {
		out = append(out, int(d/time.Millisecond))
	}
	return out
}

// judge compares every settled tick of each mirror with an oracle: one machine that had all that
// was stamped, in the order of its stamps, but for what was too late. It shares nothing with the
// timelines but the rule of that order.
func (r *run) judge(row *Row) error {
	sent := slices.Clone(r.sent)
	slices.SortStableFunc(sent, func(a, b timeline.Command) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Origin, b.Origin),
			cmp.Compare(a.Seq, b.Seq))
	})
	for _, m := range r.mirrors {
		w, in := r.b.start.Host().Clone(), r.b.title.Game.NewInputs()
		rest := sent
		for n := world.Tick(1); int(n) <= r.job.ticks && m.hashes[n] != 0; n++ {
			in.Reset()
			for ; len(rest) > 0 && rest[0].Tick == n; rest = rest[1:] {
				c := &rest[0]
				if m.tooLate[c.Origin][c.Seq] && m.line.Exact() {
					continue
				}
				var err error
				switch c.Kind {
				case timeline.Join:
					in.Join(c.Player)
				case timeline.Leave:
					in.Leave(c.Player)
				case timeline.Give:
					err = in.GiveImage(c.Player, c.Image)
				}
				if err != nil {
					return err
				}
			}
			if err := w.Host().Step(in); err != nil {
				return err
			}
			row.Settled++
			if w.Hash() != m.hashes[n] {
				row.Differ++
				row.Apart = max(row.Apart, apart(r.b.placesIn(w), m.places[n]))
			}
		}
	}
	for n := 1; n <= r.job.ticks; n++ {
		if a, b := r.mirrors[0].hashes[n], r.mirrors[1].hashes[n]; a != b && a != 0 && b != 0 {
			row.Mirrors++
		}
	}
	if row.Settled == 0 {
		return errors.New("nothing was settled")
	}
	row.Verified = !row.Promise || row.Differ == 0 &&
		(row.Mirrors == 0 || row.TooLate > 0 || r.mirrors[1].line.Stats().TooLate > 0)
	return nil
}

// apart is how far the player is away who is furthest from where they should be.
func apart(a, b []place) float64 {
	far := 0.0
	for _, p := range a {
		for _, q := range b {
			if p.player == q.player {
				d := math.Hypot(math.Hypot(p.at[0]-q.at[0], p.at[1]-q.at[1]), p.at[2]-q.at[2])
				far = max(far, d)
			}
		}
	}
	return far
}

// copySpeed is how fast a world is copied, against the same bytes in one piece.
func (b *bench) copySpeed() (float64, error) {
	to := b.large.Host().Clone()
	x, y := make([]byte, b.large.Host().Size()), make([]byte, b.large.Host().Size())
	for i := range x {
		x[i], y[i] = byte(i), 1
	}
	const rounds, times = 30, 20
	var worlds, plain lab.Timer
	var failed error
	for range rounds {
		worlds.Time(func() {
			for range times {
				failed = cmp.Or(failed, to.Host().CopyFrom(b.large))
			}
		})
		plain.Time(func() {
			for range times {
				copy(y, x)
			}
		})
	}
	return float64(plain.Best) / float64(max(worlds.Best, 1)), failed
}

// reach compares what was measured with what should be reached.
func (r *Result) reach(runs []Row, speed float64) {
	lan, covered := runs[0], runs[1]
	add := func(what, want string, got float64, ok bool) {
		r.Targets = append(r.Targets, lab.Target{What: what, Want: want, Got: got, Reached: ok})
	}
	add("two states (5,100) on a LAN: world steps a tick", "at most 2.05", lan.PerTick,
		lan.PerTick <= 2.05)
	add("two states (5,100) on a LAN: rollbacks for 1000 commands", "at most 4.4", lan.PerCommand,
		lan.PerCommand <= 4.4)
	add("leading delay covers the path (50,150,1000 at 50 ms): rollbacks", "0",
		float64(covered.Rollbacks), covered.Rollbacks == 0)
	add("... world steps a tick", "3, one for each state", covered.PerTick, covered.PerTick == 3)
	add("speed of copying a world, against plain memory", "at least 0.5", speed, speed >= 0.5)
	named := func(name string) int {
		return slices.IndexFunc(r.Rivals, func(r Row) bool { return r.Name == name })
	}
	// Of the two ways to warp time this is the cheaper.
	if i, j := named("trailing 0,100,1000"), named("time warp, repaired once a tick"); i >= 0 &&
		j >= 0 {
		tss, warp := &r.Rivals[i], &r.Rivals[j]
		cpu, memory := warp.CopyMillis/max(tss.CopyMillis, 1e-9),
			float64(warp.Memory)/float64(max(tss.Memory, 1))
		add("time warp's time for saving state, against trailing 0,100,1000",
			"at least 10, or ten times its memory", cpu, cpu >= 10 || memory >= 10)
		add("time warp's memory, against trailing 0,100,1000", "at least 10, or ten times its time",
			memory, cpu >= 10 || memory >= 10)
	}
	exact, broken := 0, 0
	for _, row := range slices.Concat(r.LAN, r.WAN, r.Rivals, r.Sweep, runs) {
		if row.Promise {
			exact++
			if !row.Verified {
				broken++
			}
		}
	}
	add("runs that promised exact worlds and broke it, of "+strconv.Itoa(exact), "0",
		float64(broken), broken == 0)
}
