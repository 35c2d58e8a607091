package timeline

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// Conservative has one world, which takes a tick as soon as it is due and no mirror can have anything more to say for it: the algorithm of Chandy and Misra (1979).
// Mirrors stamp by the clock, ahead of it by what is called look-ahead, so unlike in lock step a mirror that waits does not make others wait. Each message says that nothing
// earlier will follow; a mirror that has nothing to say sends promises, their null messages.
type Conservative struct {
	single
	ahead world.Tick
	given world.Tick
}

// ConservativeOptions say how far ahead commands are stamped.
type ConservativeOptions struct {
	Options
	// Mirrors are those who are waited for, this one included.
	Mirrors []member.ID
	// LookAhead is how far after the present commands are stamped: what players wait for what they do, and how long the way between mirrors may be before
	// the world is late. It is rounded up to ticks. Default: 0.
	LookAhead time.Duration
}

// NewConservative makes a timeline that goes on from a world. The world is copied.
func NewConservative(start *world.World, o ConservativeOptions) (*Conservative, error) {
	if o.LookAhead < 0 || o.LookAhead > time.Minute {
		return nil, fmt.Errorf("timeline: a look-ahead of %v; give 0 to a minute", o.LookAhead)
	}
	if start == nil {
		return nil, errNoWorld
	}
	t := &Conservative{ahead: world.Tick(newClock(start.Game()).ticks(o.LookAhead))}
	if err := t.begin(start, o.Options, o.Mirrors, int(t.ahead)+2); err != nil {
		return nil, err
	}
	return t, nil
}

// Stamp is the tick that is due next, and the look-ahead.
func (t *Conservative) Stamp(now time.Duration) world.Tick {
	t.given = max(t.given, t.next(now)+t.ahead)
	return t.given
}

// Advance computes the ticks that are due and for which nothing can be missing.
func (t *Conservative) Advance(now time.Duration) error { return t.advance(now) }

// A single is one world that waits for others: what Lockstep and Conservative have in common.
type single struct {
	core
	gate
	w *world.World
}

func (t *single) begin(start *world.World, o Options, mirrors []member.ID, ahead int) error {
	if err := t.open(start, o, 1, ahead, true); err != nil {
		return err
	}
	if err := t.afford(start, 1, "one world"); err != nil {
		return err
	}
	t.w = start.Host().Clone()
	return t.ready(mirrors, start.Tick())
}

// Submit takes a command or a promise in.
func (t *single) Submit(_ time.Duration, c Command) (Fate, error) {
	return t.admit(&t.core, &c, t.w.Tick())
}

// Waits is true.
func (t *single) Waits() bool { return true }

// SetMirrors changes who is waited for; see Membership for what it takes. An error means that nothing was changed.
func (t *single) SetMirrors(_ time.Duration, list []Membership) error {
	_, err := t.change(&t.core, t.w.Tick(), list)
	return err
}

// Members lists who is waited for, and what came of each: for a mirror that joins.
func (t *single) Members() []Membership { return t.members() }

func (t *single) advance(now time.Duration) error {
	return t.each(now, func(passed time.Duration) {
		due := t.due(t.now)
		for to := min(due, t.promised()); t.w.Tick() < to; {
			t.plain(t.w)
		}
		t.wait(t.w.Tick(), due, passed)
	})
}

// plain computes the next tick of a world that is never wrong.
func (c *core) plain(w *world.World) {
	n := w.Tick() + 1
	in := c.book.at(n).in
	c.step(w, in)
	r := &c.watch.spare
	c.watch.record(r, w, in)
	c.watch.confirm(&c.notices, nil, r)
	c.stats.Settled++
	c.stats.Held = w.Host().Size()
	c.stats.MostHeld = max(c.stats.MostHeld, c.stats.Held)
	if c.options.Settled != nil {
		c.options.Settled(w, in)
	}
	c.book.trim(n)
}

// Next is when the next tick is due.
func (t *single) Next() time.Duration { return t.tomorrow() }

// Leading is the world.
func (t *single) Leading() *world.World { return t.w }

// Settled is the world.
func (t *single) Settled() *world.World { return t.w }

// Exact is true.
func (t *single) Exact() bool { return true }

// Pending goes through what is known for later ticks.
func (t *single) Pending(yield func(Command) bool) { t.pending(t.w.Tick(), yield) }

// Stats say what it has cost so far.
func (t *single) Stats() Stats { return t.stats }
