package storelab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/world"
)

// This file is how ticks with a database are compared with ticks without one.
//
// A second world is given what the first was: the same joins, answers and loads, so that it
// computes the same, trades included. It has no desk. The two are played in turn, a few seconds
// each, and the database rests while the second is: so whatever a database costs, also by the
// memory that it makes garbage of and by the caches that it takes, is in the one and not in the
// other. What others on the machine do comes and goes, so the figures are medians over rounds, with
// their spread.

// A Round is both worlds, one after the other: the p99 of their ticks in milliseconds.
type Round struct {
	ThreadWithout float64 `json:"thread_p99_without_ms"`
	ThreadWith    float64 `json:"thread_p99_with_ms"`
	WallWithout   float64 `json:"wall_p99_without_ms"`
	WallWith      float64 `json:"wall_p99_with_ms"`
}

// times are how long ticks took.
type times struct{ thread, wall []time.Duration }

// time times a tick.
func (t *times) time(f func() error) error {
	t0, c0 := time.Now(), lab.ThreadTime()
	err := f()
	t.thread = append(t.thread, lab.ThreadTime()-c0)
	t.wall = append(t.wall, time.Since(t0))
	return err
}

// both computes a tick of both worlds, while nothing is measured.
func (r *run) both() error {
	if err := r.tick(); err != nil {
		return err
	}
	return r.bare.Host().Step(r.in)
}

// load loads everything.
func (r *run) load(ctx context.Context, o Options, p lab.Progress) error {
	p.Tell(0, "loading")
	for r.loaded() < 2*o.Entities {
		if err := errors.Join(r.both(), ctx.Err(), r.failed()); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond) // nothing is measured yet
	}
	return nil
}

// play loads everything, and plays the rounds.
func (r *run) play(ctx context.Context, o Options, p lab.Progress, out *Row) error {
	if err := r.load(ctx, o, p); err != nil {
		return err
	}
	for _, w := range []*world.World{r.world, r.bare} {
		world.StateOf[fair](w).Trades = o.Trades
	}
	rate := r.game.Rate()
	pace := time.NewTicker(time.Second / time.Duration(rate))
	defer pace.Stop()
	for range 2 * rate { // until rows are written all the time
		<-pace.C
		if err := r.both(); err != nil {
			return err
		}
	}
	ticks := max(int(o.Time.Seconds()*float64(rate))/o.Rounds, 1)
	tape := make([]*world.Inputs, ticks)
	for i := range tape {
		tape[i] = r.game.NewInputs()
	}
	r.answers, r.shares = r.answers[:0], r.shares[:0]
	var rows, writes uint64
	var took time.Duration
	for k := range o.Rounds {
		p.Tell(float64(k)/float64(o.Rounds), out.Database)
		before, began := r.stats(), time.Now()
		var with, without times
		for i := range tape {
			<-pace.C
			if err := with.time(r.tick); err != nil {
				return err
			}
			_ = tape[i].CopyFrom(r.in) // they are of one game
		}
		after := r.stats()
		took += time.Since(began)
		rows, writes = rows+after.Rows-before.Rows, writes+after.Writes-before.Writes
		if err := r.rest(ctx); err != nil {
			return err
		}
		for i := range tape {
			<-pace.C
			step := func() error { return r.bare.Host().Step(tape[i]) }
			if err := without.time(step); err != nil {
				return err
			}
		}
		out.Each = append(out.Each, Round{part(without.thread, 0.99), part(with.thread, 0.99),
			part(without.wall, 0.99), part(with.wall, 0.99)})
	}
	if a, b := r.world.Hash(), r.bare.Hash(); a != b {
		return fmt.Errorf("the world without a database is another one at tick %d: %016x and %016x",
			r.world.Tick(), a, b)
	}
	out.Rows = float64(rows) / took.Seconds()
	out.Minute, out.RowsInBatch = 60*out.Rows, lab.Per(rows, writes)
	out.Asked, out.AnswerP50 = len(r.answers), partOf(r.answers, 0.5)
	out.AnswerP99, out.AnswerMax = partOf(r.answers, 0.99), partOf(r.answers, 1)
	out.DeskMean, out.DeskP99 = mean(r.shares), part(r.shares, 0.99)
	out.sum()
	return r.settle(ctx)
}

// mean is that of times, in milliseconds.
func mean(list []time.Duration) float64 {
	var sum time.Duration
	for _, d := range list {
		sum += d
	}
	return lab.Millis(sum) / float64(max(len(list), 1))
}

// rest waits until the store has done what it was given, while no tick gives it more.
func (r *run) rest(ctx context.Context) error {
	for {
		r.mu.Lock()
		rests := r.rests
		r.mu.Unlock()
		if err := errors.Join(ctx.Err(), r.failed()); err != nil || rests {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// sum makes one figure of those of all rounds.
func (r *Row) sum() {
	of := func(get func(*Round) float64) (median float64, spread string) {
		var list []float64
		for i := range r.Each {
			list = append(list, get(&r.Each[i]))
		}
		slices.Sort(list)
		return list[len(list)/2], fmt.Sprintf("%.2f to %.2f", list[0], list[len(list)-1])
	}
	r.ThreadWithout, r.ThreadWithoutSpread = of(func(x *Round) float64 { return x.ThreadWithout })
	r.ThreadWith, r.ThreadWithSpread = of(func(x *Round) float64 { return x.ThreadWith })
	r.WallWithout, r.WallWithoutSpread = of(func(x *Round) float64 { return x.WallWithout })
	r.WallWith, r.WallWithSpread = of(func(x *Round) float64 { return x.WallWith })
	r.Ratio, r.RatioSpread = of(func(x *Round) float64 {
		return lab.Ratio(x.ThreadWith, x.ThreadWithout)
	})
}
