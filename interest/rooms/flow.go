package rooms

import (
	"slices"

	"github.com/coeval-dev/coeval/det"
)

// What is seen of one room in another is seen along straight lines through a row of portals. A flow
// follows all rows of portals that one line might pass, after Teller and Séquin, "Visibility
// Preprocessing for Interactive Walkthroughs" (1991), and the portal flow of Quake's vis, in the
// plane: what lies beyond two portals can be seen through both only between the two lines that join
// their opposite ends. Each portal of the row is cut down to that part, and the first portal is cut
// down by what is seen from the other end. When nothing is left of one, no line passes. What is
// kept may be too much, never too little.
type flow struct {
	plan *Plan
	sees *set
	left int // effort
	row  [maxRow]int32
	// Of what is known already, if that is so:
	shut   func(portal int) bool // which doors are shut
	within *set                  // what is seen at most
}

// maxRow is how many portals a line is followed through. A longer row counts as more effort than
// there is.
const maxRow = 64

// slack is by how much a point may be on the wrong side of a line before it is cut off, in units of
// the map: more than arithmetic can be wrong by, and less than anyone can see through.
const slack = 1e-7

// A gap is what is left of a portal, seen by someone who passes it: l is on the left hand and r on
// the right, in coordinates in which Cross is positive counterclockwise.
type gap struct{ l, r det.Vec2 }

// A passage is a portal as gaps, for someone who comes from one side: where it begins, its line,
// and where it ends.
type passage struct{ begin, line, end gap }

// passages gives both ways through a portal: from A, and from B.
func (o *Portal) passages() [2]passage {
	on := o.Q.Sub(o.P).Perp().Unit().Mul(-o.Depth) // from A to B
	line, before, behind := gap{o.Q, o.P}, gap{o.Q.Sub(on), o.P.Sub(on)}, gap{
		o.Q.Add(on), o.P.Add(on)}
	back := func(g gap) gap { return gap{g.r, g.l} }
	return [2]passage{{before, line, behind}, {back(behind), back(line), back(before)}}
}

// passing is a portal for someone who comes from a room.
func (p *Plan) passing(portal int32, from int) *passage {
	if p.layout.Portals[portal].A == from {
		return &p.passages[portal][0]
	}
	return &p.passages[portal][1]
}

// A beam is what is left of the first gap that was passed and of the last, so that lines pass both
// and all between. A new one has passed a single gap.
type beam struct {
	first, last gap
	more        bool // than one gap
}

// from finds all rooms that can be seen from one. It says false if the effort did not suffice.
func (f *flow) from(room int) bool {
	f.sees.add(room)
	for _, n := range f.plan.portals[room] {
		if f.shut != nil && f.shut(int(n)) {
			continue
		}
		f.row[0] = n
		// Who looks may stand in the doorway, up to its line, and so need not pass where it begins.
		p := f.plan.passing(n, room)
		b := beam{first: p.line, last: p.line}
		next := f.plan.beyond(int(n), room)
		f.sees.add(next)
		if b.pass(&p.end, f.plan.layout.Portals[n].Depth) && !f.on(next, 1, b) {
			return false
		}
	}
	return true
}

// on goes on through the portals of a room that was reached.
func (f *flow) on(room, depth int, b beam) bool {
	for _, n := range f.plan.portals[room] {
		if slices.Contains(f.row[:depth], n) || f.shut != nil && f.shut(int(n)) {
			continue
		}
		if f.left--; f.left < 0 || depth == maxRow {
			return false
		}
		next := f.plan.beyond(int(n), room)
		if f.within != nil && !f.within.has(next) {
			continue
		}
		p, deep := f.plan.passing(n, room), f.plan.layout.Portals[n].Depth
		c := b
		if !c.pass(&p.begin, deep) || !c.pass(&p.line, 1) {
			continue
		}
		// What is seen may be in the doorway, beyond its line, and need not be where it ends.
		f.row[depth] = n
		f.sees.add(next)
		if c.pass(&p.end, deep) && !f.on(next, depth+1, c) {
			return false
		}
	}
	return true
}

// pass leads a beam through another gap, or says that no line can pass. A gap at no depth is that
// of the line itself, and is left out.
func (b *beam) pass(through *gap, depth float64) bool {
	if depth == 0 {
		return true
	}
	// It must be before whoever comes out of the last gap, and of the first, and lie between the
	// lines that pass both.
	g, ok := through.before(b.last)
	if ok && b.more {
		if g, ok = g.before(b.first); ok {
			g, ok = g.between(b.first, b.last)
		}
	}
	if !ok {
		return false
	}
	// From there, the first gap must be on this side of it, and is seen through the last in turn.
	first, ok := b.first.behind(g)
	if ok && b.more {
		if _, ok = b.last.behind(g); ok {
			first, ok = first.seenBack(g, b.last)
		}
	}
	*b = beam{first, g, true}
	return ok
}

// cut leaves the part of a gap that lies to the left of the line from a to b, or less than slack to
// the right of it. If a and b are one point, that is all of it.
func (g gap) cut(a, b det.Vec2) (gap, bool) {
	d := b.Sub(a)
	// Sides are products with the length of d, so slack is too; the sum of its parts is no less
	// than its length, and needs no root.
	more := float64(slack * (max(d.X, -d.X) + max(d.Y, -d.Y)))
	l, r := d.Cross(g.l.Sub(a))+more, d.Cross(g.r.Sub(a))+more
	switch {
	case l >= 0 && r >= 0:
	case l < 0 && r < 0:
		return g, false
	case l < 0:
		g.l = g.r.Lerp(g.l, r/(r-l))
	default:
		g.r = g.l.Lerp(g.r, l/(l-r))
	}
	return g, true
}

// before leaves what someone who passes o has before them.
func (g gap) before(o gap) (gap, bool) { return g.cut(o.l, o.r) }

// behind leaves what is not yet passed by who passes o.
func (g gap) behind(o gap) (gap, bool) { return g.cut(o.r, o.l) }

// between leaves what lines through first and then last can reach: right of the leftmost one, left
// of the rightmost.
func (g gap) between(first, last gap) (gap, bool) {
	g, ok := g.cut(last.l, first.r)
	if !ok {
		return g, false
	}
	return g.cut(first.l, last.r)
}

// seenBack leaves what lines reach that come from far, against the way, through last.
func (g gap) seenBack(far, last gap) (gap, bool) {
	// Against the way, left is right.
	b, ok := gap{g.r, g.l}.between(gap{far.r, far.l}, gap{last.r, last.l})
	return gap{b.r, b.l}, ok
}
