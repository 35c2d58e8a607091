package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest/rooms"
)

// portals finds the openings: straight rows of + or : in a wall.
func (p *parser) portals() {
	m := p.m
	m.portal = make([]int16, len(m.cells))
	for i := range m.portal {
		m.portal[i] = -1
	}
	for y := range m.Height {
		for x := range m.Width {
			c := p.chars[y*m.Width+x]
			if c != '+' && c != ':' || m.portal[y*m.Width+x] >= 0 {
				continue
			}
			if len(m.Portals) >= 2*MaxRooms {
				p.at(x, y, "there are more than %d doorways", 2*MaxRooms)
				return
			}
			p.opening(x, y, c)
		}
	}
}

// opening makes a portal of the row that begins at a cell.
func (p *parser) opening(x, y int, c byte) {
	m := p.m
	same := func(x, y int) bool { return m.Cell(x, y) == Floor && p.chars[y*m.Width+x] == c }
	solid := func(x, y int) bool { return m.Cell(x, y).opaque() }
	dx, dy := 0, 0
	switch {
	case same(x+1, y):
		dx = 1
	case same(x, y+1):
		dy = 1
	case solid(x-1, y) && solid(x+1, y):
		dx = 1
	case solid(x, y-1) && solid(x, y+1):
		dy = 1
	default:
		p.at(x, y, "a doorway must stand in a wall, with # at both ends of its row")
		m.portal[y*m.Width+x] = 0 // reported once
		return
	}
	n := 1
	for same(x+n*dx, y+n*dy) {
		n++
	}
	number := int16(len(m.Portals))
	ok := true
	for i := range n {
		at := spot{x + i*dx, y + i*dy}
		m.portal[at.y*m.Width+at.x] = number
		for _, s := range [2]int{-1, 1} { // both ways through
			over := spot{at.x + s*dy, at.y + s*dx}
			beside := byte(' ')
			if m.Cell(over.x, over.y) != Void {
				beside = p.chars[over.y*m.Width+over.x]
			}
			switch {
			case !ok:
			case solid(over.x, over.y):
				p.at(at.x, at.y,
					"the doorway leads into a wall here; it must be open on both sides along its "+
						"whole row")
				ok = false
			case beside == '+' || beside == ':':
				p.at(at.x, at.y,
					"two doorways touch; leave ground between them, and make each one cell thick")
				ok = false
			}
		}
	}
	if ok && (!solid(x-dx, y-dy) || !solid(x+n*dx, y+n*dy)) {
		p.at(x, y, "a doorway must stand in a wall, with # at both ends of its row")
	}
	o := Portal{Across: dy == 1, Door: -1}
	if o.Across {
		o.P, o.Q = det.Vec2{X: float64(x) + 0.5, Y: float64(y)}, det.Vec2{
			X: float64(x) + 0.5, Y: float64(y + n)}
	} else {
		o.P, o.Q = det.Vec2{X: float64(x), Y: float64(y) + 0.5}, det.Vec2{
			X: float64(x + n), Y: float64(y) + 0.5}
	}
	if c == '+' {
		o.Door = len(m.Doors)
		m.Doors = append(m.Doors, int(number))
	}
	m.Portals = append(m.Portals, o)
}

// rooms fills the ground between the portals, room by room, and finds which rooms each portal
// joins.
func (p *parser) rooms() {
	m := p.m
	m.room = make([]int16, len(m.cells))
	for i := range m.room {
		m.room[i] = -1
	}
	var stack []spot
	for y := range m.Height {
		for x := range m.Width {
			if i := y*m.Width + x; m.cells[i] < Floor || m.room[i] >= 0 || m.portal[i] >= 0 {
				continue
			}
			if len(m.Rooms) >= MaxRooms {
				p.at(x, y, "there are more than %d rooms", MaxRooms)
				return
			}
			stack = m.fill(append(stack[:0], spot{x, y}))
		}
	}
	for n := range m.Portals {
		o := &m.Portals[n]
		over := 1 // from the first cell of the row to those before and behind it
		if !o.Across {
			over = m.Width
		}
		i := m.at(o.P)
		o.Rooms = [2]int{int(m.room[i-over]), int(m.room[i+over])}
		if o.Rooms[0] == o.Rooms[1] {
			p.at(i%m.Width, i/m.Width,
				"both sides of this doorway are the same room; use a dot, or divide the room by "+
					"walls and doorways")
			continue
		}
		for _, r := range o.Rooms {
			m.Rooms[r].Portals = append(m.Rooms[r].Portals, n)
		}
		m.halves(o)
	}
	p.ways()
}

// ways sees that no room has so many doorways that what is between them fills the memory.
func (p *parser) ways() {
	links, cells := 0, 0
	for i := range p.m.Rooms {
		r := &p.m.Rooms[i]
		n := len(r.Portals)
		links, cells = links+n*(n-1), cells+n*r.Cells
		if links > rooms.MaxLinks || cells > maxWays {
			at := r.Bounds.Min
			p.at(int(det.Int32(at.X)), int(det.Int32(at.Y)),
				"a room of %d cells here has %d doorways, more than bots and sight can be worked "+
					"out for; divide it", r.Cells, n)
			return
		}
	}
}

// halves writes the rooms of a doorway's cells: the one at smaller coordinates, as RoomAt knows
// about the line.
func (m *Map) halves(o *Portal) {
	for q := o.P; q.X < o.Q.X || q.Y < o.Q.Y; {
		m.room[m.at(q)] = int16(o.Rooms[0])
		if o.Across {
			q.Y++
		} else {
			q.X++
		}
	}
}

// fill makes a room of all that can be reached from a cell without passing a doorway.
func (m *Map) fill(stack []spot) []spot {
	number := int16(len(m.Rooms))
	r := Room{Bounds: Rect{Min: det.Vec2{X: MaxSide, Y: MaxSide}}}
	m.room[stack[0].y*m.Width+stack[0].x] = number
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		r.Cells++
		r.Bounds.Min = det.Vec2{
			X: min(r.Bounds.Min.X, float64(at.x)), Y: min(r.Bounds.Min.Y, float64(at.y))}
		r.Bounds.Max = det.Vec2{
			X: max(r.Bounds.Max.X, float64(at.x+1)), Y: max(r.Bounds.Max.Y, float64(at.y+1))}
		for _, d := range sides {
			x, y := at.x+d.x, at.y+d.y
			if m.Cell(x, y) < Floor {
				continue
			}
			if i := y*m.Width + x; m.room[i] < 0 && m.portal[i] < 0 {
				m.room[i] = number
				stack = append(stack, spot{x, y})
			}
		}
	}
	m.Rooms = append(m.Rooms, r)
	return stack
}
