package seamless

import (
	"fmt"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/zone"
)

// This file makes new plans of a plan: how borders move. From the tick on at which a plan counts,
// entities cross to where they belong by it, as they always do.

// maxPlan is how many bytes a plan may take, so that it fits into a command of a zone.
const maxPlan = 44 << 10

// checkSpare looks whether spare zones make sense.
func (p *Plan) checkSpare() error {
	if len(p.areas)+len(p.Spare) > MaxZones {
		return fmt.Errorf("seamless: a plan with more than %d zones", MaxZones)
	}
	for i, id := range p.Spare {
		if _, used := p.find(id); used || id == 0 || slices.Contains(p.Spare[:i], id) {
			return fmt.Errorf("seamless: spare zone %d is twice in a plan, or is none", id)
		}
	}
	return nil
}

// All lists all zones, the spare ones included, by number.
func (p *Plan) All() []zone.ID {
	list := append(p.Zones(), p.Spare...)
	slices.Sort(list)
	return list
}

// copy is a plan to be changed, of the next version.
func (p *Plan) copy() *Plan {
	return &Plan{Version: p.Version + 1, At: p.At, Home: p.Home, Reach: p.Reach, Margin: p.Margin,
		Nodes: slices.Clone(p.Nodes), Keepers: slices.Clone(p.Keepers),
		Spare: slices.Clone(p.Spare), Last: p.Last}
}

// finish completes a plan that was changed.
func (p *Plan) finish() (*Plan, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if len(p.data) > maxPlan {
		return nil, fmt.Errorf("seamless: a plan of %d bytes; at most %d", len(p.data), maxPlan)
	}
	return p, nil
}

// leaf is the node of a zone, or -1.
func (p *Plan) leaf(id zone.ID) int {
	return slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Zone == id })
}

// parent is the node that cuts a node off from the rest, or -1.
func (p *Plan) parent(at int) int {
	return slices.IndexFunc(p.Nodes, func(n Node) bool {
		return n.Zone == 0 && (n.Below == at || n.Above == at)
	})
}

// Sibling is the zone on the other side of the cut that made a zone, with which it can be merged.
// There is none if that side is cut further.
func (p *Plan) Sibling(id zone.ID) (zone.ID, bool) {
	at := p.leaf(id)
	if id == 0 || at < 0 {
		return 0, false
	}
	up := p.parent(at)
	if up < 0 {
		return 0, false
	}
	other := p.Nodes[up].Below + p.Nodes[up].Above - at
	return p.Nodes[other].Zone, p.Nodes[other].Zone != 0
}

// errSpare says that a split needs a zone to give a part to. Use errors.Is.
var errSpare = fmt.Errorf("seamless: there is no spare zone")

// split cuts a zone in two. What is before the cut stays its own, the rest is for a spare zone.
func (p *Plan) split(id zone.ID, axis int, cut float64, into zone.ID) (*Plan, error) {
	at := p.leaf(id)
	switch {
	case id == 0 || at < 0:
		return nil, fmt.Errorf("seamless: zone %d has no part of space that could be split", id)
	case axis < 0 || axis > 2 || math.IsNaN(cut) || math.IsInf(cut, 0):
		return nil, fmt.Errorf("seamless: a cut across axis %d at %v; choose axis 0 to 2 and a "+
			"number", axis, cut)
	case !slices.Contains(p.Spare, into):
		return nil, errSpare
	}
	if i, _ := p.find(id); !(p.areas[i].lo[axis] < cut && cut < p.areas[i].hi[axis]) {
		return nil, fmt.Errorf("seamless: %v is not within zone %d, which goes from %v to %v along "+
			"axis %d", cut, id, p.areas[i].lo[axis], p.areas[i].hi[axis], axis)
	}
	n := p.copy()
	n.Spare = slices.DeleteFunc(n.Spare, func(s zone.ID) bool { return s == into })
	n.Nodes[at] = Node{Axis: axis, Cut: cut, Below: len(n.Nodes), Above: len(n.Nodes) + 1}
	n.Nodes = append(n.Nodes, Node{Zone: id}, Node{Zone: into})
	return n.finish()
}

// merge gives a zone the part of the one on the other side of its cut, which becomes a spare one.
func (p *Plan) merge(keep, end zone.ID) (*Plan, error) {
	other, ok := p.Sibling(keep)
	switch {
	case !ok:
		return nil, fmt.Errorf("seamless: zone %d cannot be merged with one other: what is on the "+
			"other side of its cut is more than one zone, or nothing", keep)
	case other != end:
		return nil, fmt.Errorf("seamless: zone %d can be merged with zone %d, which is on the "+
			"other side of its cut, and not with %d", keep, other, end)
	case end == p.Home:
		return nil, fmt.Errorf("seamless: zone %d is home, and has to stay", end)
	}
	n := p.copy()
	up := n.parent(n.leaf(keep))
	n.Nodes[up] = Node{Zone: keep}
	var nodes []Node
	n.walk(0, &nodes)
	n.Nodes = nodes
	n.Spare = append(n.Spare, end)
	slices.Sort(n.Spare)
	return n.finish()
}

// walk copies the nodes that are still part of the tree, and gives the number of the first.
func (p *Plan) walk(at int, to *[]Node) int {
	here := len(*to)
	*to = append(*to, p.Nodes[at])
	if p.Nodes[at].Zone == 0 {
		below := p.walk(p.Nodes[at].Below, to)
		above := p.walk(p.Nodes[at].Above, to)
		(*to)[here].Below, (*to)[here].Above = below, above
	}
	return here
}

// shift moves the cut that made a zone.
func (p *Plan) shift(id zone.ID, cut float64) (*Plan, error) {
	at := p.leaf(id)
	if id == 0 || at < 0 || p.parent(at) < 0 {
		return nil, fmt.Errorf("seamless: zone %d has no border that could be moved", id)
	}
	n := p.copy()
	n.Nodes[n.parent(at)].Cut = cut
	next, err := n.finish()
	if err != nil {
		return nil, fmt.Errorf("seamless: the border of zone %d cannot be at %v: %w", id, cut, err)
	}
	return next, nil
}

// widen adds a spare zone, which keeps the identifiers of an allocator.
func (p *Plan) widen(id zone.ID, allocator int) (*Plan, error) {
	if keeper, ok := p.keeper(allocator); ok {
		return nil, fmt.Errorf("seamless: allocator %d is of zone %d already", allocator, keeper)
	}
	n := p.copy()
	n.Spare = append(n.Spare, id)
	slices.Sort(n.Spare)
	for len(n.Keepers) <= allocator {
		n.Keepers = append(n.Keepers, 0)
	}
	n.Keepers[allocator] = id
	return n.finish()
}
