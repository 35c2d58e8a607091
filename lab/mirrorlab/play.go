package mirrorlab

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// play lets bots play on mirrors, undisturbed, and measures.
func play(ctx context.Context, o *Options, tell func(what string, done float64)) (*Result, error) {
	f := newFleet(o, o.Seed)
	defer f.close()
	if err := f.assemble(ctx, o.Mirrors, o.Players, o.Mirrors*o.Players); err != nil {
		return nil, err
	}
	f.sample()
	what := fmt.Sprintf("%d mirrors with %d players each", o.Mirrors, o.Players)
	all := float64(o.Warm + o.Time)
	if err := f.pass(ctx, o.Warm, func(d float64) { tell(what, d*float64(o.Warm)/all) }); err != nil {
		return nil, err
	}
	f.begin()
	for _, s := range f.ships {
		s.from = s.marked()
	}
	if err := f.pass(ctx, o.Time, func(d float64) { tell(what, (float64(o.Warm)+d*float64(o.Time))/all) }); err != nil {
		return nil, err
	}
	return f.result(), nil
}

// A shipMark is what a mirror's counters were at a time.
type shipMark struct {
	line    timeline.Stats
	stats   mirror.Stats
	traffic crimp.Ledger
	socket  link.Counters
}

func (s *ship) marked() shipMark {
	return shipMark{s.mirror.TimelineStats(), s.mirror.Stats(), s.mirror.Traffic(), s.hull.Counters()}
}

const sampleEvery = 50 * time.Millisecond

// sample looks at all mirrors from time to time.
func (f *fleet) sample() {
	f.net.Every(sampleEvery, func() {
		if f.on {
			f.clocks()
			for _, s := range f.alive() {
				f.settledDelay.add(s.mirror.SettledDelay())
				f.leadingDelay.add(s.leading())
			}
		}
	})
	var last Moment
	var bytes uint64
	f.net.Every(time.Second, func() {
		var now Moment
		total, n := uint64(0), float64(len(f.alive()))
		for _, s := range f.ships {
			st := s.mirror.TimelineStats()
			now.Rollbacks += st.Rollbacks
			now.Retracted += s.mirror.Stats().Retracted
			total += s.hull.Counters().SentBytes
			if !s.dead && s.ended == nil {
				now.Settled += millis(s.mirror.SettledDelay()) / n
				now.Leading += millis(s.leading()) / n
			}
		}
		m := now
		m.Second = f.net.Now().Seconds()
		m.Rollbacks, m.Retracted = max(now.Rollbacks-last.Rollbacks, 0), now.Retracted-min(now.Retracted, last.Retracted)
		m.KBits = float64(total-bytes) * 8 / 1000
		if bytes > 0 {
			f.series = append(f.series, m)
		}
		last, bytes = now, total
	})
}

// leading is how far behind the present the leading world is, taken to be in the middle of its tick.
func (s *ship) leading() time.Duration {
	line := s.mirror.Timeline()
	if line == nil {
		return 0
	}
	rate := time.Duration(s.g.Game.Rate())
	at := time.Duration(line.Leading().Tick())*time.Second/rate + time.Second/rate/2
	return max(s.group()-at, 0)
}

// clocks holds the mirrors' idea of the group's time against each other.
func (f *fleet) clocks() {
	list := f.alive()
	mean := time.Duration(0)
	for _, s := range list {
		mean += s.group() / time.Duration(len(list))
	}
	for i, s := range list {
		off := (s.group() - mean).Abs()
		s.wrong = max(s.wrong, off)
		f.clockError.add(off)
		bound := s.mirror.Clock().Bound
		f.clockBound.add(bound)
		for _, o := range list[:i] {
			if (s.group() - o.group()).Abs() > bound+o.mirror.Clock().Bound {
				f.beyond++
			}
		}
	}
}

