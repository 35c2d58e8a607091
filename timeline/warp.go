package timeline

import (
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A warp is a leading world with snapshots of its past, to go back to: what TimeWarp and Rollback have in common.
type warp struct {
	core
	every   world.Tick     // ticks between snapshots
	w       *world.World   // the leading one
	snaps   []*world.World // a ring of worlds at every so many ticks from start on
	sizes   []int          // of snaps
	sum     int            // of sizes
	history history
	dirty   world.Tick // the first tick that has to be computed again, or 0
	settled world.Tick
	final   *world.World // the settled one, where no snapshot is
	before  record
}

// ready makes room for a leading world that is at most reach ticks ahead of the settled one.
func (t *warp) ready(start *world.World, reach int, every int, what string) error {
	n := reach/every + 3
	if err := t.afford(start, n+2, what); err != nil {
		return err
	}
	t.every, t.settled = world.Tick(every), start.Tick()
	t.w, t.final = start.Host().Clone(), start.Host().Clone()
	t.history = newHistory(reach + every + 4)
	for range n {
		t.snaps = append(t.snaps, start.Host().Clone())
	}
	t.sizes = make([]int, n)
	for i := range t.sizes {
		t.sizes[i] = start.Host().Size()
		t.sum += t.sizes[i]
	}
	return nil
}

// snap is the place of the last snapshot at or before a tick.
func (t *warp) snap(n world.Tick) int { return int((n - t.start) / t.every % world.Tick(len(t.snaps))) }

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
	in := t.book.at(n).in
	t.step(t.w, in)
	r := &t.watch.spare
	t.watch.record(r, t.w, in)
	before := t.history.place(n)
	if before.tick == n {
		t.watch.announce(&t.notices, before, r)
	} else {
		t.watch.announce(&t.notices, nil, r)
	}
	*before, t.watch.spare = *r, *before
	if (n-t.start)%t.every == 0 {
		i := t.snap(n)
		t.copy(t.snaps[i], t.w)
		t.sum -= t.sizes[i]
		t.sizes[i] = t.w.Host().Size()
		t.sum += t.sizes[i]
	}
}

// rollback goes back to before the first tick that was wrong and computes everything since again.
func (t *warp) rollback() {
	goal := t.w.Tick()
	t.before.copyFrom(t.history.place(goal))
	t.copy(t.w, t.snaps[t.snap(t.dirty-1)])
	t.dirty = 0
	t.stats.Rollbacks++
	t.stats.Seen++
	t.stats.Depth += int(goal - t.w.Tick())
	t.stats.Deepest = max(t.stats.Deepest, int(goal-t.w.Tick()))
	for t.w.Tick() < goal {
		t.execute()
	}
	t.jumped(&t.before, t.history.place(goal))
}

// settle ends all ticks up to one for good.
func (t *warp) settle(to world.Tick) {
	to = min(to, t.w.Tick())
	for t.settled < to && t.err == nil {
		n := t.settled + 1
		t.watch.confirm(&t.notices, t.history.at(n), t.history.at(n))
		t.verify(n)
		t.settled = n
		t.stats.Settled++
		if t.options.Settled != nil {
			t.options.Settled(t.Settled(), t.book.at(n).in)
		}
	}
	// A snapshot at or before the settled tick stays, and what leads from there on.
	if t.settled >= t.start+t.every {
		t.book.trim(t.settled - t.every)
	}
	t.stats.Held = t.sum + t.w.Host().Size() + t.final.Host().Size()
	t.stats.MostHeld = max(t.stats.MostHeld, t.stats.Held)
}

// verify computes a tick again now and then, to find a game that is not deterministic. It is not counted, as it is no part of what the timeline is for.
func (t *warp) verify(n world.Tick) {
	every := t.options.HashEvery
	if every <= 0 || n%world.Tick(every) != 0 || t.every != 1 {
		return
	}
	if err := t.final.Host().CopyFrom(t.snaps[t.snap(n-1)]); err != nil {
		panic(err) // they are of one game
	}
	_ = t.final.Host().Step(t.book.at(n).in) // what the game reports was counted
	if a, b := t.final.Hash(), t.snaps[t.snap(n)].Hash(); a != b {
		t.err = t.desync(t.final, a, b)
	}
}

// Leading is the newest world.
func (t *warp) Leading() *world.World { return t.w }

// Settled is the world at the last settled tick. With sparse snapshots it may have to be computed, which Stats do not count.
func (t *warp) Settled() *world.World {
	base := t.snaps[t.snap(t.settled)]
	if base.Tick() == t.settled {
		return base
	}
	if t.final.Tick() > t.settled || t.final.Tick() < base.Tick() {
		if err := t.final.Host().CopyFrom(base); err != nil {
			panic(err)
		}
	}
	for t.final.Tick() < t.settled {
		_ = t.final.Host().Step(t.book.at(t.final.Tick() + 1).in)
	}
	return t.final
}

// Exact is true.
func (t *warp) Exact() bool { return true }

// Pending goes through what is known for ticks that are not settled.
func (t *warp) Pending(yield func(Command) bool) { t.pending(t.settled, yield) }

// Stats say what it has cost so far.
func (t *warp) Stats() Stats { return t.stats }

// spoil says that a tick has to be computed again.
func (t *warp) spoil(n world.Tick) {
	if t.dirty == 0 || n < t.dirty {
		t.dirty = n
	}
}

// each makes time pass until now, a tick at a time.
func (c *core) each(now time.Duration, do func(passed time.Duration)) error {
	c.notices.reset()
	for c.err == nil {
		passed := max(min(now-c.now, c.length()), 0)
		c.now += passed
		do(passed)
		if c.now >= now {
			break
		}
	}
	return c.err
}
