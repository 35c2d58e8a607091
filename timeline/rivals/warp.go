package rivals

import (
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A warp is a leading world with snapshots of its past, to go back to: what TimeWarp and Rollback
// have in common.
type warp struct {
	timeline.Core
	every   world.Tick     // ticks between snapshots
	reach   world.Tick     // how far the leading world may be ahead of the settled one
	w       *world.World   // the leading one
	snaps   []*world.World // a ring of worlds at every so many ticks from start on
	sizes   []int          // of snaps
	sum     int            // of sizes
	history timeline.History
	dirty   world.Tick   // the first tick that has to be computed again, or 0
	final   *world.World // the settled one, where no snapshot is
}

// begin makes room for a leading world that is at most reach ticks ahead of the settled one, and
// for a book of some ticks more.
func (t *warp) begin(start *world.World, o timeline.Options, reach, every, more int,
	what string) error {
	n := reach/every + 3
	if err := t.Open(start, o,
		timeline.Room{Ticks: reach + more, Worlds: n + 2, What: what}); err != nil {
		return err
	}
	// a snapshot at or before the settled tick stays, and what leads from there on
	t.every, t.Remember = world.Tick(every), world.Tick(every)
	t.w, t.final = start.Host().Clone(), start.Host().Clone()
	t.history = timeline.NewHistory(reach + every + 4)
	for range n {
		t.snaps, t.sizes = append(t.snaps, start.Host().Clone()),
			append(t.sizes, start.Host().Size())
	}
	t.sum = n * start.Host().Size()
	return nil
}

// snap is where to find the last snapshot at or before a tick.
func (t *warp) snap(n world.Tick) int {
	return int((n - t.Start) / t.every % world.Tick(len(t.snaps)))
}

// advance computes what is due with a delay and at most reach ahead of what is settled, and settles
// what may be. After a long wait there is more to catch up with than there are snapshots, so
// settling keeps pace.
func (t *warp) advance(now, delay time.Duration, may func() world.Tick) error {
	return t.Each(now, func(passed time.Duration) {
		due := t.Clock.Due(t.Now - delay)
		for {
			t.run(max(min(due, t.Done()+t.reach), t.w.Tick()))
			before := t.Done()
			t.settle(may())
			if t.Err != nil || t.Done() == before || t.w.Tick() >= due {
				break
			}
		}
		t.Waited(t.w.Tick(), due, passed)
	})
}

// run brings the leading world to a tick.
func (t *warp) run(to world.Tick) {
	if t.dirty > 0 {
		t.rollback()
	}
	for t.w.Tick() < to {
		t.execute()
	}
}

// execute computes the next tick and keeps a snapshot where one is due.
func (t *warp) execute() {
	n := t.w.Tick() + 1
	in := t.Book.At(n)
	t.Step(t.w, in)
	t.Tell(&t.history, t.Observe(t.w, in))
	if (n-t.Start)%t.every == 0 {
		i := t.snap(n)
		t.Copy(t.snaps[i], t.w)
		t.sum -= t.sizes[i]
		t.sizes[i] = t.w.Host().Size()
		t.sum += t.sizes[i]
	}
}

// rollback goes back to before the first tick that was wrong and computes everything since again.
func (t *warp) rollback() {
	goal, back := t.w.Tick(), t.snaps[t.snap(t.dirty-1)]
	t.dirty = 0
	t.Rewind(&t.history, back.Tick(), goal, true, func() {
		t.Copy(t.w, back)
		for t.w.Tick() < goal {
			t.execute()
		}
	})
}

// settle ends all ticks up to one for good.
func (t *warp) settle(to world.Tick) {
	to = min(to, t.w.Tick())
	for t.Done() < to && t.Err == nil {
		n := t.Done() + 1
		t.verify(n)
		t.Settle(t.history.At(n), t.history.At(n), t.Book.At(n), t.Settled)
	}
	t.Holds(t.sum + t.w.Host().Size() + t.final.Host().Size())
}

// verify computes a tick again now and then, to find a game that is not deterministic. It is not
// counted, as it is no part of what the timeline is for.
func (t *warp) verify(n world.Tick) {
	every := t.Options.HashEvery
	if every <= 0 || n%world.Tick(every) != 0 || t.every != 1 {
		return
	}
	if err := t.final.Host().CopyFrom(t.snaps[t.snap(n-1)]); err != nil {
		panic(err) // they are of one game
	}
	_ = t.final.Host().Step(t.Book.At(n)) // what the game reports was counted
	if a, b := t.final.Hash(), t.snaps[t.snap(n)].Hash(); a != b {
		t.Err = t.Desync(t.final, a, b)
	}
}

// Leading is the newest world.
func (t *warp) Leading() *world.World { return t.w }

// Settled is the world at the last settled tick. With sparse snapshots it may have to be computed,
// which Stats do not count.
func (t *warp) Settled() *world.World {
	base := t.snaps[t.snap(t.Done())]
	if base.Tick() == t.Done() {
		return base
	}
	if t.final.Tick() > t.Done() || t.final.Tick() < base.Tick() {
		if err := t.final.Host().CopyFrom(base); err != nil {
			panic(err)
		}
	}
	for t.final.Tick() < t.Done() {
		_ = t.final.Host().Step(t.Book.At(t.final.Tick() + 1))
	}
	return t.final
}

// spoil says that a tick has to be computed again.
func (t *warp) spoil(n world.Tick) {
	if t.dirty == 0 || n < t.dirty {
		t.dirty = n
	}
}
