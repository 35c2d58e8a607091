//go:build (js && wasm) || desktop

package client

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
)

// A side is one face of a wall, as wide as a cell.
type side struct {
	a, b   det.Vec2 // its foot
	normal det.Vec2 // towards the open
	lit    float32  // how much of it is in sight
	far    float64  // from the middle of the screen
	door   bool
}

// walls draws all that rises: faces first, the far ones before the near, then tops, which nothing
// can cover as all are of one height.
func (p *painter) walls(dst *ebiten.Image, s *scene.Scene, l *lens, dt float64) {
	m := s.Map
	if p.sightMap != m {
		p.sightMap, p.sight = m, make([]float32, m.Width*m.Height*4)
	}
	p.sides = p.sides[:0]
	for x, y := range cells(m, l, 1.5, arena.Wall) {
		p.facesOf(s, l, x, y, dt)
	}
	for r := range leaves(s, l) {
		p.leaf(s, l, r)
	}
	slices.SortFunc(p.sides, func(a, b side) int { return cmp.Compare(b.far, a.far) })
	for i := range p.sides {
		p.face(s, l, &p.sides[i])
	}
	for x, y := range cells(m, l, 1.5, arena.Wall) {
		p.roof(s, l, x, y)
	}
	for r := range leaves(s, l) {
		p.doorTop(s, l, r)
	}
	for x, y := range cells(m, l, 1.5, arena.Wall) {
		p.rims(s, l, x, y)
	}
	p.b.flush(dst, blendOver)
}

// cells are those of a kind that may be on the screen, with a margin.
func cells(m *arena.Map, l *lens, margin float64, kind arena.Cell) iter.Seq2[int, int] {
	return func(yield func(x, y int) bool) {
		x0, y0, x1, y1 := l.cells(margin, m.Width, m.Height)
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				if m.Cell(x, y) == kind && !yield(x, y) {
					return
				}
			}
		}
	}
}

// leaves are halves of doors that may be on the screen.
func leaves(s *scene.Scene, l *lens) iter.Seq[arena.Rect] {
	return func(yield func(arena.Rect) bool) {
		for d := range s.Map.Doors {
			for _, r := range s.Geometry.Leaves(d) {
				if r.Max.X > r.Min.X && r.Max.Y > r.Min.Y && l.shows(r.Min, 3) && !yield(r) {
					return
				}
			}
		}
	}
}

