package rivals

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// Rollback is how fighting games do it today (GGPO and its kin): what has not come is guessed, by
// repeating each player's last command without its edges; the world goes back only if a guess was
// wrong; and it never runs further ahead of what everyone has promised than a window of ticks, but
// waits. So no command is ever too late, and one mirror that is silent stops all the others.
type Rollback struct {
	warp
	gate
	o RollbackOptions
}

// RollbackOptions say how far Rollback may guess.
type RollbackOptions struct {
	timeline.Options
	// Mirrors are those who are waited for, this one included.
	Mirrors []member.ID
	// Window is how many ticks may be guessed. Default: 8.
	Window int
	// Delay is how many ticks after the present commands are stamped, which saves guesses. Default:
	// 0.
	Delay int
	// Asks says that the game asks World.Repeated in a Step method. Then a guess that was right has
	// to be computed again as well, because it was repeated.
	Asks bool
}

// NewRollback makes a timeline that goes on from a world. The world is copied.
func NewRollback(start *world.World, o RollbackOptions) (*Rollback, error) {
	o.Window = cmp.Or(o.Window, 8)
	if o.Window < 1 || o.Window > 36000 || o.Delay < 0 || o.Delay > 36000 {
		return nil, fmt.Errorf(
			"timeline: a window of %d ticks and a delay of %d; give a window of at least 1, and "+
				"neither more than 36000", o.Window, o.Delay)
	}
	t := &Rollback{o: o}
	t.reach = world.Tick(o.Window)
	if err := t.begin(start, o.Options, o.Window+1, 1, o.Delay+2,
		fmt.Sprintf("snapshots for %d ticks", o.Window)); err != nil {
		return nil, err
	}
	t.Book.KeepAll()
	if err := t.ready(o.Mirrors, t.Start); err != nil {
		return nil, err
	}
	return t, t.Restore(nil)
}

// Stamp is the tick that is due next, and as much later as Delay says. While the world waits, so do
// commands.
func (t *Rollback) Stamp(now time.Duration) world.Tick {
	return t.Stamped(min(t.Clock.Upcoming(now), t.w.Tick()+1) + world.Tick(t.o.Delay))
}

// Next is when the next tick is due.
func (t *Rollback) Next() time.Duration { return t.Tomorrow() }

// Submit takes a command or a promise in.
func (t *Rollback) Submit(_ time.Duration, c timeline.Command) (timeline.Fate, error) {
	f, err := t.admit(&t.Core, &c)
	if err != nil || f != timeline.OnTime || c.Kind == timeline.Promise || c.Tick > t.w.Tick() {
		return f, err
	}
	t.Counts.Late++
	r := t.history.At(c.Tick)
	if t.o.Asks || c.Kind != timeline.Give || c.Shown || r == nil ||
		!slices.Equal(r.Command(c.Player), t.Book.Image()) {
		t.spoil(c.Tick)
	}
	return timeline.Late, nil
}

// Waits is true.
func (t *Rollback) Waits() bool { return true }

// SetMirrors changes who is waited for; see Membership for what it takes. An error means that
// nothing was changed.
func (t *Rollback) SetMirrors(_ time.Duration, list []timeline.Membership) error {
	first, err := t.change(&t.Core, list)
	if first > 0 && first <= t.w.Tick() {
		t.spoil(first)
	}
	return err
}

// Members lists who is waited for, and what came of each: for a mirror that joins.
func (t *Rollback) Members() []timeline.Membership { return t.members() }

// Advance goes back if a guess was wrong, and computes what is due and may be guessed.
func (t *Rollback) Advance(now time.Duration) error {
	return t.advance(now, 0, t.promised)
}
