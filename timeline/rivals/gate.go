package rivals

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A gate knows up to which tick everything has come from everyone: what timelines that wait wait
// for.
type gate struct{ mirrors []heard }

// heard is what is known of one mirror.
type heard struct {
	id       member.ID
	next     uint32       // the first Seq that is missing
	early    []world.Tick // ticks of those that came before it, by Seq, in a ring; 0 where none did
	promised world.Tick   // nothing more will come for this tick
	pending  []pledge     // for which something is missing
	left     bool         // it says nothing that counts for ticks after until
	until    world.Tick
}

// A pledge is a promise that holds once all up to seq have come.
type pledge struct {
	seq  uint32
	tick world.Tick
}

const (
	mostEarly   = 4096
	mostPledges = 256
)

func (g *gate) ready(mirrors []member.ID, start world.Tick) error {
	if len(mirrors) > maxMirrors {
		return fmt.Errorf("timeline: %d mirrors; %d are allowed", len(mirrors), maxMirrors)
	}
	if len(mirrors) == 0 {
		return errors.New(
			"timeline: there is nobody to wait for; list the mirrors, this one included")
	}
	for i, m := range mirrors {
		if slices.Contains(mirrors[:i], m) {
			return fmt.Errorf("timeline: mirror %d is listed twice", m)
		}
		g.mirrors = append(g.mirrors, newHeard(m, 0, start))
	}
	return nil
}

// newHeard is a mirror that has said all up to a number, and has nothing to say any more for ticks
// up to one.
func newHeard(m member.ID, seq uint32, promised world.Tick) heard {
	return heard{id: m, next: seq + 1, early: make([]world.Tick, mostEarly), promised: promised}
}

// done says that nothing more is waited for.
func (h *heard) done() bool { return h.left && h.promised >= h.until }

func (g *gate) find(m member.ID) *heard {
	for i := range g.mirrors {
		if g.mirrors[i].id == m {
			return &g.mirrors[i]
		}
	}
	return nil
}

// promised is the tick up to which nothing is missing from anyone.
func (g *gate) promised() world.Tick {
	least := world.Tick(math.MaxUint64)
	for i := range g.mirrors {
		if h := &g.mirrors[i]; !h.done() {
			least = min(least, h.promised)
		}
	}
	return least
}

// admit is Submit for timelines with a gate.
func (g *gate) admit(c *timeline.Core, cmd *timeline.Command) (timeline.Fate, error) {
	distrust := func(why string, args ...any) (timeline.Fate, error) {
		return c.Refuse(fmt.Errorf("timeline: mirror %d: %w: %s", cmd.Origin, timeline.ErrMirror,
			fmt.Sprintf(why, args...)))
	}
	h := g.find(cmd.Origin)
	if h == nil {
		return distrust("it is not one of those that are waited for")
	}
	if cmd.Kind == timeline.Promise {
		if cmd.Tick > c.Book.End() {
			return c.Refuse(
				fmt.Errorf("timeline: mirror %d promises tick %d: %w: there is room up to tick %d",
					cmd.Origin, cmd.Tick, timeline.ErrAhead, c.Book.End()))
		}
		if cmd.Seq >= h.next+mostEarly {
			return distrust("%d of what it sent is missing", cmd.Seq+1-h.next)
		}
		h.pledge(pledge{cmd.Seq, cmd.Tick})
		return timeline.OnTime, nil
	}
	if cmd.Seq == 0 {
		return distrust("its command has no number, and those who wait count")
	}
	if cmd.Seq < h.next || h.early[cmd.Seq%mostEarly] != 0 {
		c.Count(timeline.Duplicate)
		return timeline.Duplicate, nil
	}
	if cmd.Seq >= h.next+mostEarly {
		return distrust("%d of what it sent is missing", cmd.Seq-h.next)
	}
	if cmd.Tick <= h.promised {
		return distrust("it stamped tick %d after it had promised tick %d", cmd.Tick, h.promised)
	}
	if h.left && cmd.Tick > h.until {
		h.hear(cmd.Seq, cmd.Tick) // it shows that nothing is missing
		return distrust("it has left after tick %d, and this is for tick %d", h.until, cmd.Tick)
	}
	f, err := c.Take(cmd, cmd.Tick)
	if err == nil {
		h.hear(cmd.Seq, cmd.Tick)
	}
	return f, err
}

// hear notes that something came. As mirrors stamp in order, what follows without a gap says that
// nothing earlier will come.
func (h *heard) hear(seq uint32, tick world.Tick) {
	h.early[seq%mostEarly] = tick
	for h.early[h.next%mostEarly] != 0 {
		at := &h.early[h.next%mostEarly]
		h.promised = max(h.promised, *at-1)
		*at = 0
		h.next++
	}
	h.redeem()
}

func (h *heard) pledge(p pledge) {
	if len(h.pending) == mostPledges {
		h.pending = slices.Delete(h.pending, 0, 1) // later ones say more
	}
	h.pending = append(h.pending, p)
	h.redeem()
}

// redeem lets promises hold for which nothing is missing any more.
func (h *heard) redeem() {
	n := 0
	for _, p := range h.pending {
		if p.seq < h.next {
			h.promised = max(h.promised, p.tick)
		} else {
			h.pending[n] = p
			n++
		}
	}
	h.pending = h.pending[:n]
}
