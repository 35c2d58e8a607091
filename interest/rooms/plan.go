package rooms

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/coeval-dev/coeval/det"
)

// A Portal is an opening between two rooms: the line that is crossed by whoever goes from one to
// the other, and by all that is seen from one in the other.
type Portal struct {
	// A and B are the rooms on its two sides. A is where (Q-P).Cross(x-P) is positive for the
	// points x close to the line.
	A, B int
	// P and Q are the ends of the line.
	P, Q det.Vec2
	// Depth is how far the opening goes on before and behind the line, between jambs at right
	// angles to it: half the thickness of the wall. Zero is safe; but the deeper a doorway is the
	// less is seen through it.
	Depth float64
	// Door is the number of the door in it, from 1. Zero is an opening that cannot be shut.
	Door int
}

// A Layout is a map as a Plan sees it: rooms and what is between them. Rooms may have any shape and
// hold anything; walls inside of them are not known here, so something behind a pillar counts as
// seen.
type Layout struct {
	// Rooms is how many there are, numbered from 0, at most MaxRooms.
	Rooms int
	// Portals are all ways from room to room, at most MaxPortals. Who sees or walks from one room
	// into another without a portal breaks the promise of a Plan.
	Portals []Portal
	// Locate gives the room that a point is in, or a negative number for none. It is called by
	// several goroutines at once.
	Locate func(p det.Vec2) int
	// Effort bounds the work for each room, as a number of portals looked through. A room for which
	// it does not suffice is taken to see all that is connected to it, which is wasteful but safe.
	// Default: 100,000.
	Effort int
	// Total bounds the work for all rooms together, so that a map from a stranger is no more work
	// than another: rooms that need much get what the others leave. Default: 1,000,000, some tenths
	// of a second; maps that people make take a small part of that.
	Total int
}

// The largest maps.
const (
	MaxRooms   = 2048
	MaxPortals = 4096
	// MaxLinks is how many ways there may be from a portal to another of the same room, in all
	// rooms together: n portals of a room make n*(n-1).
	MaxLinks = 1 << 20
)

// A Plan knows which rooms can be seen from which if every door is open. It is worked out once,
// when a map is loaded, and never changes.
type Plan struct {
	layout  Layout
	portals [][]int32 // by room
	doors   [][]int32 // by number of door: its portals
	sees    []set     // by room
	shut    []set     // by room: what is seen with all doors shut
	links   [][]link  // by portal: the ways of sound

	passages [][2]passage // by portal
	gaveUp   int
	steps    int // that were taken in all
}

// A set is a set of rooms.
type set [MaxRooms / 64]uint64

func (s *set) has(n int) bool { return s[n>>6]>>(n&63)&1 != 0 }
func (s *set) add(n int)      { s[n>>6] |= 1 << (n & 63) }
func (s *set) remove(n int)   { s[n>>6] &^= 1 << (n & 63) }

