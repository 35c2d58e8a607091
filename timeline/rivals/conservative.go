package rivals

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// Conservative has one world, which takes a tick as soon as it is due and no mirror can have
// anything more to say for it: the algorithm of Chandy and Misra (1979). Mirrors stamp by the
// clock, ahead of it by what is called look-ahead, so unlike in lock step a mirror that waits does
// not make others wait. Each message says that nothing earlier will follow; a mirror that has
// nothing to say sends promises, their null messages.
type Conservative struct {
	single
	ahead world.Tick
}

// ConservativeOptions say how far ahead commands are stamped.
type ConservativeOptions struct {
	timeline.Options
	// Mirrors are those who are waited for, this one included.
	Mirrors []member.ID
	// LookAhead is how far after the present commands are stamped: what players wait for what they
	// do, and how long the way between mirrors may be before the world is late. It is rounded up to
	// ticks. Default: 0.
	LookAhead time.Duration
}

// NewConservative makes a timeline that goes on from a world. The world is copied.
func NewConservative(start *world.World, o ConservativeOptions) (*Conservative, error) {
	if o.LookAhead < 0 || o.LookAhead > time.Minute {
		return nil, fmt.Errorf("timeline: a look-ahead of %v; give 0 to a minute", o.LookAhead)
	}
	t := &Conservative{ahead: world.Tick(timeline.NewClock(start).Ticks(o.LookAhead))}
	return t, t.begin(start, o.Options, o.Mirrors, int(t.ahead))
}

// Stamp is the tick that is due next, and the look-ahead.
func (t *Conservative) Stamp(now time.Duration) world.Tick {
	return t.Stamped(t.Clock.Upcoming(now) + t.ahead)
}
