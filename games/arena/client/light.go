package client

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
)

// brightest is what the most light makes of the ground's own color. The ground is drawn that
// bright, and the light takes from it.
const brightest = 1.8

// fineness is how many pixels of light there are along a unit of the map. That is few, so shadows
// have soft edges.
const fineness = 5

// A lightmap is the light that falls on the ground, over the part of it that is on the screen.
type lightmap struct {
	wide, high int
	corner     det.Vec2  // of the first pixel
	light      []float32 // red, green and blue of each pixel
	seen       []float32 // how much of each pixel is in sight
	pix        []byte    // what is drawn
	part       []float32 // how much of the light each pixel has, as bytes
	fog        []byte    // what is drawn of what is out of sight
}

// fit makes room for a screen.
func (m *lightmap) fit(l *lens) {
	h := l.half()
	// A pixel more on each side, so that the border is smooth too.
	wide := min(draw.MaxPixels, int(math.Ceil(2*h.X*fineness))+2)
	high := min(draw.MaxPixels, int(math.Ceil(2*h.Y*fineness))+2)
	m.corner = l.eye.Sub(det.Vec2{
		X: float64(wide) / 2 / fineness, Y: float64(high) / 2 / fineness})
	n := wide * high
	if cap(m.seen) < n {
		m.light, m.seen, m.pix = make([]float32, 3*n), make([]float32, n), make([]byte, 4*n)
	}
	m.light, m.seen, m.pix = m.light[:3*n], m.seen[:n], m.pix[:4*n]
	if wide != m.wide || high != m.high {
		m.wide, m.high = wide, high
		m.darken()
	}
	clear(m.light)
	clear(m.seen)
}