func (s *set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// all goes through the rooms of the set, in order.
func (s *set) all(yield func(room int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(i<<6 | bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// NewPlan works out what can be seen from where. The error is that of a layout that makes no sense.
func NewPlan(l Layout) (*Plan, error) {
	if l.Rooms < 1 || l.Rooms > MaxRooms || len(l.Portals) > MaxPortals {
		return nil, fmt.Errorf(
			"rooms: %d rooms and %d portals; there must be 1 to %d rooms and at most %d portals",
			l.Rooms, len(l.Portals), MaxRooms, MaxPortals)
	}
	if l.Locate == nil {
		return nil, fmt.Errorf("rooms: the layout has no function Locate")
	}
	if l.Effort <= 0 {
		l.Effort = 100_000
	}
	if l.Total <= 0 {
		l.Total = 1_000_000
	}
	p := &Plan{layout: l, portals: make([][]int32, l.Rooms), sees: make([]set, l.Rooms)}
	for n := range l.Portals {
		o := &l.Portals[n]
		if uint(o.A) >= uint(l.Rooms) || uint(o.B) >= uint(l.Rooms) || o.A == o.B || o.Door < 0 ||
			o.Door > MaxPortals {
			return nil, fmt.Errorf(
				"rooms: portal %d is between rooms %d and %d, with door %d; it must join two "+
					"different rooms below %d", n, o.A, o.B, o.Door, l.Rooms)
		}
		if !(o.Depth >= 0 && o.Depth < 1e6) {
			return nil, fmt.Errorf("rooms: portal %d has a depth of %v; it must not be negative", n,
				o.Depth)
		}
		if o.P == o.Q || !(o.P.Sub(o.P) == det.Vec2{}) || !(o.Q.Sub(o.Q) == det.Vec2{}) {
			return nil, fmt.Errorf(
				"rooms: portal %d is a line from %v to %v; its ends must be two finite points", n,
				o.P, o.Q)
		}
		p.passages = append(p.passages, o.passages())
		p.portals[o.A] = append(p.portals[o.A], int32(n))
		p.portals[o.B] = append(p.portals[o.B], int32(n))
		for o.Door >= len(p.doors) {
			p.doors = append(p.doors, nil)
		}
		if o.Door > 0 {
			p.doors[o.Door] = append(p.doors[o.Door], int32(n))
		}
	}
	links := 0
	for _, portals := range p.portals {
		links += len(portals) * (len(portals) - 1)
	}
	if links > MaxLinks {
		return nil, fmt.Errorf(
			"rooms: %d ways from portal to portal; there may be at most %d, so divide the rooms "+
				"that have very many portals", links, MaxLinks)
	}
	e := effort{room: l.Effort, left: l.Total, rooms: l.Rooms}
	for r := range l.Rooms {
		f := flow{plan: p, sees: &p.sees[r], left: e.next()}
		share := f.left
		if !f.from(r) {
			p.gaveUp++
			p.connected(r, &p.sees[r])
		}
		e.spend(share - max(0, f.left))
	}
	p.steps = l.Total - e.left
	p.agree()
	p.shutDoors()
	p.links = p.soundLinks()
	return p, nil
}

// shutDoors works out what is seen with all doors shut, which is how Rooms begin.
func (p *Plan) shutDoors() {
	p.shut = slices.Clone(p.sees)
	if len(p.doors) < 2 {
		return
	}
	e := effort{room: p.layout.Effort, left: p.layout.Total, rooms: p.layout.Rooms}
	for r := range p.shut {
		spent, _ := p.look(r, e.next(), &p.shut[r], func(n int) bool {
			return p.layout.Portals[n].Door > 0
		})
		e.spend(spent)
	}
}

// look works out what a room sees when some doors are shut. It says how much effort that took, and
// whether it was enough; if not, it is what is seen if all are open.
func (p *Plan) look(room, effort int, to *set, shut func(portal int) bool) (spent int,
	enough bool) {
	*to = set{}
	f := flow{plan: p, sees: to, left: effort, shut: shut, within: &p.sees[room]}
	if !f.from(room) {
		*to = p.sees[room]
	}
	return effort - max(0, f.left), f.left >= 0
}

// An effort is work that is divided among rooms.
type effort struct {
	room  int // the most for one
	left  int // for all
	rooms int // that are still to come
}

// next is how much the next room may use: more than its share, as most need less.
func (e *effort) next() int { return min(e.room, e.left, 4*(e.left/max(1, e.rooms))) }

func (e *effort) spend(n int) { e.left, e.rooms = e.left-n, e.rooms-1 }

// connected adds all rooms that one could walk to.
func (p *Plan) connected(r int, to *set) {
	stack := []int{r}
	*to = set{}
	to.add(r)
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, n := range p.portals[at] {
			if next := p.beyond(int(n), at); !to.has(next) {
				to.add(next)
				stack = append(stack, next)
			}
		}
	}
}

// agree makes sight mutual. Each direction was found out on its own and errs only by seeing too
// much, so what one of them excludes is not seen.
func (p *Plan) agree() {
	for a := range p.sees {
		for b := range a {
			switch {
			case !p.sees[a].has(b):
				p.sees[b].remove(a)
			case !p.sees[b].has(a):
				p.sees[a].remove(b)
			}
		}
	}
}

// beyond is the room on the other side of a portal.
func (p *Plan) beyond(portal, room int) int {
	o := &p.layout.Portals[portal]
	if o.A == room {
		return o.B
	}
	return o.A
}

// Sees says whether something in one room may be seen from another if every door is open. It is
// mutual, and no is certain.
func (p *Plan) Sees(a, b int) bool { return p.sees[a].has(b) }

// Rooms is how many rooms there are.
func (p *Plan) Rooms() int { return p.layout.Rooms }

// Locate gives the room that a point is in, or a negative number.
func (p *Plan) Locate(at det.Vec2) int { return p.layout.Locate(at) }

// A Summary says what a plan is worth.
type Summary struct {
	Rooms, Portals, Doors int
	Mean                  float64 // how many rooms are seen from one, itself included, on average
	Most                  int
	GaveUp                int // for how many rooms the effort did not suffice
	Steps                 int // portals that were looked through, for all rooms together
}

// Summary counts what can be seen.
func (p *Plan) Summary() Summary {
	s := Summary{
		Rooms: p.layout.Rooms, Portals: len(p.layout.Portals), Doors: max(0, len(p.doors)-1),
		GaveUp: p.gaveUp, Steps: p.steps}
	for r := range p.sees {
		n := p.sees[r].count()
		s.Mean += float64(n) / float64(s.Rooms)
		s.Most = max(s.Most, n)
	}
	return s
}
