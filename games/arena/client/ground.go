package client

import (
	"strconv"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

// The ground is drawn once, in squares of so many cells, and then copied. Most maps are one square.
const (
	square  = 64
	density = 40 // pixels a cell
)

// ground draws the floor, the pits, and what lies flat on it.
func (p *painter) ground(s *scene.Scene) {
	m, l := s.Map, &p.lens
	if p.level != m {
		p.open(m)
	}
	h := l.half()
	for i := range p.squares {
		q := &p.squares[i]
		if q.x1 < l.eye.X-h.X || q.y1 < l.eye.Y-h.Y || q.x0 > l.eye.X+h.X || q.y0 > l.eye.Y+h.Y {
			continue
		}
		w, h := q.x1-q.x0, q.y1-q.y0
		p.Picture(q.name, w, h, density, func(to *draw.Surface) { lay(brush{to}, m, q) })
		p.Image(q.name, q.x0+w/2, q.y0+h/2, w, h, 0, draw.White)
	}
	for i := range s.Scorches {
		k := &s.Scorches[i]
		if l.shows(k.Pos, k.Size) && m.Cell(int(k.Pos.X), int(k.Pos.Y)) != arena.Pit {
			p.Image(names[sprite.Scorch], k.Pos.X, k.Pos.Y, k.Size, k.Size, k.Angle,
				ink(scene.Color{R: 1, G: 1, B: 1}, 0.75*k.Fade()))
		}
	}
}

// A piece is a part of the ground.
type piece struct {
	name           string
	x0, y0, x1, y1 float64
}

// open begins on another map.
func (p *painter) open(m *arena.Map) {
	p.level = m
	p.sight = make([]float32, m.Width*m.Height*4)
	p.squares = p.squares[:0]
	for y := 0; y < m.Height; y += square {
		for x := 0; x < m.Width; x += square {
			p.squares = append(p.squares, piece{
				"ground " + strconv.FormatUint(m.Hash(), 36) + " " + strconv.Itoa(len(p.squares)),
				float64(x), float64(y), float64(min(x+square, m.Width)),
				float64(min(y+square, m.Height))})
		}
	}
	p.roofs = blocks(m, arena.Wall)
	p.pits = blocks(m, arena.Pit)
}

// lay draws a part of the ground as bright as light can make it.
func lay(b brush, m *arena.Map, q *piece) {
	for y := int(q.y0); y < int(q.y1); y++ {
		for x := int(q.x0); x < int(q.x1); x++ {
			px, py := float64(x)-q.x0, float64(y)-q.y0
			switch m.Cell(x, y) {
			case arena.Floor:
				b.floor(m, x, y, px, py)
			case arena.Pit:
				b.pit(m, x, y, px, py)
			}
		}
	}
}

// floor draws one cell. Rooms differ a little in color, so that one knows where one is, and some
// cells are grates.
func (b brush) floor(m *arena.Map, x, y int, px, py float64) {
	room := m.RoomAt(det.Vec2{X: float64(x) + 0.5, Y: float64(y) + 0.5})
	h := mixBits(uint32(x)*0x9e37 ^ uint32(y)*0x85eb<<3)
	shape := sprite.Tile
	if h%23 == 0 {
		shape = sprite.Grate
	}
	k := 0.92 + 0.16*float32(h>>8&255)/255
	b.Rect(px, py, 1, 1, ink(roomColor(room).Mul(k*brightest), 1))
	b.Image(names[shape], px+0.5, py+0.5, 1, 1, 0, draw.White)
}

// pit draws a cell of glowing metal, darker where it meets the floor.
func (b brush) pit(m *arena.Map, x, y int, px, py float64) {
	heat := func(cx, cy int) float64 {
		for dy := -1; dy <= 0; dy++ { // the four cells around a corner
			for dx := -1; dx <= 0; dx++ {
				if m.Cell(cx+dx, cy+dy) != arena.Pit {
					return 0.3
				}
			}
		}
		return 1
	}
	c := [4]float64{heat(x, y), heat(x+1, y), heat(x, y+1), heat(x+1, y+1)}
	const n = 8
	var pix [4 * n * n]byte
	for j := range n {
		for i := range n {
			u, v := (float64(i)+0.5)/n, (float64(j)+0.5)/n
			k := (c[0]*(1-u)+c[1]*u)*(1-v) + (c[2]*(1-u)+c[3]*u)*v
			o := ink(scene.Color{R: brightest * float32(min(0.9, 0.16+0.8*k)),
				G: brightest * float32(0.05+0.34*k*k), B: brightest * float32(0.03+0.06*k*k)}, 1)
			at := 4 * (j*n + i)
			pix[at], pix[at+1], pix[at+2], pix[at+3] = o.Channels()
		}
	}
	b.Pixels(px, py, 1, 1, n, pix[:])
}

// blocks joins the cells of a kind to rectangles.
func blocks(m *arena.Map, kind arena.Cell) (list []arena.Rect) {
	done := make([]bool, m.Width*m.Height)
	free := func(x, y int) bool {
		return x < m.Width && y < m.Height && m.Cell(x, y) == kind && !done[y*m.Width+x]
	}
	for y := range m.Height {
		for x := range m.Width {
			if !free(x, y) {
				continue
			}
			w, h := 1, 1
			for free(x+w, y) {
				w++
			}
			for row := true; row; {
				for i := range w {
					row = row && free(x+i, y+h)
				}
				if row {
					h++
				}
			}
			for j := range h {
				for i := range w {
					done[(y+j)*m.Width+x+i] = true
				}
			}
			list = append(list, arena.Rect{Min: det.Vec2{X: float64(x), Y: float64(y)},
				Max: det.Vec2{X: float64(x + w), Y: float64(y + h)}})
		}
	}
	return list
}

// roomColor is the shade of a room's floor.
func roomColor(room int) scene.Color {
	shades := [...]scene.Color{
		{R: 0.30, G: 0.36, B: 0.47}, {R: 0.28, G: 0.38, B: 0.43}, {R: 0.35, G: 0.35, B: 0.46}, {
			R: 0.27, G: 0.36, B: 0.50}, {R: 0.36, G: 0.36, B: 0.40}, {R: 0.31, G: 0.39, B: 0.41}}
	if room < 0 {
		return shades[0]
	}
	return shades[mixBits(uint32(room)+7)%uint32(len(shades))]
}

// mixBits makes a number look random.
func mixBits(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}
