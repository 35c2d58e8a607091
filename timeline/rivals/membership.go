package rivals

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// maxMirrors is more than can talk to each other.
const maxMirrors = 256

// change puts a list of mirrors in force. It tells the first tick that says something else by that,
// or 0.
func (g *gate) change(c *timeline.Core, list []timeline.Membership) (first world.Tick, err error) {
	if err := g.check(c, list); err != nil {
		return 0, err
	}
	over := func(left bool, until world.Tick) bool { return left && until <= c.Done() }
	g.mirrors = slices.DeleteFunc(g.mirrors, func(h heard) bool { return over(h.left, h.until) })
	for i := range list {
		m := &list[i]
		if over(m.Left, m.Until) && g.find(m.Mirror) == nil {
			continue
		}
		h := g.find(m.Mirror)
		if h == nil {
			g.mirrors = append(g.mirrors, newHeard(m.Mirror, m.Seq, c.Start))
			h = &g.mirrors[len(g.mirrors)-1]
			for _, seq := range m.Also {
				if seq > m.Seq+1 && seq-m.Seq < mostEarly {
					h.early[seq%mostEarly] = max(m.From, c.Start) + 1 // which promises nothing more
				}
			}
		}
		h.promised = max(h.promised, m.From)
		if m.Left && !h.left {
			h.left, h.until = true, m.Until
			if n := c.Book.Strike(m.Mirror, m.Until); n > 0 && (first == 0 || n < first) {
				first = n
			}
		}
	}
	return first, nil
}

// check refuses a list that cannot be put in force.
func (g *gate) check(c *timeline.Core, list []timeline.Membership) error {
	stay := 0
	if len(list) > maxMirrors {
		return fmt.Errorf("timeline: %d mirrors; %d are allowed", len(list), maxMirrors)
	}
	for i := range list {
		m := &list[i]
		if slices.ContainsFunc(list[:i],
			func(o timeline.Membership) bool { return o.Mirror == m.Mirror }) {
			return fmt.Errorf("timeline: mirror %d is listed twice", m.Mirror)
		}
		if !m.Left {
			stay++
		}
		if err := g.checkOne(c, m); err != nil {
			return err
		}
	}
	if stay == 0 {
		return errors.New(
			"timeline: there is nobody left to wait for; list the mirrors that stay, this one " +
				"included")
	}
	for i := range g.mirrors {
		h := &g.mirrors[i]
		if !(h.left && h.until <= c.Done()) &&
			!slices.ContainsFunc(list,
				func(m timeline.Membership) bool { return m.Mirror == h.id }) {
			return fmt.Errorf(
				"timeline: mirror %d is waited for and missing in the list; if it left, list it "+
					"with Left and the tick until which it counts", h.id)
		}
	}
	return nil
}

func (g *gate) checkOne(c *timeline.Core, m *timeline.Membership) error {
	settled := c.Done()
	h := g.find(m.Mirror)
	switch {
	case h != nil && h.left && (!m.Left || m.Until != h.until):
		return fmt.Errorf(
			"timeline: mirror %d: %w: it has left after tick %d, and cannot come back or leave "+
				"at another; give one that comes back a new number", m.Mirror, timeline.ErrMirror,
			h.until)
	case h != nil && m.Left && !h.left && settled > m.Until:
		return fmt.Errorf(
			"timeline: mirror %d leaves after tick %d, and tick %d is %w with what it said; "+
				"start anew from another mirror's settled world", m.Mirror, m.Until, settled,
			timeline.ErrSettled)
	case h == nil && !m.Left && settled > c.Start && m.From < settled:
		return fmt.Errorf(
			"timeline: mirror %d speaks after tick %d, and tick %d is %w without it; start anew "+
				"from another mirror's settled world", m.Mirror, m.From, settled,
			timeline.ErrSettled)
	case len(m.Also) > mostEarly:
		return fmt.Errorf("timeline: mirror %d: %w: %d of what it sent came out of order", m.Mirror,
			timeline.ErrMirror, len(m.Also))
	}
	return nil
}

// members lists all that is known of mirrors.
func (g *gate) members() []timeline.Membership {
	var out []timeline.Membership
	for i := range g.mirrors {
		h := &g.mirrors[i]
		m := timeline.Membership{
			Mirror: h.id, From: h.promised, Seq: h.next - 1, Left: h.left, Until: h.until}
		for k := uint32(1); k < mostEarly; k++ {
			if h.early[(h.next+k)%mostEarly] != 0 {
				m.Also = append(m.Also, h.next+k)
			}
		}
		out = append(out, m)
	}
	return out
}
