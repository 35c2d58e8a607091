// Package overlap finds which boxes of one kind overlap which of another, in up to sixteen
// dimensions: what is updated somewhere, and who wants to hear of there. A box may lack
// dimensions; in those it is everywhere.
//
// # Where it stands
//
//	federation   updates and subscriptions in regions
//	overlap      which of them meet
//
// # How it works
//
// Boxes of one set of dimensions and of about one size are in a grid whose cells are as large as
// they are, by the first two dimensions of the set. Each is in one cell, that of its lower corner.
// A box is compared with what is in the cells that it reaches, in the grid of each size that there
// is. So the time for one box follows from how many are near, however many there are, as long as
// boxes do not all lie on top of each other; and they may be of very different sizes.
package overlap

import "math/bits"

// MaxDimensions is how many dimensions a box may have.
const MaxDimensions = 16

// A Box is a range in each of its dimensions, from Lo up to below Hi.
type Box struct {
	Dims   uint16 // a bit for each dimension
	Lo, Hi [MaxDimensions]int64
}

// Overlaps says whether two boxes have something in common in every dimension that both have.
func (b *Box) Overlaps(c *Box) bool {
	for d := b.Dims & c.Dims; d != 0; d &= d - 1 {
		i := bits.TrailingZeros16(d)
		if b.Lo[i] >= c.Hi[i] || c.Lo[i] >= b.Hi[i] {
			return false
		}
	}
	return true
}

// A Side is one of the two kinds of boxes. Only boxes of different sides are compared.
type Side uint8

const (
	Update Side = iota
	Subscription
)

// A Space is a set of boxes. The zero value is empty.
type Space struct {
	sides [2]side
}

// A side has the boxes of one kind.
type side struct {
	at    map[uint32]*placed
	grids []*grid // by size and dimensions
	free  *placed
}

// A placed box is one in a grid.
type placed struct {
	box  Box
	grid *grid
	cell int32   // in the grid's list
	slot int32   // in the cell
	next *placed // of those that are free
}

// A grid has the boxes of one set of dimensions and one size.
type grid struct {
	dims  uint16
	level uint8
	axes  [2]int // the dimensions of its axes; the second is -1 if there is one only
	count int
	index map[corner]int32
	cells []cell // those that were needed once
}

// A corner says where a cell is.
type corner struct{ x, y int64 }

// A cell has the boxes whose lower corner is in it.
type cell struct {
	at    corner
	boxes []near
}

// A near box is what of it decides in most cases: its range in the grid's axes.
type near struct {
	lo, hi [2]int64
	id     uint32
	full   *placed
}

func axesOf(dims uint16) (axes [2]int) {
	axes = [2]int{-1, -1}
	for i := range axes {
		if dims != 0 {
			axes[i] = bits.TrailingZeros16(dims)
			dims &= dims - 1
		}
	}
	return axes
}

// levelOf is the size of a box in the axes: two to its power is no less than its longer side.
func levelOf(b *Box, axes [2]int) uint8 {
	longest := int64(1)
	for _, d := range axes {
		if d >= 0 {
			longest = max(longest, b.Hi[d]-b.Lo[d])
		}
	}
	return uint8(bits.Len64(uint64(longest - 1)))
}

// Put adds a box, or moves the one of that number and side. Its ranges must not be empty, and be
// between -2^60 and 2^60.
func (s *Space) Put(id uint32, of Side, b *Box) {
	t := &s.sides[of]
	p := t.at[id]
	if p == nil {
		if p = t.free; p != nil {
			t.free = p.next
		} else {
			p = &placed{}
		}
		if t.at == nil {
			t.at = map[uint32]*placed{}
		}
		t.at[id] = p
	} else {
		p.take()
	}
	p.box = *b
	axes := axesOf(b.Dims)
	level := levelOf(b, axes)
	g := t.grid(b.Dims, level, axes)
	g.place(p, id)
}

// Remove takes a box away.
func (s *Space) Remove(id uint32, of Side) {
	t := &s.sides[of]
	if p := t.at[id]; p != nil {
		p.take()
		delete(t.at, id)
		p.next, t.free = t.free, p
	}
}

func (t *side) grid(dims uint16, level uint8, axes [2]int) *grid {
	for _, g := range t.grids {
		if g.dims == dims && g.level == level {
			return g
		}
	}
	g := &grid{dims: dims, level: level, axes: axes, index: map[corner]int32{}}
	t.grids = append(t.grids, g)
	return g
}

func (g *grid) cornerOf(b *Box) (c corner) {
	if g.axes[0] >= 0 {
		c.x = b.Lo[g.axes[0]] >> g.level
	}
	if g.axes[1] >= 0 {
		c.y = b.Lo[g.axes[1]] >> g.level
	}
	return c
}

func (g *grid) place(p *placed, id uint32) {
	at := g.cornerOf(&p.box)
	i, ok := g.index[at]
	if !ok {
		i = int32(len(g.cells))
		if g.count*4 < len(g.cells) && len(g.cells) > 64 {
			g.pack()
			i = int32(len(g.cells))
		}
		if i < int32(cap(g.cells)) { // a cell that has gone leaves its list
			g.cells = g.cells[:i+1]
			g.cells[i].at, g.cells[i].boxes = at, g.cells[i].boxes[:0]
		} else {
			g.cells = append(g.cells, cell{at: at})
		}
		g.index[at] = i
	}
	n := near{id: id, full: p}
	n.lo, n.hi = g.ranges(&p.box)
	c := &g.cells[i]
	p.grid, p.cell, p.slot = g, i, int32(len(c.boxes))
	c.boxes = append(c.boxes, n)
	g.count++
}