func (f *fleet) result() *Result {
	o := f.o
	r := f.head()
	r.Seconds = (f.net.Now() - f.since).Seconds()
	r.Sight = f.sighted()
	r.Corrections.Kept = f.sum()
	r.Settled = f.worlds.result()
	r.Settled.Delay = f.settledDelay.spread()
	r.Clock = Clocks{DriftPPM: o.Drift, Error: f.clockError.spread(), Bound: f.clockBound.spread(), Beyond: f.beyond}
	r.Series = f.series
	b := &r.Rollbacks
	b.Leading = f.leadingDelay.spread()
	depth, steps, ticks, warmRollbacks, warmCommands, repairs := 0, 0, 0, 0, 0, 0
	for _, s := range f.ships {
		now, then := s.marked(), s.from
		row := MirrorRow{
			Name: s.name, Serving: millis(s.serving - s.began), Commands: now.line.Commands - then.line.Commands, Late: now.line.Late - then.line.Late,
			Rollbacks: now.line.Rollbacks - then.line.Rollbacks, Packets: now.stats.Sent - then.stats.Sent,
			KBits: float64(now.socket.SentBytes-then.socket.SentBytes) * 8 / 1000 / r.Seconds, ClockError: millis(s.wrong), Rejoins: now.stats.Rejoins,
		}
		if t := s.mirror.Timeline(); t != nil && !t.Delays().IsZero() {
			row.Delays = inMillis(t.Delays().List())
		}
		r.Each = append(r.Each, row)
		b.Commands += row.Commands
		b.Late += row.Late
		b.Rollbacks += row.Rollbacks
		b.Seen += now.line.Seen - then.line.Seen
		b.Refreshes += now.line.Refreshes - then.line.Refreshes
		b.Provisional += now.stats.Provisional - then.stats.Provisional
		b.Retracted += now.stats.Retracted - then.stats.Retracted
		b.Deepest = max(b.Deepest, now.line.Deepest)
		depth += now.line.Depth - then.line.Depth
		steps += now.line.Steps - then.line.Steps
		ticks += now.line.Settled - then.line.Settled
		warmRollbacks += then.line.Rollbacks
		warmCommands += then.line.Commands
		repairs += s.repair.count
	}
	b.PerThousand = 1000 * float64(b.Rollbacks) / float64(max(b.Commands, 1))
	b.Warming = 1000 * float64(warmRollbacks) / float64(max(warmCommands, 1))
	b.Depth = float64(depth) / float64(max(b.Rollbacks, 1))
	b.StepsATick = float64(steps) / float64(max(ticks, 1))
	b.PerMinute = float64(b.Retracted) / float64(len(f.ships)) / (r.Seconds / 60)
	r.Corrections.Repaired = float64(repairs) / r.Corrections.Minutes
	r.Traffic = f.traffic(r.Seconds)
	if a, ok := f.ships[0].mirror.Timeline().(*timeline.Auto); ok && a.Plan() != nil {
		r.Plan = a.Plan().Explain()
	}
	return r
}

// head is what a result says of its circumstances.
func (f *fleet) head() *Result {
	o := f.o
	return &Result{
		Game: f.g.Name(), Seed: o.Seed, Mirrors: o.Mirrors, Players: o.Players, Timeline: o.Timeline, Delays: inMillis(o.Delays), TickRate: f.g.Game.Rate(), Warm: o.Warm.Seconds(),
		Between: networkText(o.Between), Near: networkText(o.Near), Path: millis(pathDelay(o.Between)), Digest: fmt.Sprintf("%016x", f.net.Digest()),
	}
}

func networkText(c netsim.Conditions) string {
	text := c.Up.String()
	if down := c.Down.String(); down != text {
		text += ", back " + down
	}
	if c.Name != "" && c.Name != text {
		text = c.Name + ": " + text
	}
	return text
}

func inMillis(list []time.Duration) []float64 {
	out := make([]float64, 0, len(list))
	for _, d := range list {
		out = append(out, millis(d))
	}
	return out
}
