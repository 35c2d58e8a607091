package timeline

import (
	"fmt"
	"slices"
	"time"
)

// Delays are how far behind the time the copies of the world are that Trailing keeps.
type Delays struct {
	// Lead is the leading world's: what players wait for what they do.
	Lead time.Duration
	// Trails are those of the copies between the leading one and the last, each larger than the one
	// before.
	Trails []time.Duration
	// Window is the last copy's. A command that is later than that is lost, so all mirrors must
	// have the same. Where it is the same as Lead, there is but one copy.
	Window time.Duration
}

// DelaysOf names delays that are listed from the leading world's to the window, as List lists them.
func DelaysOf(list ...time.Duration) Delays {
	last := len(list) - 1
	switch last {
	case -1:
		return Delays{}
	case 0:
		return Delays{Lead: list[0], Window: list[0]}
	}
	return Delays{Lead: list[0], Trails: list[1:last], Window: list[last]}
}

// List lists them from the leading world's to the window.
func (d Delays) List() []time.Duration {
	if d.Lead == d.Window && len(d.Trails) == 0 {
		return []time.Duration{d.Window}
	}
	return slices.Concat([]time.Duration{d.Lead}, d.Trails, []time.Duration{d.Window})
}

// IsZero says that nothing was chosen, so that the defaults hold.
func (d Delays) IsZero() bool { return d.Lead == 0 && len(d.Trails) == 0 && d.Window == 0 }

// maxCopies is more than is of any use, as each costs as much as the game itself.
const maxCopies = 32

func (d Delays) check() error {
	list := d.List()
	if len(list) > maxCopies {
		return fmt.Errorf(
			"timeline: %d trailing states; %d are allowed, and more than 5 are hardly ever of use",
			len(list), maxCopies)
	}
	for i, d := range list {
		if d < 0 || d > time.Hour {
			return fmt.Errorf("timeline: a delay of %v; give 0 to an hour", d)
		}
		if i > 0 && d <= list[i-1] {
			return fmt.Errorf(
				"timeline: delays must increase, and %v comes after %v; give them from the "+
					"leading world's to the last", d, list[i-1])
		}
	}
	return nil
}

// SetDelays changes the delays while it runs, and with them how many copies trail. Nothing is lost
// by that: a copy whose delay grows waits, one whose delay shrinks hurries, a new one begins as a
// copy of the one behind it, and what a copy that is given up would have found, the next one finds.
// The leading world gets there without a jump, by running a sixteenth faster or slower.
//
// The window cannot be changed: it decides which commands are too late, and a mirror that decides
// otherwise than the rest has another world.
func (t *Trailing) SetDelays(delays Delays) error {
	if err := delays.check(); err != nil {
		return err
	}
	list, window := delays.List(), t.final().delay
	if delays.Window != window {
		return fmt.Errorf(
			"timeline: the last delay is %v on all mirrors; it cannot be changed while they run",
			window)
	}
	if (len(list) == 1) != (len(t.trails) == 1) {
		return fmt.Errorf(
			"timeline: %d trailing states cannot become %d while they run; the leading and the "+
				"last one stay", len(t.trails), len(list))
	}
	if err := t.afford(t.Leading(), len(list),
		fmt.Sprintf("%d trailing states", len(list))); err != nil {
		return err
	}
	for len(t.trails) > len(list) {
		k := len(t.trails) - 2
		t.idle = append(t.idle, t.trails[k])
		t.trails = slices.Delete(t.trails, k, k+1)
	}
	for len(t.trails) < len(list) {
		t.insert()
	}
	for i, d := range list {
		t.trails[i].delay = d
	}
	return nil
}

// insert makes one more copy, just ahead of the last.
func (t *Trailing) insert() {
	last := t.final()
	var s *trail
	if n := len(t.idle); n > 0 {
		s, t.idle = t.idle[n-1], t.idle[:n-1]
		for i := range s.history.ring {
			s.history.ring[i].reset(0)
		}
		t.Copy(s.w, last.w)
	} else {
		s = &trail{w: last.w.Host().Clone(), history: NewHistory(t.size)}
		t.Counts.Copies++
		t.Counts.CopiedBytes += int64(last.w.Host().Size())
	}
	s.goOnFrom(last)
	if r := last.history.At(last.w.Tick()); r != nil {
		s.history.slot(r.tick).copyFrom(r)
	}
	t.trails = slices.Insert(t.trails, len(t.trails)-1, s)
}