// ranges are those of a box in the grid's axes: everything where it has none.
func (g *grid) ranges(b *Box) (lo, hi [2]int64) {
	for i, d := range g.axes {
		lo[i], hi[i] = -1<<60, 1<<60
		if d >= 0 && b.Dims&(1<<d) != 0 {
			lo[i], hi[i] = b.Lo[d], b.Hi[d]
		}
	}
	return lo, hi
}

// pack drops cells that have nothing in them.
func (g *grid) pack() {
	n := int32(0)
	for i := range g.cells {
		c := &g.cells[i]
		if len(c.boxes) == 0 {
			delete(g.index, c.at)
			continue
		}
		g.cells[n], g.cells[i] = g.cells[i], g.cells[n]
		g.index[g.cells[n].at] = n
		for _, b := range g.cells[n].boxes {
			b.full.cell = n
		}
		n++
	}
	g.cells = g.cells[:n]
}

// take takes a box out of its cell.
func (p *placed) take() {
	boxes := p.grid.cells[p.cell].boxes
	last := len(boxes) - 1
	boxes[p.slot] = boxes[last]
	boxes[p.slot].full.slot = p.slot
	boxes[last] = near{}
	p.grid.cells[p.cell].boxes = boxes[:last]
	p.grid.count--
	p.grid = nil
}

// Find appends the numbers of all boxes of a side that overlap a box.
func (s *Space) Find(b *Box, of Side, out []uint32) []uint32 {
	for _, g := range s.sides[of].grids {
		if g.count == 0 {
			continue
		}
		lo, hi := g.ranges(b)
		from, to := g.reach(lo, hi)
		if to.x-from.x+1 > int64(len(g.cells)) || to.y-from.y+1 > int64(len(g.cells)) ||
			(to.x-from.x+1)*(to.y-from.y+1) > int64(len(g.cells)) {
			for i := range g.cells {
				out = g.cells[i].find(b, g.dims, lo, hi, out)
			}
			continue
		}
		for x := from.x; x <= to.x; x++ {
			for y := from.y; y <= to.y; y++ {
				if i, ok := g.index[corner{x, y}]; ok {
					out = g.cells[i].find(b, g.dims, lo, hi, out)
				}
			}
		}
	}
	return out
}

// reach is in which cells the lower corners are of boxes that may overlap a range.
func (g *grid) reach(lo, hi [2]int64) (from, to corner) {
	size := int64(1) << g.level
	from.x, to.x = (lo[0]-size+1)>>g.level, (hi[0]-1)>>g.level
	if g.axes[0] < 0 {
		from.x, to.x = 0, 0
	}
	if g.axes[1] >= 0 {
		from.y, to.y = (lo[1]-size+1)>>g.level, (hi[1]-1)>>g.level
	}
	return from, to
}

func (c *cell) find(b *Box, dims uint16, lo, hi [2]int64, out []uint32) []uint32 {
	rest := dims & (dims - 1)
	more := rest&(rest-1)&b.Dims != 0 // common dimensions beside the axes
	for i := range c.boxes {
		n := &c.boxes[i]
		if lo[0] < n.hi[0] && n.lo[0] < hi[0] && lo[1] < n.hi[1] && n.lo[1] < hi[1] &&
			(!more || b.Overlaps(&n.full.box)) {
			out = append(out, n.id)
		}
	}
	return out
}

// Pairs calls f for each update with all subscriptions that overlap it. What it is given is good
// until it returns.
func (s *Space) Pairs(f func(update uint32, subscriptions []uint32)) {
	var found []uint32
	var cells []*cell
	for _, g := range s.sides[Update].grids {
		for i := range g.cells {
			c := &g.cells[i]
			if len(c.boxes) == 0 {
				continue
			}
			alike := true
			cells, alike = s.around(g, c, cells[:0])
			for j := range c.boxes {
				n := &c.boxes[j]
				found = found[:0]
				if !alike {
					found = s.Find(&n.full.box, Subscription, found)
				} else {
					for _, d := range cells {
						found = d.find(&n.full.box, g.dims, n.lo, n.hi, found)
					}
				}
				if len(found) > 0 {
					f(n.id, found)
				}
			}
		}
	}
}

// around finds the cells of subscriptions that boxes of a cell may reach, if all subscriptions
// have the grid's dimensions and no cell would be looked at in vain too often.
func (s *Space) around(g *grid, c *cell, out []*cell) ([]*cell, bool) {
	lo, hi := c.boxes[0].lo, c.boxes[0].hi
	for i := range c.boxes {
		for a := range lo {
			lo[a], hi[a] = min(lo[a], c.boxes[i].lo[a]), max(hi[a], c.boxes[i].hi[a])
		}
	}
	for _, h := range s.sides[Subscription].grids {
		if h.count == 0 {
			continue
		}
		from, to := h.reach(lo, hi)
		if h.dims != g.dims || to.x-from.x > 16 || to.y-from.y > 16 {
			return out, false
		}
		for x := from.x; x <= to.x; x++ {
			for y := from.y; y <= to.y; y++ {
				if i, ok := h.index[corner{x, y}]; ok && len(h.cells[i].boxes) > 0 {
					out = append(out, &h.cells[i])
				}
			}
		}
	}
	return out, true
}
