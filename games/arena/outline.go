package arena

import "github.com/coeval-dev/coeval/det"

// outline draws the lines where solid meets open, each as long as it goes, and the ground as
// rectangles.
func (m *Map) outline() {
	for y := 0; y <= m.Height; y++ { // lines between a row and the one above
		m.lines(m.Width, func(x int) int { return m.face(x, y, x, y-1) },
			func(from, to int, out float64) Segment {
				return Segment{
					det.Vec2{X: float64(from), Y: float64(y)}, det.Vec2{
						X: float64(to), Y: float64(y)}, det.Vec2{Y: out}}
			})
	}
	for x := 0; x <= m.Width; x++ {
		m.lines(m.Height, func(y int) int { return m.face(x, y, x-1, y) },
			func(from, to int, out float64) Segment {
				return Segment{
					det.Vec2{X: float64(x), Y: float64(from)}, det.Vec2{
						X: float64(x), Y: float64(to)}, det.Vec2{X: out}}
			})
	}
	m.Floors, m.Pits = m.runs(Floor), m.runs(Pit)
}

// face tells which way is out where one of two neighbours is solid and the other open: 1 toward
// larger coordinates, -1 toward smaller, 0 if there is no wall.
func (m *Map) face(x, y, bx, by int) int {
	a, b := m.Cell(x, y).opaque(), m.Cell(bx, by).opaque()
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// lines joins equal faces in a row.
func (m *Map) lines(n int, face func(i int) int, line func(from, to int, out float64) Segment) {
	for from := 0; from < n; {
		f := face(from)
		to := from + 1
		for to < n && face(to) == f {
			to++
		}
		if f != 0 {
			m.Walls = append(m.Walls, line(from, to, float64(f)))
		}
		from = to
	}
}

// runs gives the cells of a kind as rectangles of one row each.
func (m *Map) runs(c Cell) (out []Rect) {
	for y := range m.Height {
		for from := 0; from < m.Width; from++ {
			to := from
			for m.Cell(to, y) == c {
				to++
			}
			if to > from {
				out = append(out,
					Rect{det.Vec2{X: float64(from), Y: float64(y)},
						det.Vec2{X: float64(to), Y: float64(y + 1)}})
				from = to
			}
		}
	}
	return out
}

// masks works out what walkers in each cell may bump into, so that moving costs a look-up where
// there is nothing.
func (m *Map) masks() {
	m.mask = make([]uint8, len(m.cells))
	m.doors = make([][2]int16, len(m.cells))
	for i := range m.cells {
		x, y := i%m.Width, i/m.Width
		for bit, d := range [8]spot{
			{0, -1}, {0, 1}, {-1, 0}, {1, 0}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}} {
			if !m.Walkable(x+d.x, y+d.y) {
				m.mask[i] |= 1 << bit
			}
		}
		m.doors[i] = [2]int16{-1, -1}
		n := 0
		for _, d := range [5]spot{{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}} {
			if !m.Walkable(x+d.x, y+d.y) {
				continue
			}
			k := m.portal[(y+d.y)*m.Width+x+d.x]
			if k < 0 || m.Portals[k].Door < 0 {
				continue
			}
			if door := int16(m.Portals[k].Door); n < 2 && m.doors[i][0] != door {
				m.doors[i][n] = door
				n++
			}
		}
	}
}
