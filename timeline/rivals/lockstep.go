package rivals

import (
	"cmp"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// Lockstep has one world, which takes a tick when every mirror has said all for it; and a mirror
// speaks for a tick some ticks ahead of the last one it has itself computed. So no one is ever
// wrong, and everyone is as slow as the slowest: a mirror that is late holds up all, and how late
// what a player does is seen is the delay of commands. It is what DOOM and the strategy games did.
type Lockstep struct {
	single
	o     LockstepOptions
	delay world.Tick

	ways  timeline.Spread // how long promises are on their way
	since time.Duration   // the last change of an adaptive delay
}

// LockstepOptions say how far ahead commands are stamped.
type LockstepOptions struct {
	timeline.Options
	// Mirrors are those who are waited for, this one included.
	Mirrors []member.ID
	// Delay is how many ticks after the last computed one commands are stamped. Default: 2.
	Delay int
	// Most lets the delay follow how long promises are on their way, from 1 tick up to so many. For
	// that they must say when they were made. The way there is taken to be as long as the way back.
	// Default: 0, the delay stays.
	Most int
}

// NewLockstep makes a timeline that goes on from a world. The world is copied.
func NewLockstep(start *world.World, o LockstepOptions) (*Lockstep, error) {
	o.Delay = cmp.Or(o.Delay, 2)
	if o.Delay < 1 || o.Delay > 600 || o.Most != 0 && (o.Most < o.Delay || o.Most > 600) {
		return nil, fmt.Errorf(
			"timeline: commands %d ticks ahead, at most %d; give 1 to 600, and a largest that is "+
				"not below", o.Delay, o.Most)
	}
	t := &Lockstep{o: o, delay: world.Tick(o.Delay), ways: timeline.NewSpread(64)}
	if err := t.begin(start, o.Options, o.Mirrors, max(o.Delay, o.Most)); err != nil {
		return nil, err
	}
	t.since = t.Now
	return t, nil
}

// Stamp is so many ticks after the last that was computed, or that is due, whichever comes first.
func (t *Lockstep) Stamp(now time.Duration) world.Tick {
	return t.Stamped(min(t.Clock.Upcoming(now), t.w.Tick()+1) + t.delay)
}

// Advance computes the ticks that are due and for which all is there.
func (t *Lockstep) Advance(now time.Duration) error {
	err := t.single.Advance(now)
	if t.o.Most > 0 {
		t.adapt()
	}
	return err
}

// Submit takes a command or a promise in.
func (t *Lockstep) Submit(now time.Duration, c timeline.Command) (timeline.Fate, error) {
	f, err := t.single.Submit(now, c)
	// one's own take no time
	if way := now - c.Sent; err == nil && c.Kind == timeline.Promise && c.Sent > 0 && way > 0 {
		t.ways.Add(way)
	}
	return f, err
}

// adapt lets the delay cover the way. It grows at once, as others are waiting, and shrinks by one
// tick at a time.
func (t *Lockstep) adapt() {
	if t.ways.Empty() {
		return
	}
	want := world.Tick(min(max(t.Clock.Ticks(t.ways.Quantile(0.95)), 1), t.o.Most))
	const pause = time.Second
	switch {
	case want > t.delay:
		t.delay = want
	case want < t.delay && t.Now-t.since >= pause:
		t.delay--
	default:
		return
	}
	t.since = t.Now
}

// Delay is by how many ticks commands are stamped ahead at present.
func (t *Lockstep) Delay() int { return int(t.delay) }
