package seamless

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// MaxZones is into how many zones a world can be divided.
const MaxZones = zone.MaxPeers

// A Plan says how space is divided among zones: by a tree, each node of which cuts it in two. The
// zones at the edge reach to infinity, so that every place is in one. Plans are not changed: a new
// version takes the place of one.
type Plan struct {
	// Version grows with each change, and At is the tick from which this one counts.
	Version uint64     `json:",omitempty"`
	At      world.Tick `json:",omitempty"`
	// Home is the zone that has the states, and what has no place. Players join there.
	Home zone.ID
	// Reach is how far from a border something is shown next door.
	Reach float64
	// Margin is by how much something must be beyond a border to cross it, so that what walks along
	// a border does not change its zone all the time.
	Margin float64
	// Nodes are the tree. The first is its root.
	Nodes []Node
	// Keepers are the zones that keep the identifiers of each allocator, by its number; 0 if it is
	// not leased.
	Keepers []zone.ID
	// Spare are zones without a part of space: what is left of those that were merged into others,
	// and what the next split uses.
	Spare []zone.ID `json:",omitempty"`
	// Last is the highest number that a zone was ever given.
	Last zone.ID `json:",omitempty"`

	areas []area // by number of zone
	data  []byte // the plan as JSON
}

// A Node of a Plan is a zone or a cut.
type Node struct {
	// Zone is not 0 where space is not cut any further.
	Zone zone.ID `json:",omitempty"`
	// Axis is across which axis the cut is, 0 to 2 for x, y and z, and Cut where. Below is the
	// number of the node for places before the cut, Above that for those at it and behind.
	Axis         int     `json:",omitempty"`
	Cut          float64 `json:",omitempty"`
	Below, Above int     `json:",omitempty"`
}

// point is a place, by axis.
type point [3]float64

// A Box is a part of space, its lower edges included.
type Box struct{ Lo, Hi det.Vec3 }

// area is where a zone is.
type area struct {
	zone   zone.ID
	lo, hi point
	near   []int // the areas within reach, by index
}

// beyond is how far a place is outside of an area, across one axis; 0 or less inside. Distances are
// by axis, since no processor computes those in another way than the next.
func (a *area) beyond(at *point) float64 {
	far := math.Inf(-1)
	for i, x := range at {
		far = max(far, a.lo[i]-x, x-a.hi[i])
	}
	return far
}

// apart is how far two areas are from each other, across one axis.
func (a *area) apart(b *area) float64 {
	far := 0.0
	for i := range a.lo {
		far = max(far, a.lo[i]-b.hi[i], b.lo[i]-a.hi[i])
	}
	return far
}

// Divide makes a plan of so many zones, from 1 to MaxZones, for the part of space in which most
// things are. It cuts across the longest side, so that zones come out near to square.
func Divide(bounds Box, zones int, reach, margin float64) (*Plan, error) {
	if zones < 1 || zones > MaxZones {
		return nil, fmt.Errorf("seamless: %d zones; choose 1 to %d", zones, MaxZones)
	}
	lo, hi := pointOf(bounds.Lo), pointOf(bounds.Hi)
	for i := range lo {
		if !(lo[i] <= hi[i]) || math.IsInf(hi[i]-lo[i], 0) {
			return nil, fmt.Errorf("seamless: bounds from %v to %v are no box", bounds.Lo,
				bounds.Hi)
		}
	}
	p := &Plan{Home: 1, Reach: reach, Margin: margin}
	next := zone.ID(1)
	p.cut(lo, hi, zones, &next)
	p.Keepers = append(p.Keepers, 0) // allocators are leased from 1 up
	for id := zone.ID(1); id < next; id++ {
		p.Keepers = append(p.Keepers, id)
	}
	p.Last = next - 1
	return p, p.prepare()
}

// cut adds the node for a box that is to be so many zones, and gives its number.
func (p *Plan) cut(lo, hi point, zones int, next *zone.ID) int {
	at := len(p.Nodes)
	if zones == 1 {
		p.Nodes = append(p.Nodes, Node{Zone: *next})
		*next++
		return at
	}
	axis := 0
	for i := range lo {
		if hi[i]-lo[i] > hi[axis]-lo[axis] {
			axis = i
		}
	}
	below := zones / 2
	where := lo[axis] + float64((hi[axis]-lo[axis])*float64(below)/float64(zones))
	p.Nodes = append(p.Nodes, Node{Axis: axis, Cut: where})
	left, right := hi, lo
	left[axis], right[axis] = where, where
	b := p.cut(lo, left, below, next)
	a := p.cut(right, hi, zones-below, next)
	p.Nodes[at].Below, p.Nodes[at].Above = b, a
	return at
}

func pointOf(v det.Vec3) point { return point{v.X, v.Y, v.Z} }

