package timeline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A Margin says that a field is compared between copies of the world, and by how much it may differ
// before that counts. Of strict events everything is compared, without margin. Of weak events and
// of entities only that is which has one; so give one for the place of what players control, or no
// one will notice that a copy has somebody in the wrong place until it comes to blows.
type Margin struct {
	Class string  // a class, or a kind of weak event
	Field string  // as in the struct: "Pos" stands for Pos.X and Pos.Y
	By    float64 // the distance that is still the same, in the field's own units
}

// newWatcher looks up the fields of margins. All margins that make no sense are reported together.
func newWatcher(g *world.Game, margins []Margin) (*watcher, error) {
	o := &watcher{
		game: g, classes: make([][]*group, len(g.Classes())),
		kinds: make([][]*group, len(g.Events())), rewinds: g.Rewinds() > 0,
	}
	if s := g.Commands(); s != nil {
		o.command = len(s.Slots)
	}
	var wrong []error
	for _, m := range margins {
		if err := o.add(g, m); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	for i := range o.classes {
		if len(o.classes[i]) > 0 {
			o.listed = append(o.listed, i)
		}
	}
	return o, nil
}

// add looks up the field of one margin.
func (o *watcher) add(g *world.Game, m Margin) error {
	if !(m.By >= 0) || math.IsInf(m.By, 0) {
		return fmt.Errorf("timeline: the margin of %s.%s is %v; give 0 or more, and a number",
			m.Class, m.Field, m.By)
	}
	list, schema, err := o.find(g, m)
	if err != nil {
		return err
	}
	gr := &group{class: m.Class, field: m.Field, margin: m.By}
	for i, s := range schema.Slots {
		if s.Name == m.Field || strings.HasPrefix(s.Name, m.Field+".") {
			gr.slots, gr.index = append(gr.slots, s), append(gr.index, i)
		}
	}
	if len(gr.slots) == 0 {
		return fmt.Errorf("timeline: there is a margin for %s.%s, but no such field; it has %s",
			m.Class, m.Field, fields(schema))
	}
	if far := gr.farthest(); m.By >= far && m.By > 0 {
		return fmt.Errorf("timeline: the margin of %s.%s is %v, and two values are never further "+
			"apart than %.6g; give less, or leave it out, so that the field is not compared",
			m.Class, m.Field, m.By, far)
	}
	for _, other := range *list {
		if slices.ContainsFunc(other.index, func(i int) bool {
			return slices.Contains(gr.index, i)
		}) {
			return fmt.Errorf("timeline: there are margins for %s.%s and for %s, which is the "+
				"same field or a part of it; give one", m.Class, m.Field, other.field)
		}
		gr.at += len(other.slots)
	}
	*list = append(*list, gr)
	return nil
}

func (o *watcher) find(g *world.Game, m Margin) (*[]*group, *bits.Schema, error) {
	for i, c := range g.Classes() {
		if c.Name() == m.Class {
			return &o.classes[i], c.Schema(), nil
		}
	}
	for i, e := range g.Events() {
		if e.Name() == m.Class {
			if !e.Weak() {
				return nil, nil,
					fmt.Errorf("timeline: there is a margin for %s.%s, but event %s is strict; "+
						"declare it weak, or leave the margin out", m.Class, m.Field, m.Class)
			}
			return &o.kinds[i], e.Layout().Schema(), nil
		}
	}
	return nil, nil,
		fmt.Errorf("timeline: there is a margin for %s.%s, but game %q has no such class or event",
			m.Class, m.Field, g.Name())
}

func fields(s *bits.Schema) string {
	var names []string
	for i := range s.Slots {
		names = append(names, s.Slots[i].Name)
	}
	return strings.Join(names, ", ")
}

// distance is how far two values of a field are apart.
func (g *group) distance(a, b []int32) float64 {
	sum := 0.0
	for i := range g.slots {
		s := &g.slots[i]
		d := int64(a[i]) - int64(b[i])
		if s.Wraps {
			round := int64(s.Max) - int64(s.Min) + 1
			d = (d%round + round) % round
			d = min(d, round-d)
		}
		x := float64(d)
		if s.Scale != 0 {
			x = float64(x * s.Scale)
		}
		sum += float64(x * x)
	}
	return det.Sqrt(sum)
}

// farthest is how far two values of the field can be apart.
func (g *group) farthest() float64 {
	sum := 0.0
	for i := range g.slots {
		s := &g.slots[i]
		x := float64(int64(s.Max) - int64(s.Min))
		if s.Wraps {
			x = float64((int64(s.Max) - int64(s.Min) + 1) / 2)
		}
		if s.Scale != 0 {
			x = float64(x * s.Scale)
		}
		sum += float64(x * x)
	}
	return det.Sqrt(sum)
}

// A verdict says how much two copies of a tick differ.
type verdict uint8

const (
	alike    verdict = iota
	weakly           // only in fields that have margins
	strictly         // in what happened
)

// compare says how much what a tick did differs between two copies. With all, what it was told
// counts as well.
func (o *watcher) compare(a, b *Outcome, all bool) verdict {
	if a == nil || b == nil || !slices.Equal(a.players, b.players) {
		return strictly
	}
	if all && (a.changes != b.changes || !slices.Equal(a.told, b.told)) {
		return strictly
	}
	if !o.sameStrict(a, b) {
		return strictly
	}
	v := o.compareBodies(a, b)
	if v == alike && !o.sameWeak(a, b) {
		v = weakly
	}
	return v
}

// inPairs goes through those events of both that count, and says whether they are as many and each
// is like the other's.
func inPairs(a, b *Outcome, counts func(kind uint16) bool, like func(x, y happening) bool) bool {
	i, j := 0, 0
	for {
		for i < len(a.events) && !counts(a.events[i].Kind) {
			i++
		}
		for j < len(b.events) && !counts(b.events[j].Kind) {
			j++
		}
		if i == len(a.events) || j == len(b.events) {
			return i == len(a.events) && j == len(b.events)
		}
		if !like(a.events[i], b.events[j]) {
			return false
		}
		i++
		j++
	}
}

// sameStrict compares strict events.
func (o *watcher) sameStrict(a, b *Outcome) bool {
	events := o.game.Events()
	return inPairs(a, b, func(kind uint16) bool { return !events[kind].Weak() },
		func(x, y happening) bool { return sameEvent(a, b, x, y) })
}

func sameEvent(a, b *Outcome, x, y happening) bool {
	return x.Emitted == y.Emitted && slices.Equal(a.image(x), b.image(y))
}

// sameWeak compares the weak events that have margins.
func (o *watcher) sameWeak(a, b *Outcome) bool {
	return inPairs(a, b, func(kind uint16) bool { return len(o.kinds[kind]) > 0 },
		func(x, y happening) bool {
			if x.Emitted != y.Emitted {
				return false
			}
			p, q := a.image(x), b.image(y)
			for _, g := range o.kinds[x.Kind] {
				first := g.index[0] // the slots of a field stand together
				if g.distance(p[first:], q[first:]) > g.margin {
					return false
				}
			}
			return true
		})
}

func (o *watcher) compareBodies(a, b *Outcome) verdict {
	if len(a.bodies) != len(b.bodies) {
		return strictly
	}
	v := alike
	for i, x := range a.bodies {
		y := b.bodies[i]
		if x.id != y.id {
			return strictly
		}
		p, q := a.values(x), b.values(y)
		for _, g := range o.classes[x.id.Class()] {
			if g.distance(p[g.at:], q[g.at:]) > g.margin {
				v = weakly
			}
		}
	}
	return v
}

// jump counts how far entities moved that are in both.
func (o *watcher) jump(a, b *Outcome, s *Stats) {
	j := 0
	for _, x := range a.bodies {
		for j < len(b.bodies) && b.bodies[j].id < x.id {
			j++
		}
		if j == len(b.bodies) || b.bodies[j].id != x.id {
			continue
		}
		p, q := a.values(x), b.values(b.bodies[j])
		for _, g := range o.classes[x.id.Class()] {
			d := g.distance(p[g.at:], q[g.at:])
			s.jump(d, g.margin)
		}
	}
}

// offBy counts how wrong bodies were that were shown: those beyond a margin, and those that are in
// one of the two only.
func (o *watcher) offBy(shown, truth *Outcome, s *Stats) {
	i := 0
	for _, x := range truth.bodies {
		for ; i < len(shown.bodies) && shown.bodies[i].id < x.id; i++ {
			s.Bodies++
			s.Wrong++
		}
		s.Bodies++
		if i == len(shown.bodies) || shown.bodies[i].id != x.id {
			s.Wrong++
			continue
		}
		p, q := shown.values(shown.bodies[i]), truth.values(x)
		i++
		for _, g := range o.classes[x.id.Class()] {
			if g.distance(p[g.at:], q[g.at:]) > g.margin {
				s.Wrong++
				break
			}
		}
	}
	s.Bodies, s.Wrong = s.Bodies+len(shown.bodies)-i, s.Wrong+len(shown.bodies)-i
}

// CheckMargins says what is wrong with margins for a game's worlds, all of it, or is nil.
func CheckMargins(g *world.Game, margins []Margin) error {
	_, err := newWatcher(g, margins)
	return err
}