// add lets a light shine: all of its color in the middle, and nothing at the radius.
func (m *lightmap) add(at det.Vec2, radius float64, c scene.Color) {
	cx, cy := (at.X-m.corner.X)*fineness-0.5, (at.Y-m.corner.Y)*fineness-0.5
	r := radius * fineness
	x0, x1 := max(0, int(math.Ceil(cx-r))), min(m.wide-1, int(math.Floor(cx+r)))
	y0, y1 := max(0, int(math.Ceil(cy-r))), min(m.high-1, int(math.Floor(cy+r)))
	inv := float32(1 / r)
	for y := y0; y <= y1; y++ {
		dy := float32(float64(y) - cy)
		row := m.light[3*(y*m.wide):]
		for x := x0; x <= x1; x++ {
			dx := float32(float64(x) - cx)
			f := 1 - sqrt(dx*dx+dy*dy)*inv
			if f <= 0 {
				continue
			}
			f *= f
			row[3*x] += c.R * f
			row[3*x+1] += c.G * f
			row[3*x+2] += c.B * f
		}
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// sight finds how much of each pixel lies in a polygon. Each of its lines adds, to the pixels that
// it passes, by how much the cover of what is to the right of it changes; their sums along a row
// are the cover.
func (m *lightmap) sight(shape []det.Vec2) {
	for i := range shape {
		a, b := shape[i], shape[(i+1)%len(shape)]
		m.edge(float32((a.X-m.corner.X)*fineness), float32((a.Y-m.corner.Y)*fineness),
			float32((b.X-m.corner.X)*fineness), float32((b.Y-m.corner.Y)*fineness))
	}
	for y := range m.high {
		sum := float32(0)
		row := m.seen[y*m.wide : (y+1)*m.wide]
		for x := range row {
			sum += row[x]
			row[x] = min(1, max(sum, -sum))
		}
	}
}

func (m *lightmap) edge(x0, y0, x1, y1 float32) {
	if y0 == y1 {
		return
	}
	sign := float32(1)
	if y0 > y1 {
		x0, y0, x1, y1, sign = x1, y1, x0, y0, -1
	}
	slope := (x1 - x0) / (y1 - y0)
	if y0 < 0 {
		x0, y0 = x0-y0*slope, 0
	}
	y1 = min(y1, float32(m.high))
	x := x0
	for row := int(y0); row < m.high && float32(row) < y1; row++ {
		top, bottom := max(y0, float32(row)), min(y1, float32(row+1))
		high := bottom - top
		next := x + slope*high
		m.span(row, min(x, next), max(x, next), sign*high)
		x = next
	}
}

// span spreads the part of a line that is in one row over the pixels that it passes.
func (m *lightmap) span(row int, left, right, cover float32) {
	cells := m.seen[row*m.wide : (row+1)*m.wide]
	before := float32(0)
	for x := max(0, int(left)); x < len(cells); x++ {
		here := beyond(left, right, float32(x+1)) - beyond(left, right, float32(x))
		cells[x] += cover * (here - before)
		if before = here; float32(x) >= right {
			break
		}
	}
}

// beyond is how far a place is to the right of a line from left to right, in the mean.
func beyond(left, right, x float32) float32 {
	switch {
	case x <= left:
		return 0
	case x >= right:
		return x - (left+right)/2
	}
	return (x - left) * (x - left) / (2 * (right - left))
}

// light draws the light of the scene over the ground.
func (p *painter) light(s *scene.Scene) {
	l, m := &p.lens, &p.lights
	m.fit(l)
	for i := range s.Lights {
		if o := &s.Lights[i]; l.shows(o.Pos, o.Radius) {
			m.add(o.Pos, o.Radius, o.Color)
		}
	}
	for _, r := range p.pits { // what glows lights its surroundings
		p.heat(s, r)
	}
	m.sight(s.Sight)
	m.shade(s)
	w, h := float64(m.wide)/fineness, float64(m.high)/fineness
	p.Blend(draw.Multiply)
	p.Pixels(m.corner.X, m.corner.Y, w, h, m.wide, m.pix)
	p.Blend(draw.Over)
}

// heat lets a pit glow, in waves.
func (p *painter) heat(s *scene.Scene, r arena.Rect) {
	t := s.Time
	for y := r.Min.Y + 0.5; y < r.Max.Y; y++ {
		for x := r.Min.X + 0.5; x < r.Max.X; x++ {
			at := det.Vec2{X: x, Y: y}
			if !p.lens.shows(at, 2.5) {
				continue
			}
			k := 0.78 + 0.22*math.Sin(t*0.9+x*1.7+math.Sin(y*1.3+t*0.6))*
				math.Sin(t*0.7+y*1.9-x*0.6)
			p.lights.add(at, 2.5, scene.Ember.Mul(float32(0.2*k)))
		}
	}
}

// shade makes pixels of the light: what is out of sight is dim, and the corners of the screen are
// darker.
func (m *lightmap) shade(s *scene.Scene) {
	copy(m.pix, m.fog)
	ex, ey := (s.Eye.X-m.corner.X)*fineness-0.5, (s.Eye.Y-m.corner.Y)*fineness-0.5
	const reach = 1.0 / (scene.SightReach * fineness)
	for y := range m.high {
		dy := float32((float64(y) - ey) * reach)
		for x := range m.wide {
			i := y*m.wide + x
			seen := m.seen[i]
			if seen == 0 {
				continue
			}
			dx := float32((float64(x) - ex) * reach)
			lamp := max(0, 1-dx*dx-dy*dy)
			c, k := m.light[3*i:3*i+3], m.part[i]
			r := fog.R + (0.38+0.80*lamp+1.5*c[0]-fog.R)*seen
			g := fog.G + (0.40+0.78*lamp+1.5*c[1]-fog.G)*seen
			b := fog.B + (0.44+0.74*lamp+1.5*c[2]-fog.B)*seen
			p := m.pix[4*i : 4*i+3]
			p[0], p[1], p[2] = uint8(min(255, r*k+0.5)), uint8(min(255, g*k+0.5)),
				uint8(min(255, b*k+0.5))
		}
	}
}

// fog is what is left of the ground's color where it is out of sight.
var fog = scene.Color{R: 0.24, G: 0.25, B: 0.29}

// darken makes what depends on the size of the screen alone: how dark each pixel is by how far from
// the middle it is, and how it looks out of sight.
func (m *lightmap) darken() {
	n := m.wide * m.high
	m.part, m.fog = make([]float32, n), make([]byte, 4*n)
	for i := range n {
		vx := (float64(i%m.wide)+0.5)/float64(m.wide) - 0.5
		vy := (float64(i/m.wide)+0.5)/float64(m.high) - 0.5
		k := 1 - 0.45*min(1, max(0, math.Hypot(vx, vy)*1.35-0.3))
		m.part[i] = float32(k) * 255 / brightest
		m.fog[4*i], m.fog[4*i+1], m.fog[4*i+2], m.fog[4*i+3] = uint8(fog.R*m.part[i]+0.5),
			uint8(fog.G*m.part[i]+0.5), uint8(fog.B*m.part[i]+0.5), 255
	}
}
