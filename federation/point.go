package federation

import (
	"fmt"
	"slices"
)

// A point is a synchronisation point: those who take part say when they are there.
type point struct {
	label string
	tag   []byte
	all   bool // late-comers take part
	waits []FederateID
	in    []FederateID // all who take part
	fails []string
}

const maxPoints = 1024

// RegisterPoint announces a synchronisation point to some federates, or to all, also to those who
// join before it is reached.
func (f *Federate) RegisterPoint(label string, tag []byte, names ...string) error {
	if err := f.acts(); err != nil {
		return err
	}
	x := f.x
	if err := checkName("a synchronisation point", label); err != nil {
		return err
	}
	if x.point(label) != nil {
		return fmt.Errorf("synchronisation point %q: %w", label, ErrName)
	}
	if len(x.points) == maxPoints || len(tag) > x.opt.Value {
		return fmt.Errorf("%w: %d synchronisation points, a tag of %d bytes", ErrLimit,
			len(x.points), len(tag))
	}
	p := &point{label: label, tag: slices.Clone(tag), all: len(names) == 0}
	var who []*Federate
	for _, name := range names {
		g := x.Find(name)
		if g == nil {
			return fmt.Errorf("federate %q: %w", name, ErrUnknown)
		}
		if !slices.Contains(who, g) {
			who = append(who, g)
		}
	}
	if p.all {
		who = x.federates
	}
	x.points = append(x.points, p)
	for _, g := range who {
		p.announce(g)
	}
	return nil
}

func (p *point) announce(f *Federate) {
	p.waits, p.in = append(p.waits, f.id), append(p.in, f.id)
	f.push(entry{kind: PointAnnounced, name: p.label, tag: p.tag})
}

// Achieve says that this federate is at a point, or that it cannot get there.
func (f *Federate) Achieve(label string, ok bool) error {
	if err := f.acts(); err != nil {
		return err
	}
	p := f.x.point(label)
	if p == nil {
		return fmt.Errorf("synchronisation point %q: %w", label, ErrUnknown)
	}
	i := slices.Index(p.waits, f.id)
	if i < 0 {
		return fmt.Errorf("synchronisation point %q: %w: this federate is not awaited there", label,
			ErrState)
	}
	if !ok {
		p.fails = append(p.fails, f.name)
	}
	p.waits = slices.Delete(p.waits, i, i+1)
	f.x.reached(p)
	return nil
}

// reached tells all who take part that everybody is there.
func (x *Execution) reached(p *point) {
	if len(p.waits) > 0 {
		return
	}
	x.points = slices.DeleteFunc(x.points, func(q *point) bool { return p == q })
	for _, id := range p.in {
		if f := x.federate(id); f != nil {
			f.push(entry{kind: PointReached, name: p.label, failed: p.fails})
		}
	}
}

func (x *Execution) point(label string) *point {
	for _, p := range x.points {
		if p.label == label {
			return p
		}
	}
	return nil
}

func (x *Execution) joinPoints(f *Federate) {
	for _, p := range x.points {
		if p.all {
			p.announce(f)
		}
	}
}

func (x *Execution) leavePoints(f *Federate) {
	for _, p := range slices.Clone(x.points) {
		if i := slices.Index(p.waits, f.id); i >= 0 {
			p.waits = slices.Delete(p.waits, i, i+1)
			x.reached(p)
		}
	}
}

// pointAwaits says whether others wait for a federate at a point where somebody is already.
func (x *Execution) pointAwaits(f *Federate) bool {
	return slices.ContainsFunc(x.points, func(p *point) bool {
		return len(p.waits) < len(p.in) && slices.Contains(p.waits, f.id)
	})
}
