package rivals

import (
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A single is one world that waits for others: what Lockstep and Conservative have in common.
type single struct {
	timeline.Core
	gate
	w *world.World
}

// begin goes on from a world, with commands that are stamped up to so many ticks ahead.
func (t *single) begin(start *world.World, o timeline.Options, mirrors []member.ID,
	ahead int) error {
	if err := t.Open(start, o,
		timeline.Room{Ticks: ahead + 3, Worlds: 1, What: "one world"}); err != nil {
		return err
	}
	t.Book.KeepAll()
	t.w = start.Host().Clone()
	if err := t.ready(mirrors, start.Tick()); err != nil {
		return err
	}
	return t.Restore(nil)
}

// Submit takes a command or a promise in.
func (t *single) Submit(_ time.Duration, c timeline.Command) (timeline.Fate, error) {
	return t.admit(&t.Core, &c)
}

// Waits is true.
func (t *single) Waits() bool { return true }

// SetMirrors changes who is waited for; see Membership for what it takes. An error means that
// nothing was changed.
func (t *single) SetMirrors(_ time.Duration, list []timeline.Membership) error {
	_, err := t.change(&t.Core, list)
	return err
}

// Members lists who is waited for, and what came of each: for a mirror that joins.
func (t *single) Members() []timeline.Membership { return t.members() }

// Advance computes the ticks that are due and for which nothing can be missing.
func (t *single) Advance(now time.Duration) error {
	return t.Each(now, func(passed time.Duration) {
		due := t.Clock.Due(t.Now)
		for to := min(due, t.promised()); t.w.Tick() < to; {
			plain(&t.Core, t.w)
		}
		t.Waited(t.w.Tick(), due, passed)
	})
}

// plain computes the next tick of a world that is never wrong.
func plain(c *timeline.Core, w *world.World) {
	in := c.Book.At(w.Tick() + 1)
	c.Step(w, in)
	c.Holds(w.Host().Size())
	c.Settle(nil, c.Observe(w, in), in, func() *world.World { return w })
}

// Next is when the next tick is due.
func (t *single) Next() time.Duration { return t.Tomorrow() }

// Leading is the world.
func (t *single) Leading() *world.World { return t.w }

// Settled is the world.
func (t *single) Settled() *world.World { return t.w }