// corners of a rectangle, in the order of neighbours.
func corners(r arena.Rect) [4]det.Vec2 {
	return [4]det.Vec2{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// cornersOf are those of a cell.
func cornersOf(x, y int) [4]det.Vec2 {
	at := det.Vec2{X: float64(x), Y: float64(y)}
	return corners(arena.Rect{Min: at, Max: at.Add(det.Vec2{X: 1, Y: 1})})
}

var neighbours = [4]struct{ dx, dy int }{{0, -1}, {1, 0}, {0, 1}, {-1, 0}}

func open(c arena.Cell) bool { return c == arena.Floor || c == arena.Pit }

// facesOf adds the faces of a cell that are turned to the viewer.
func (p *painter) facesOf(s *scene.Scene, l *lens, x, y int, dt float64) {
	m := s.Map
	c := cornersOf(x, y)
	for i, d := range neighbours {
		if !open(m.Cell(x+d.dx, y+d.dy)) {
			continue
		}
		n := det.Vec2{X: float64(d.dx), Y: float64(d.dy)}
		a, b := c[i], c[(i+1)%4]
		mid := a.Lerp(b, 0.5)
		// What is in sight comes and goes softly.
		lit := &p.sight[(y*m.Width+x)*4+i]
		want := float32(0)
		if s.Eye.Sub(mid).Dot(n) > 0 &&
			s.Eye.Sub(mid).LenSq() < scene.SightReach*scene.SightReach &&
			s.Geometry.Clear(s.Eye, mid.MulAdd(n, 0.05)) {
			want = 1
		}
		*lit += (want - *lit) * float32(1-math.Exp(-14*dt))
		if l.eye.Sub(mid).Dot(n) > 0 {
			p.sides = append(p.sides, side{a, b, n, *lit, l.eye.Sub(mid).LenSq(), false})
		}
	}
}

// leaf adds the faces of half a door.
func (p *painter) leaf(s *scene.Scene, l *lens, r arena.Rect) {
	c := corners(r)
	for i, d := range neighbours {
		n := det.Vec2{X: float64(d.dx), Y: float64(d.dy)}
		mid := c[i].Lerp(c[(i+1)%4], 0.5)
		if l.eye.Sub(mid).Dot(n) <= 0 {
			continue
		}
		lit := float32(0)
		if s.Eye.Sub(mid).Dot(n) > 0 && s.Geometry.Clear(s.Eye, mid.MulAdd(n, 0.05)) {
			lit = 1
		}
		p.sides = append(p.sides, side{c[i], c[(i+1)%4], n, lit, l.eye.Sub(mid).LenSq(), true})
	}
}

// shine is how bright a face is at a place: by sight, and by the lights around.
func (p *painter) shine(s *scene.Scene, at, normal det.Vec2, lit float32) scene.Color {
	d := s.Eye.Sub(at).Len() / scene.SightReach
	k := 0.10 + 0.62*lit*float32(max(0, 1-d*d))
	c := scene.Color{R: k * 0.9, G: k * 0.96, B: k * 1.1}
	if lit < 0.05 {
		return c
	}
	for i := range s.Lights {
		o := &s.Lights[i]
		to := o.Pos.Sub(at)
		dist := to.LenSq()
		if dist > o.Radius*o.Radius*2.2 || to.Dot(normal) < 0 {
			continue
		}
		f := 1 - math.Sqrt(dist)/(o.Radius*1.5)
		if f <= 0 {
			continue
		}
		g := float32(f*f) * 1.4 * lit
		c.R += o.Color.R * g
		c.G += o.Color.G * g
		c.B += o.Color.B * g
	}
	return c
}

func (p *painter) face(s *scene.Scene, l *lens, f *side) {
	base := scene.Color{R: 0.40, G: 0.47, B: 0.62}
	if f.door {
		base = scene.Color{R: 0.62, G: 0.52, B: 0.28}
	}
	shade := func(at det.Vec2) (foot, top tint) {
		k := p.shine(s, at, f.normal, f.lit)
		c := scene.Color{R: base.R * k.R, G: base.G * k.G, B: base.B * k.B}
		return ink(c.Mul(0.55), 1), ink(c.Mul(1.25), 1)
	}
	footA, topA := shade(f.a)
	footB, topB := shade(f.b)
	p.b.quad([4]point{l.top(f.a), l.top(f.b), l.point(f.b), l.point(f.a)},
		[4]tint{topA, topB, footB, footA})
}

// roof draws the top of a wall.
func (p *painter) roof(s *scene.Scene, l *lens, x, y int) {
	c := cornersOf(x, y)
	var t [4]tint
	for i := range c {
		d := s.Eye.Sub(c[i]).Len() / scene.SightReach
		k := float32(0.105 + 0.06*max(0, 1-d))
		t[i] = ink(scene.Color{R: k * 0.9, G: k, B: k * 1.3}, 1)
	}
	p.b.quad([4]point{l.top(c[0]), l.top(c[1]), l.top(c[2]), l.top(c[3])}, t)
}

func (p *painter) doorTop(s *scene.Scene, l *lens, r arena.Rect) {
	c := corners(r)
	d := s.Eye.Sub(c[0].Lerp(c[2], 0.5)).Len() / scene.SightReach
	k := float32(0.2 + 0.35*max(0, 1-d))
	t := ink(scene.Warning.Mul(k), 1)
	p.b.quad([4]point{l.top(c[0]), l.top(c[1]), l.top(c[2]), l.top(c[3])}, [4]tint{t, t, t, t})
	// A light along the middle tells a door from a wall.
	a, b := c[0].Lerp(c[3], 0.5), c[1].Lerp(c[2], 0.5)
	if r.Max.Y-r.Min.Y > r.Max.X-r.Min.X {
		a, b = c[0].Lerp(c[1], 0.5), c[3].Lerp(c[2], 0.5)
	}
	p.b.line(l.top(a), l.top(b), float32(0.07*l.scale), ink(scene.Warning.Mul(k*2.2), 1))
}

// rims draws the upper edges of a wall, bright where they are in sight.
func (p *painter) rims(s *scene.Scene, l *lens, x, y int) {
	m, c := s.Map, cornersOf(x, y)
	for i, d := range neighbours {
		if !open(m.Cell(x+d.dx, y+d.dy)) {
			continue
		}
		a, b := c[i], c[(i+1)%4]
		n := det.Vec2{X: float64(d.dx), Y: float64(d.dy)}
		k := p.shine(s, a.Lerp(b, 0.5), n, p.sight[(y*m.Width+x)*4+i])
		rim := scene.Color{R: 0.1 + 0.5*k.R, G: 0.13 + 0.62*k.G, B: 0.2 + 0.8*k.B}
		p.b.line(l.top(a), l.top(b), float32(max(1, 0.055*l.scale)), ink(rim, 1))
	}
}
