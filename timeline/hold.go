package timeline

import (
	"fmt"
	"math"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A hold keeps the last copy of the world from settling ticks for which something may still come. A
// window alone cannot promise that all mirrors settle the same: a packet may be too late at one of
// them only. A program that knows what has come, and what others have, knows better than a clock.
type hold struct {
	held  bool
	until world.Tick
}

// Hold allows ticks up to one to be settled, once their window is over as well, and none after it
// until a later call allows that. All other copies go on by the clock, as far as Options.Slack lets
// them. What was allowed stays allowed: an earlier tick than the last time changes nothing. The
// next Advance acts on it. On a timeline that was made without Options.Held everything is allowed,
// and this does nothing; nor does it on those that wait, and Bucket.
func (h *hold) Hold(until world.Tick) { h.until = max(h.until, until) }

// Held says that nothing is settled which Hold has not allowed.
func (h *hold) Held() bool { return h.held }

// Settles is the last tick that may be settled as far as Hold is concerned: where nothing is held,
// the last there can be.
func (h *hold) Settles() world.Tick {
	if !h.held {
		return math.MaxUint64
	}
	return h.until
}

const defaultSlack = 3 * time.Second

// Behind is how far behind its window the last copy may be held.
func (o *Options) Behind() (time.Duration, error) {
	if o.Slack < 0 || o.Slack > time.Hour {
		return 0, fmt.Errorf("timeline: a slack of %v; give 0 to an hour", o.Slack)
	}
	switch {
	case !o.Held:
		return 0, nil
	case o.Slack == 0:
		return defaultSlack, nil
	}
	return o.Slack, nil
}

// Never stands for a time that does not come.
const Never = time.Duration(math.MaxInt64)
