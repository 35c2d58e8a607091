//go:build (js && wasm) || desktop

package client

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

// ground draws the floor, the pits, and what lies flat on it.
func (p *painter) ground(s *scene.Scene, l *lens) {
	m := s.Map
	for x, y := range cells(m, l, 0.5, arena.Floor) {
		p.floor(m, l, x, y)
	}
	for x, y := range cells(m, l, 0.5, arena.Pit) {
		p.pit(m, l, x, y, s.Time)
	}
	for i := range s.Scorches {
		k := &s.Scorches[i]
		if l.shows(k.Pos, k.Size) && m.Cell(int(k.Pos.X), int(k.Pos.Y)) != arena.Pit {
			t := ink(scene.Color{}, 0.75*k.Fade())
			p.b.lay(l, sprite.Scorch, k.Pos, k.Size, k.Size, k.Angle, t)
		}
	}
	p.b.flush(p.groundLayer, blendOver)
}

// floor draws one cell. Rooms differ a little in color, so that one knows where one is, and some
// cells are grates.
func (p *painter) floor(m *arena.Map, l *lens, x, y int) {
	room := m.RoomAt(det.Vec2{X: float64(x) + 0.5, Y: float64(y) + 0.5})
	h := mixBits(uint32(x)*0x9e37 ^ uint32(y)*0x85eb<<3)
	shape := sprite.Tile
	if h%23 == 0 {
		shape = sprite.Grate
	}
	k := 0.92 + 0.16*float32(h>>8&255)/255
	c := roomColor(room).Mul(k)
	px, py := l.at(det.Vec2{X: float64(x) + 0.5, Y: float64(y) + 0.5})
	p.b.sprite(shape, px, py, l.scale+0.5, l.scale+0.5, 0, ink(c, 1))
}

// pit draws a cell of glowing metal, darker where it meets the floor.
func (p *painter) pit(m *arena.Map, l *lens, x, y int, t float64) {
	heat := func(cx, cy int) tint {
		k := 1.0
		for dy := -1; dy <= 0; dy++ { // the four cells around a corner
			for dx := -1; dx <= 0; dx++ {
				if m.Cell(cx+dx, cy+dy) != arena.Pit {
					k = 0.3
				}
			}
		}
		fx, fy := float64(cx), float64(cy)
		k *= 0.78 + 0.22*math.Sin(t*0.9+fx*1.7+math.Sin(fy*1.3+t*0.6))*math.Sin(t*0.7+fy*1.9-fx*0.6)
		return ink(scene.Color{R: float32(min(0.9, 0.16+0.8*k)), G: float32(0.05 + 0.34*k*k),
			B: float32(0.03 + 0.06*k*k)}, 1)
	}
	v := func(dx, dy int) point { return l.point(det.Vec2{X: float64(x + dx), Y: float64(y + dy)}) }
	p.b.quad([4]point{v(0, 0), v(1, 0), v(1, 1), v(0, 1)},
		[4]tint{heat(x, y), heat(x+1, y), heat(x+1, y+1), heat(x, y+1)})
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