// prepare checks a plan and finds out which zones are near to each other.
func (p *Plan) prepare() error {
	p.areas = p.areas[:0]
	switch {
	case len(p.Nodes) == 0 || len(p.Nodes) > 2*MaxZones:
		return errors.New("seamless: a plan needs zones, and not too many")
	case !(p.Reach >= 0) || !(p.Margin >= 0):
		return fmt.Errorf("seamless: a plan with a reach of %v and a margin of %v", p.Reach,
			p.Margin)
	}
	lo, hi := point{}, point{}
	for i := range lo {
		lo[i], hi[i] = math.Inf(-1), math.Inf(1)
	}
	if err := p.gather(0, lo, hi); err != nil {
		return err
	}
	slices.SortFunc(p.areas, func(a, b area) int { return int(int64(a.zone) - int64(b.zone)) })
	for i := range p.areas {
		a := &p.areas[i]
		if i > 0 && p.areas[i-1].zone == a.zone {
			return fmt.Errorf("seamless: zone %d is twice in a plan", a.zone)
		}
		for j := range p.areas {
			if i != j && a.apart(&p.areas[j]) <= p.Reach {
				a.near = append(a.near, j)
			}
		}
	}
	if err := p.checkSpare(); err != nil {
		return err
	}
	if _, ok := p.find(p.Home); !ok {
		return fmt.Errorf("seamless: home, zone %d, is not in the plan", p.Home)
	}
	if len(p.Keepers) > world.Predicted {
		return fmt.Errorf("seamless: %d allocators; there are %d", len(p.Keepers), world.Predicted)
	}
	var err error
	p.data, err = json.Marshal(p)
	return err
}

// gather lists the zones below a node. Nodes stand before those that they lead to, so that there is
// no way around in a circle.
func (p *Plan) gather(n int, lo, hi point) error {
	node := &p.Nodes[n]
	if node.Zone != 0 {
		if len(p.areas) >= MaxZones {
			return fmt.Errorf("seamless: a plan with more than %d zones", MaxZones)
		}
		p.areas = append(p.areas, area{zone: node.Zone, lo: lo, hi: hi})
		return nil
	}
	a := node.Axis
	if a < 0 || a > 2 || node.Below <= n || node.Above <= n || node.Below >= len(p.Nodes) ||
		node.Above >= len(p.Nodes) || !(lo[a] <= node.Cut && node.Cut <= hi[a]) {
		return fmt.Errorf("seamless: node %d of a plan makes no sense", n)
	}
	below, above := hi, lo
	below[a], above[a] = node.Cut, node.Cut
	if err := p.gather(node.Below, lo, below); err != nil {
		return err
	}
	return p.gather(node.Above, above, hi)
}

// parsePlan reads a plan that was written as JSON.
func parsePlan(data []byte) (*Plan, error) {
	p := &Plan{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("seamless: plan: %w", err)
	}
	return p, p.prepare()
}

// Zone is the zone in which a place is.
func (p *Plan) Zone(at det.Vec3) zone.ID {
	x := pointOf(at)
	return p.zoneAt(&x)
}

func (p *Plan) zoneAt(at *point) zone.ID {
	n := 0
	for p.Nodes[n].Zone == 0 {
		node := &p.Nodes[n]
		if at[node.Axis] < node.Cut {
			n = node.Below
		} else {
			n = node.Above
		}
	}
	return p.Nodes[n].Zone
}

// Zones lists the zones, by number.
func (p *Plan) Zones() []zone.ID {
	list := make([]zone.ID, len(p.areas))
	for i := range p.areas {
		list[i] = p.areas[i].zone
	}
	return list
}

// Area is where a zone is; infinite where it is at the edge.
func (p *Plan) Area(id zone.ID) (Box, bool) {
	i, ok := p.find(id)
	if !ok {
		return Box{}, false
	}
	a := &p.areas[i]
	return Box{det.Vec3{X: a.lo[0], Y: a.lo[1], Z: a.lo[2]},
		det.Vec3{X: a.hi[0], Y: a.hi[1], Z: a.hi[2]}}, true
}

// Near lists the zones within reach of one.
func (p *Plan) Near(id zone.ID) []zone.ID {
	i, ok := p.find(id)
	if !ok {
		return nil
	}
	list := make([]zone.ID, len(p.areas[i].near))
	for k, j := range p.areas[i].near {
		list[k] = p.areas[j].zone
	}
	return list
}

func (p *Plan) find(id zone.ID) (int, bool) {
	return slices.BinarySearchFunc(p.areas, id, func(a area, id zone.ID) int {
		return int(int64(a.zone) - int64(id))
	})
}

// keeper is the zone that keeps the identifiers of an allocator.
func (p *Plan) keeper(allocator int) (zone.ID, bool) {
	if allocator >= len(p.Keepers) || p.Keepers[allocator] == 0 {
		return 0, false
	}
	return p.Keepers[allocator], true
}
