package timeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A Membership says for which ticks a mirror is waited for, for SetMirrors of Lockstep, Conservative and Rollback.
//
// All mirrors settle the same worlds if each of them calls SetMirrors with the same list sooner or later, and
//
//   - one that joins stamps and promises nothing for From and earlier ticks, and every other mirror calls SetMirrors before it stamps or promises anything for a tick after From itself.
//     As it cannot settle what it has not promised, it then has settled nothing without the new one;
//   - of one that leaves, every mirror that stays gets everything that was stamped for ticks up to Until, with a promise for Until, before or after the call; and none has
//     settled a tick after Until before it. The last promise of which all who stay have everything is such an Until. What the one who left said for later ticks is struck out, also where it had come.
//
// Where a tick is settled already that depends on the change, SetMirrors refuses with ErrSettled; that mirror has to join anew.
//
// A mirror that joins starts from another's settled world, with that one's Pending as Options.Pending and only itself in Mirrors. Before its first Advance it calls SetMirrors with
// the list in which each of the others is as that one's Members says.
type Membership struct {
	Mirror member.ID
	// From is the tick up to which the mirror has nothing to say: it is waited for after that. For one that is known already it changes nothing unless it is later than what was promised.
	From world.Tick
	// Seq is the number of the last thing that the mirror stamped for From or before, and Also those that came out of order after it. Both count only where the
	// mirror was not known. A mirror that is new has 0.
	Seq  uint32
	Also []uint32
	// Left says that the mirror is gone: what it said for ticks up to Until counts, and after that nobody waits for it.
	Left  bool
	Until world.Tick
}

// ErrSettled says that a change of mirrors or of the judge came too late: something is settled that depends on it. Use errors.Is.
var ErrSettled = errors.New("settled already")

// maxMirrors is more than can talk to each other.
const maxMirrors = 256

// change puts a list of mirrors in force. It tells the first tick that says something else by that, or 0.
func (g *gate) change(c *core, settled world.Tick, list []Membership) (first world.Tick, err error) {
	if err := g.check(c, settled, list); err != nil {
		return 0, err
	}
	over := func(left bool, until world.Tick) bool { return left && until <= settled }
	g.mirrors = slices.DeleteFunc(g.mirrors, func(h heard) bool { return over(h.left, h.until) })
	for i := range list {
		m := &list[i]
		if over(m.Left, m.Until) && g.find(m.Mirror) == nil {
			continue
		}
		h := g.find(m.Mirror)
		if h == nil {
			g.mirrors = append(g.mirrors, newHeard(m.Mirror, m.Seq, c.start))
			h = &g.mirrors[len(g.mirrors)-1]
			for _, seq := range m.Also {
				if seq > m.Seq+1 && seq-m.Seq < mostEarly {
					h.early[seq%mostEarly] = max(m.From, c.start) + 1 // which promises nothing more
				}
			}
		}
		h.promised = max(h.promised, m.From)
		if m.Left && !h.left {
			h.left, h.until = true, m.Until
			if n := c.book.strike(m.Mirror, m.Until); n > 0 && (first == 0 || n < first) {
				first = n
			}
		}
	}
	return first, nil
}

// check refuses a list that cannot be put in force.
func (g *gate) check(c *core, settled world.Tick, list []Membership) error {
	stay := 0
	if len(list) > maxMirrors {
		return fmt.Errorf("timeline: %d mirrors; %d are allowed", len(list), maxMirrors)
	}
	for i := range list {
		m := &list[i]
		if slices.ContainsFunc(list[:i], func(o Membership) bool { return o.Mirror == m.Mirror }) {
			return fmt.Errorf("timeline: mirror %d is listed twice", m.Mirror)
		}
		if !m.Left {
			stay++
		}
		if err := g.checkOne(c, settled, m); err != nil {
			return err
		}
	}
	if stay == 0 {
		return errors.New("timeline: there is nobody left to wait for; list the mirrors that stay, this one included")
	}
	for i := range g.mirrors {
		h := &g.mirrors[i]
		if !(h.left && h.until <= settled) && !slices.ContainsFunc(list, func(m Membership) bool { return m.Mirror == h.id }) {
			return fmt.Errorf("timeline: mirror %d is waited for and missing in the list; if it left, list it with Left and the tick until which it counts", h.id)
		}
	}
	return nil
}

func (g *gate) checkOne(c *core, settled world.Tick, m *Membership) error {
	h := g.find(m.Mirror)
	switch {
	case h != nil && h.left && (!m.Left || m.Until != h.until):
		return fmt.Errorf("timeline: mirror %d: %w: it has left after tick %d, and cannot come back or leave at another; give one that comes back a new number", m.Mirror, ErrMirror, h.until)
	case h != nil && m.Left && !h.left && settled > m.Until:
		return fmt.Errorf("timeline: mirror %d leaves after tick %d, and tick %d is %w with what it said; start anew from another mirror's settled world", m.Mirror, m.Until, settled, ErrSettled)
	case h == nil && !m.Left && settled > c.start && m.From < settled:
		return fmt.Errorf("timeline: mirror %d speaks after tick %d, and tick %d is %w without it; start anew from another mirror's settled world", m.Mirror, m.From, settled, ErrSettled)
	case len(m.Also) > mostEarly:
		return fmt.Errorf("timeline: mirror %d: %w: %d of what it sent came out of order", m.Mirror, ErrMirror, len(m.Also))
	}
	return nil
}

// members lists all that is known of mirrors.
func (g *gate) members() []Membership {
	var out []Membership
	for i := range g.mirrors {
		h := &g.mirrors[i]
		m := Membership{Mirror: h.id, From: h.promised, Seq: h.next - 1, Left: h.left, Until: h.until}
		for k := uint32(1); k < mostEarly; k++ {
			if h.early[(h.next+k)%mostEarly] != 0 {
				m.Also = append(m.Also, h.next+k)
			}
		}
		out = append(out, m)
	}
	return out
}
