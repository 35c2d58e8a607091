package mirrorlab

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/mirror"
)

// play lets bots play on mirrors, undisturbed, and measures.
func play(ctx context.Context, o *Options, p lab.Progress) (*Result, error) {
	f := newCluster(ctx, o, o.Seed)
	defer f.close()
	if err := f.assemble(o.Mirrors, o.Players, o.Mirrors*o.Players); err != nil {
		return nil, err
	}
	f.sample()
	what := fmt.Sprintf("%d mirrors with %d players each", o.Mirrors, o.Players)
	if err := f.Play(o.Warm, o.Time, f.begin, p, what); err != nil {
		return nil, err
	}
	return f.result(), nil
}

// begin starts to count.
func (f *cluster) begin() {
	f.players.begin()
	for _, s := range f.machines {
		s.from = s.totals()
	}
}

// machineTotals are what grows, of one mirror.
type machineTotals struct {
	Line    timeline.Stats
	Stats   mirror.Stats
	Traffic crimp.Ledger
	Socket  link.Counters
}

func (s *machine) totals() machineTotals {
	return machineTotals{
		s.mirror.TimelineStats(), s.mirror.Stats(), s.mirror.Traffic(), s.inner.Counters()}
}

const sampleEvery = 50 * time.Millisecond

// sample looks at all mirrors from time to time.
func (f *cluster) sample() {
	f.Net.Every(sampleEvery, func() {
		if f.On {
			f.clocks()
			for _, s := range f.alive() {
				f.r.Settled.Delay.add(s.mirror.SettledDelay())
				f.r.Rollbacks.Leading.add(s.leading())
			}
		}
	})
	var last Moment
	var bytes uint64
	f.Net.Every(time.Second, func() {
		var now Moment
		total, n := uint64(0), float64(len(f.alive()))
		for _, s := range f.machines {
			st := s.mirror.TimelineStats()
			now.Rollbacks += st.Rollbacks
			now.Retracted += s.mirror.Stats().Retracted
			total += s.inner.Counters().SentBytes
			if !s.dead && s.ended == nil {
				now.Settled += lab.Millis(s.mirror.SettledDelay()) / n
				now.Leading += lab.Millis(s.leading()) / n
			}
		}
		m := now
		m.Second = f.Net.Now().Seconds()
		m.Rollbacks, m.Retracted = max(now.Rollbacks-last.Rollbacks, 0),
			now.Retracted-min(now.Retracted, last.Retracted)
		m.KBits = float64(total-bytes) * 8 / 1000
		if bytes > 0 {
			f.r.Series = append(f.r.Series, m)
		}
		last, bytes = now, total
	})
}

// leading is how far behind the present the leading world is, taken to be in the middle of its
// tick.
func (s *machine) leading() time.Duration {
	line := s.mirror.Timeline()
	if line == nil {
		return 0
	}
	rate := time.Duration(s.Title.Game.Rate())
	at := time.Duration(line.Leading().Tick())*time.Second/rate + time.Second/rate/2
	return max(s.group()-at, 0)
}

// clocks holds the mirrors' idea of the group's time against each other.
func (f *cluster) clocks() {
	list := f.alive()
	mean := time.Duration(0)
	for _, s := range list {
		mean += s.group() / time.Duration(len(list))
	}
	for i, s := range list {
		off := (s.group() - mean).Abs()
		s.wrong = max(s.wrong, off)
		f.r.Clock.Error.add(off)
		bound := s.mirror.Clock().Bound
		f.r.Clock.Bound.add(bound)
		for _, o := range list[:i] {
			if (s.group() - o.group()).Abs() > bound+o.mirror.Clock().Bound {
				f.r.Clock.Beyond++
			}
		}
	}
}

func (f *cluster) result() *Result {
	r := f.head()
	sumUp(reflect.ValueOf(r))
	r.Seconds = (f.Net.Now() - f.Since).Seconds()
	r.Sight.PassedOver = lab.Per(f.passed, f.counted)
	r.Sight.Asked = lab.Millis(pathDelay(f.o.Between) + askedTicks*f.Title.Game.TickLength())
	r.Corrections.Kept = f.sum()
	r.Clock.DriftPPM = f.o.Drift
	b := &r.Rollbacks
	var all, warm timeline.Stats
	var events mirror.Stats
	repairs := 0
	var sees []*lab.Audience
	spent := time.Duration(0)
	for _, s := range f.machines {
		now := s.totals()
		d := lab.Less(now, s.from)
		row := MirrorRow{
			Name: s.name, Serving: lab.Millis(s.serving - s.began), Commands: d.Line.Commands,
			Late: d.Line.Late, Rollbacks: d.Line.Rollbacks,
			Packets: d.Stats.Sent, KBits: float64(d.Socket.SentBytes) * 8 / 1000 / r.Seconds,
			ClockError: lab.Millis(s.wrong), Rejoins: now.Stats.Rejoins,
		}
		if t := s.mirror.Timeline(); t != nil && !t.Delays().IsZero() {
			row.Delays = inMillis(t.Delays().List())
		}
		r.Each = append(r.Each, row)
		all, warm, events = lab.Sum(all, d.Line), lab.Sum(warm, s.from.Line),
			lab.Sum(events, d.Stats)
		b.Deepest = max(b.Deepest, now.Line.Deepest)
		repairs += s.repair.count
		sees = append(sees, s.sees)
		spent += s.spent
	}
	b.Commands, b.Late, b.Rollbacks, b.Seen, b.Refreshes = all.Commands, all.Late, all.Rollbacks,
		all.Seen, all.Refreshes
	b.Provisional, b.Retracted = events.Provisional, events.Retracted
	b.PerThousand = 1000 * lab.Per(b.Rollbacks, b.Commands)
	b.Warming = 1000 * lab.Per(warm.Rollbacks, warm.Commands)
	b.Depth = lab.Per(all.Depth, b.Rollbacks)
	b.StepsATick = lab.Per(all.Steps, all.Settled)
	b.Returns, b.ReturnDepth = lab.Per(all.Returns, all.Settled), lab.Per(all.Returned, all.Returns)
	b.PerMinute = float64(b.Retracted) / float64(len(f.machines)) / (r.Seconds / 60)
	r.Corrections.Repaired = float64(repairs) / r.Corrections.Minutes
	if f.o.Clock != nil {
		r.Processor = &Processor{
			Mirror: 1000 * lab.Millis(spent) / float64(max(all.Settled, 1)),
			Step:   1000 * lab.Millis(f.o.Step), Copy: 1000 * lab.Millis(f.o.Copy)}
	}
	r.Shown = lab.SumShown(sees...)
	r.Traffic = f.traffic(r.Seconds)
	if a, ok := f.machines[0].mirror.Timeline().(*timeline.Auto); ok && a.Plan() != nil {
		r.Plan = a.Plan().Explain()
	}
	return r
}

// head has the result say in which circumstances it was found.
func (f *cluster) head() *Result {
	o := f.o
	f.r.Setting = Setting{
		Game: f.Title.Name(), Seed: o.Seed, Mirrors: o.Mirrors, Players: o.Players,
		Timeline: o.Timeline, Delays: inMillis(o.Delays), TickRate: f.Title.Game.Rate(),
		Warm:    o.Warm.Seconds(),
		Between: networkText(o.Between), Near: networkText(o.Near),
		Path: lab.Millis(pathDelay(o.Between)), Digest: fmt.Sprintf("%016x", f.Net.Digest()),
	}
	return f.r
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
		out = append(out, lab.Millis(d))
	}
	return out
}
