package interest

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A grid finds what is near a place. Things whose reach is large (seen from afar, heard from afar,
// or fast) would force every search to go far, so the grid has levels: each with cells twice as
// large as the one before, and things stand on the level that fits their reach. A search visits a
// few cells of each level that is not empty, as in hierarchical grids for collision. Space is not
// bounded; only cells that something was in exist.
type grid struct {
	levels []level
	cell   float64 // side of the cells of level 0
	part   float64 // a level takes reaches up to this part of its side
	cubes  bool    // cells are cubes, not columns
	which  int     // which of an entity's places is in this grid
}

// A level is a uniform grid.
type level struct {
	side, inverse float64
	reach         float64 // no member's is larger; it shrinks only when the level becomes empty
	members       int
	occupied      int // cells that are not empty
	cells         []cell
	find          table // a cell's number by its key
	// revision at which cells were last forgotten, so that their own stamps say nothing
	stamp uint64
}

// A cell holds what is in it side by side, so that a search reads memory in order.
type cell struct {
	key     uint64
	stamp   uint64 // revision at which something last came, went or changed here
	members []member
}

// A member is what a search needs of an entity: one line of cache.
type member struct {
	x, y, z float64
	// how much further it is noticed, for its own sake; and for each second of a client's round
	// trip
	reach, speed float64
	id           world.ID
	only         uint64
	importance   float32
	slot         uint32
}

// A place says where an entity stands in a grid.
type place struct {
	level    int32 // -1 for nowhere
	cell, at uint32
}

var noPlace = place{level: -1}

const (
	maxLevels = 32
	axisBits  = 21
	// what is further away than this many cells stands in the last one
	axisMax = 1<<(axisBits-1) - 1
)

// levelFor is the lowest level that a reach fits.
func (g *grid) levelFor(reach float64) int {
	n := 0
	for side := g.cell; reach > float64(side*g.part) && n < maxLevels-1; side *= 2 {
		n++
	}
	return n
}

// level makes sure that a level exists.
func (g *grid) level(n int) *level {
	for len(g.levels) <= n {
		side := g.cell
		if k := len(g.levels); k > 0 {
			side = 2 * g.levels[k-1].side
		}
		g.levels = append(g.levels, level{side: side, inverse: 1 / side})
	}
	return &g.levels[n]
}

// axis is the number of the cell along one axis.
func (l *level) axis(x float64) int {
	return int(det.Floor(det.Clamp(x*l.inverse, -axisMax, axisMax)))
}

// key packs the numbers of a cell. The bit on top keeps it from being zero.
func key(x, y, z int) uint64 {
	const mask = 1<<axisBits - 1
	return 1<<63 | uint64(x)&mask<<(2*axisBits) | uint64(y)&mask<<axisBits | uint64(z)&mask
}

// unpack gives back the numbers, with their signs.
func unpack(key uint64) (x, y, z int) {
	axis := func(up int) int { return int(int64(key<<up) >> (64 - axisBits)) }
	return axis(64 - 3*axisBits), axis(64 - 2*axisBits), axis(64 - axisBits)
}

func (g *grid) keyOf(l *level, p det.Vec3) uint64 {
	if g.cubes {
		return key(l.axis(p.X), l.axis(p.Y), l.axis(p.Z))
	}
	return key(l.axis(p.X), l.axis(p.Y), 0)
}

// set puts an entity where its traits say, at the cost of a comparison if it stays in its cell.
// whole is the reach that decides on the level.
func (ix *Index) set(g *grid, m member, whole float64) {
	r := &ix.entities[m.slot]
	at := &r.places[g.which]
	n := g.levelFor(whole)
	l := g.level(n)
	l.reach = max(l.reach, whole)
	k := g.keyOf(l, r.traits.Pos)
	if at.level == int32(n) && l.cells[at.cell].key == k {
		c := &l.cells[at.cell]
		c.members[at.at] = m
		c.stamp = ix.revision
		return
	}
	ix.unset(g, m.slot)
	if l.members == 0 {
		l.reach = whole
	}
	number, ok := l.find.get(k)
	if !ok {
		number = ix.newCell(g, n, k)
	}
	c := &l.cells[number]
	if len(c.members) == 0 {
		l.occupied++
	}
	c.members = append(c.members, m)
	c.stamp = ix.revision
	l.members++
	*at = place{int32(n), number, uint32(len(c.members) - 1)}
}

// unset takes an entity out of a grid.
func (ix *Index) unset(g *grid, slot uint32) {
	at := &ix.entities[slot].places[g.which]
	if at.level < 0 {
		return
	}
	l := &g.levels[at.level]
	c := &l.cells[at.cell]
	last := len(c.members) - 1
	if int(at.at) != last {
		moved := c.members[last]
		c.members[at.at] = moved
		ix.entities[moved.slot].places[g.which].at = at.at
	}
	c.members = c.members[:last]
	c.stamp = ix.revision
	if last == 0 {
		l.occupied--
	}
	l.members--
	if l.members == 0 {
		// Searches pass by an empty level, and so by the stamp of the cell that was just left.
		l.stamp = ix.revision
	}
	*at = noPlace
}

// newCell makes a cell. Cells that became empty stay, with their memory, as whoever left may come
// back; when they are most of all, they are used up first.
func (ix *Index) newCell(g *grid, n int, k uint64) uint32 {
	l := &g.levels[n]
	if len(l.cells) == cap(l.cells) && len(l.cells) > 4*l.occupied+64 {
		l.forget(ix, g.which)
	}
	number := len(l.cells)
	if number < cap(l.cells) {
		l.cells = l.cells[:number+1] // its members' memory is left from before
	} else {
		l.cells = append(l.cells, cell{})
	}
	c := &l.cells[number]
	c.key, c.members = k, c.members[:0]
	l.find.put(k, uint32(number))
	return uint32(number)
}

// forget drops the empty cells. Their memory stays behind the others, for cells to come.
func (l *level) forget(ix *Index, which int) {
	l.find.clear()
	kept := 0
	for i := range l.cells {
		if len(l.cells[i].members) == 0 {
			continue
		}
		l.cells[kept], l.cells[i] = l.cells[i], l.cells[kept]
		c := &l.cells[kept]
		for _, m := range c.members {
			ix.entities[m.slot].places[which].cell = uint32(kept)
		}
		l.find.put(c.key, uint32(kept))
		kept++
	}
	l.cells = l.cells[:kept]
	l.stamp = ix.revision
}

// around appends the numbers of the cells that hold whatever is within a distance of a point, and
// perhaps a little more.
func (g *grid) around(cells []uint32, l *level, p det.Vec3, distance float64) []uint32 {
	// Rounding may put a thing on the other side of a border, or let it count as within a distance
	// that it is just beyond; and the squares of the smallest distances are zero.
	distance += float64((distance+det.Abs(p.X)+det.Abs(p.Y)+det.Abs(p.Z))*1e-12) + 1e-150
	x0, x1 := l.axis(p.X-distance), l.axis(p.X+distance)
	y0, y1 := l.axis(p.Y-distance), l.axis(p.Y+distance)
	z0, z1 := 0, 0
	if g.cubes {
		z0, z1 = l.axis(p.Z-distance), l.axis(p.Z+distance)
	}
	if block := float64(x1-x0+1) * float64(y1-y0+1) * float64(z1-z0+1); block > float64(
		len(l.cells)) {
		for i := range l.cells {
			x, y, z := unpack(l.cells[i].key)
			if x >= x0 && x <= x1 && y >= y0 && y <= y1 && z >= z0 && z <= z1 {
				cells = append(cells, uint32(i))
			}
		}
		return cells
	}
	limit := float64(distance * distance)
	for z := z0; z <= z1; z++ {
		dz := 0.0
		if g.cubes {
			dz = l.gap(z, p.Z)
		}
		for y := y0; y <= y1; y++ {
			dy := l.gap(y, p.Y)
			rest := limit - float64(dy*dy) - float64(dz*dz)
			for x := x0; x <= x1; x++ {
				dx := l.gap(x, p.X)
				if float64(dx*dx) > rest {
					continue // a corner of the block
				}
				if number, ok := l.find.get(key(x, y, z)); ok {
					cells = append(cells, number)
				}
			}
		}
	}
	return cells
}

// gap is how far it is, along one axis, from a coordinate to the nearest point of the cells with a
// number. The last cells have no end.
func (l *level) gap(number int, x float64) float64 {
	near := float64(float64(number) * l.side)
	switch {
	case number == -axisMax || number == axisMax:
		return 0
	case x < near:
		return near - x
	case x > near+l.side:
		return x - near - l.side
	}
	return 0
}
