package peerlab

import (
	"context"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// Run plays a match with each style, or has somebody join one late.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Clock != nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	if o.Join {
		return runJoin(ctx, &o)
	}
	r := &Result{Game: o.subject.Name(), Level: o.subject.Level, Players: o.Players,
		Rate: o.subject.Game.Rate(), Packets: o.Packets, Relay: o.Relay,
		Path: pathText(o.Conditions), Seed: o.Seed,
		Seconds: o.Time.Seconds()}
	step, err := solo(ctx, &o)
	if err != nil {
		return nil, err
	}
	for i, name := range o.Styles {
		row, series, err := play(ctx, &o, name, o.Progress.Nth(i, len(o.Styles)))
		if err != nil {
			return nil, err
		}
		row.Processor = lab.Ratio(row.Tick, step)
		r.Rows, r.Series = append(r.Rows, row), series
	}
	if r.Again, err = again(&o); err != nil {
		return nil, err
	}
	forced, err := Force(o.subject, o.Players, forcedTicks, o.Depth, o.Seed)
	if err != nil {
		return nil, err
	}
	r.Forced = &forced
	r.judge(&o)
	return r, nil
}

// forcedTicks is how many ticks are played with commands that are late on purpose.
const forcedTicks = 300

// play plays a match with one style.
func play(ctx context.Context, o *Options, name string, p lab.Progress) (Row, []Moment, error) {
	m := newMatch(ctx, o, o.subject.Game)
	defer m.close()
	m.style = o.style(name)
	m.world = o.newWorld
	m.bot = func(i int) game.Bot { return o.subject.NewBot(o.Seed*1000 + uint64(i)) }
	m.founds = peers.Match{Level: o.subject.Level, Seed: o.Seed, Seats: o.Players,
		Start: o.Players, Doom: name == Doom,
		Commit: name == Commit}
	for range o.Players {
		m.sit()
	}
	m.until(20*time.Second, "all play", m.playing)
	share := float64(o.Warm) / float64(o.Warm+o.Time)
	m.pass(o.Warm, p.Within(0, share), name)
	m.begin()
	m.pass(o.Time, p.Within(share, 1-share), name)
	if m.err != nil {
		return Row{}, nil, m.err
	}
	return m.row(name), m.series, nil
}

func (o *Options) newWorld() (*world.World, error) {
	settings, err := o.subject.Settings(o.subject.On(o.Seed))
	if err != nil {
		return nil, err
	}
	return o.subject.Game.New(settings)
}

// solo is what a step of the world takes on one machine, in microseconds, where all play there.
func solo(ctx context.Context, o *Options) (float64, error) {
	if o.Clock == nil {
		return 0, nil
	}
	m, err := lab.NewMatch(o.subject, o.Players, o.Seed)
	if err != nil {
		return 0, err
	}
	ticks := int(o.Time / o.subject.Game.TickLength())
	var spent time.Duration
	for range ticks {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := m.Prepare(); err != nil {
			return 0, err
		}
		before := o.Clock()
		err := m.World.Host().Step(m.In)
		spent += o.Clock() - before
		if err != nil {
			return 0, err
		}
	}
	return 1000 * lab.Millis(spent) / float64(ticks), nil
}

// What a line may take, with all headers, at 60 packets a second and at 20.
const (
	bytesAt60 = 3600
	bytesAt20 = 2000
)

// judge holds what was found against what should be reached.
func (r *Result) judge(o *Options) {
	add := func(what string, got float64, want string, reached bool) {
		r.Targets = append(r.Targets, lab.Target{What: what, Got: got, Want: want,
			Reached: reached})
	}
	for i := range r.Rows {
		x := &r.Rows[i]
		if x.Style == Rollback && o.Delay == "" {
			add("rollback: own input shown, ticks", x.OwnTicks, "at most 2", x.OwnTicks <= 2)
		}
		switch {
		case x.Style == Commit: // seals have no budget
		case x.Style == Doom && r.Packets < r.Rate: // it sends at every tick
		case r.Packets == 60:
			add(x.Style+": bytes a second on the line with the most", x.BytesMost, "at most 3600",
				x.BytesMost <= bytesAt60)
		case r.Packets == 20:
			add(x.Style+": bytes a second on the line with the most", x.BytesMost, "at most 2000",
				x.BytesMost <= bytesAt20)
		}
		if x.Relay != nil {
			x.Relay.budget(r, add)
		}
		add(x.Style+": settled worlds that differ", float64(x.Different), "0", x.Different == 0)
	}
	if a := r.Again; a != nil {
		add("allocations of computing 8 ticks again", a.Allocs, "0", a.Allocs == 0)
	}
}
