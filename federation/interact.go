package federation

import (
	"fmt"
	"slices"
)

// Send sends an interaction of a class that this federate publishes. The bytes are copied. The
// retraction is zero unless it was sent by time.
func (f *Federate) Send(i InteractionID, arguments []Argument, how Sending) (Retraction, error) {
	if err := f.checkInteraction(i); err != nil {
		return 0, err
	}
	x := f.x
	if !f.publishesAct[i] {
		return 0, f.strike(fmt.Errorf("%w: interaction %q is not published by this federate",
			ErrState, x.model.Interactions[i].Name))
	}
	for _, r := range how.Regions {
		if _, err := f.region(r); err != nil {
			return 0, err
		}
	}
	m := x.messages.get()
	m.kind, m.from, m.action = Interacted, f.id, i
	err := x.takeArguments(m, arguments, how.Tag)
	if err == nil {
		err = f.stamp(m, how)
	}
	m.refs++
	if err != nil {
		x.messages.release(m)
		return 0, err
	}
	for _, g := range x.federates {
		if g != f {
			x.interact(g, m, how.Regions)
		}
	}
	number := f.sent(m)
	x.messages.release(m)
	x.settle()
	return number, nil
}

func (x *Execution) takeArguments(m *message, arguments []Argument, tag []byte) error {
	known := x.model.Interactions[m.action].Parameters
	total := len(tag)
	for i, a := range arguments {
		switch {
		case !slices.Contains(known, a.Parameter):
			return fmt.Errorf("interaction %q: %w: parameter %d",
				x.model.Interactions[m.action].Name, ErrUnknown, a.Parameter)
		case len(a.Data) > x.opt.Value:
			return fmt.Errorf("%w: an argument of %d bytes", ErrLimit, len(a.Data))
		case slices.ContainsFunc(arguments[:i], func(b Argument) bool {
			return b.Parameter == a.Parameter
		}):
			return fmt.Errorf("interaction %q: %w: parameter %d twice",
				x.model.Interactions[m.action].Name, ErrUnknown, a.Parameter)
		}
		total += len(a.Data)
	}
	if total > x.opt.Values {
		return fmt.Errorf("%w: %d bytes in one interaction", ErrLimit, total)
	}
	m.buffer = slices.Grow(m.buffer[:0], total)
	m.tag = m.copied(tag)
	for _, a := range arguments {
		m.arguments = append(m.arguments, Argument{a.Parameter, m.copied(a.Data)})
	}
	return nil
}

// interact gives a federate an interaction as one of the most specific class that it subscribes
// to, if its regions overlap.
func (x *Execution) interact(g *Federate, m *message, regions []RegionID) {
	i := m.action
	for !g.subscribesAct[i].any() {
		if i == 0 {
			return
		}
		i = x.model.Interactions[i].Parent
	}
	s := &g.subscribesAct[i]
	if !s.plain && len(regions) > 0 && !slices.ContainsFunc(s.regions, func(a RegionID) bool {
		return slices.ContainsFunc(regions, func(b RegionID) bool {
			return x.space.overlap(a, b)
		})
	}) {
		return
	}
	e := entry{kind: Interacted, class: ClassID(i), message: m}
	class := &x.model.Interactions[m.action]
	switch {
	case class.Order == ByTime && m.number != 0 && g.clock.constrained:
		e.order = ByTime
		g.queue(e)
		return
	case class.Order == ByPriority:
		e.order, e.number = ByPriority, Retraction(class.Priority)
	}
	g.push(e)
}
