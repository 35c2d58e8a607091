package client

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
)

// A side is a face of a wall: that of one cell, or of several in a row that look the same.
type side struct {
	a, b  det.Vec2    // its foot
	color scene.Color // half way up
	far   float64     // from the middle of the screen
}

// A rim is the upper edge of a wall, in the same way.
type rim struct {
	a, b  det.Vec2
	color draw.Color
}

// runs remember, for each way that a face may look and each line of the map, the last one there, so
// that the next may be joined to it.
type runs struct{ sides, rims [4][]int32 }

func (r *runs) begin(m *arena.Map) {
	n := max(m.Width, m.Height)
	for _, list := range [...]*[4][]int32{&r.sides, &r.rims} {
		for i := range list {
			if len(list[i]) < n {
				list[i] = make([]int32, n)
			}
			for k := range list[i] {
				list[i][k] = -1
			}
		}
	}
}

// walls draws all that rises: faces first, the far ones before the near, then tops, which nothing
// can cover as all are of one height.
func (p *painter) walls(s *scene.Scene, dt float64) {
	m, l := s.Map, &p.lens
	p.sides, p.rims = p.sides[:0], p.rims[:0]
	p.runs.begin(m)
	for x, y := range cells(m, l, 1.5, arena.Wall) {
		p.facesOf(s, x, y, dt)
	}
	for r := range leaves(s, l) {
		p.leaf(s, r)
	}
	for i := range p.sides {
		p.sides[i].far = distance(l.eye, p.sides[i].a, p.sides[i].b)
	}
	slices.SortFunc(p.sides, func(a, b side) int { return cmp.Compare(b.far, a.far) })
	for i := range p.sides {
		p.face(&p.sides[i])
	}
	roof := ink(scene.Color{R: 0.108, G: 0.12, B: 0.156}, 1)
	half := l.half()
	const over = 0.02 // so that nothing shines through where two meet; rims are wider
	for _, r := range p.roofs {
		a, b := l.top(r.Min), l.top(r.Max)
		if a.X > l.eye.X+half.X || b.X < l.eye.X-half.X || a.Y > l.eye.Y+half.Y ||
			b.Y < l.eye.Y-half.Y {
			continue
		}
		p.Rect(a.X-over, a.Y-over, b.X-a.X+2*over, b.Y-a.Y+2*over, roof)
	}
	for r := range leaves(s, l) {
		p.doorTop(s, r)
	}
	width := max(0.055, 1/l.scale)
	for i := range p.rims {
		r := &p.rims[i]
		a, b := l.top(r.a), l.top(r.b)
		p.Rect(min(a.X, b.X)-width/2, min(a.Y, b.Y)-width/2, math.Abs(b.X-a.X)+width,
			math.Abs(b.Y-a.Y)+width, r.color)
	}
}

// distance is how far a line is from a place, at its nearest.
func distance(at, a, b det.Vec2) float64 {
	x := min(max(at.X, min(a.X, b.X)), max(a.X, b.X))
	y := min(max(at.Y, min(a.Y, b.Y)), max(a.Y, b.Y))
	return math.Hypot(at.X-x, at.Y-y)
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

// What walls and doors are made of.
var (
	stone = scene.Color{R: 0.40, G: 0.47, B: 0.62}
	brass = scene.Color{R: 0.62, G: 0.52, B: 0.28}
)

// facesOf adds the faces of a cell that are turned to the viewer, and the edges of its top.
func (p *painter) facesOf(s *scene.Scene, x, y int, dt float64) {
	m, l := s.Map, &p.lens
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
		if math.Abs(float64(want-*lit)) < 0.02 {
			*lit = want
		}
		k := p.shine(s, mid, n, *lit)
		line := y
		if d.dx != 0 {
			line = x
		}
		p.rim(i, line, a, b, ink(scene.Color{
			R: 0.1 + 0.5*k.R, G: 0.13 + 0.62*k.G, B: 0.2 + 0.8*k.B}, 1)&^0x03030300)
		if l.eye.Sub(mid).Dot(n) > 0 {
			p.wall(i, line, a, b, scene.Color{
				R: even(stone.R * k.R), G: even(stone.G * k.G), B: even(stone.B * k.B)})
		}
	}
}

// even rounds a part of a color, so that neighbours look the same.
func even(x float32) float32 { return float32(math.Round(float64(x)*80)) / 80 }

// joins says whether a line goes on where another ends, and makes one of them.
func joins(a, b *det.Vec2, c, d det.Vec2) bool {
	switch {
	case *b == c:
		*b = d
	case *a == d:
		*a = c
	default:
		return false
	}
	return true
}

// wall adds a face.
func (p *painter) wall(way, line int, a, b det.Vec2, c scene.Color) {
	last := &p.runs.sides[way][line]
	if *last >= 0 {
		if o := &p.sides[*last]; o.color == c && joins(&o.a, &o.b, a, b) {
			return
		}
	}
	*last = int32(len(p.sides))
	p.sides = append(p.sides, side{a: a, b: b, color: c})
}

// rim adds an edge.
func (p *painter) rim(way, line int, a, b det.Vec2, c draw.Color) {
	last := &p.runs.rims[way][line]
	if *last >= 0 {
		if o := &p.rims[*last]; o.color == c && joins(&o.a, &o.b, a, b) {
			return
		}
	}
	*last = int32(len(p.rims))
	p.rims = append(p.rims, rim{a, b, c})
}

// leaf adds the faces of half a door.
func (p *painter) leaf(s *scene.Scene, r arena.Rect) {
	c := corners(r)
	for i, d := range neighbours {
		n := det.Vec2{X: float64(d.dx), Y: float64(d.dy)}
		a, b := c[i], c[(i+1)%4]
		mid := a.Lerp(b, 0.5)
		if p.lens.eye.Sub(mid).Dot(n) <= 0 {
			continue
		}
		lit := float32(0)
		if s.Eye.Sub(mid).Dot(n) > 0 && s.Geometry.Clear(s.Eye, mid.MulAdd(n, 0.05)) {
			lit = 1
		}
		k := p.shine(s, mid, n, lit)
		p.sides = append(p.sides, side{a: a, b: b, color: scene.Color{
			R: brass.R * k.R, G: brass.G * k.G, B: brass.B * k.B}})
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

// face draws a face in bands, the higher the brighter. A low one has fewer.
func (p *painter) face(f *side) {
	l := &p.lens
	high := max(l.up(f.a, 1).Sub(f.a).Len(), l.up(f.b, 1).Sub(f.b).Len()) * l.scale
	bands := min(4, 1+int(high/7))
	for i := range bands {
		part := float64(i) / float64(bands)
		k := 0.55 + 0.7*float32(float64(i)+0.5)/float32(bands)
		p.quad(ink(f.color.Mul(k), 1), [4]det.Vec2{
			l.top(f.a), l.top(f.b), l.up(f.b, part), l.up(f.a, part)})
	}
}

func (p *painter) doorTop(s *scene.Scene, r arena.Rect) {
	l, c := &p.lens, corners(r)
	d := s.Eye.Sub(c[0].Lerp(c[2], 0.5)).Len() / scene.SightReach
	k := float32(0.2 + 0.35*max(0, 1-d))
	a, b := l.top(r.Min), l.top(r.Max)
	p.Rect(a.X, a.Y, b.X-a.X, b.Y-a.Y, ink(scene.Warning.Mul(k), 1))
	// A light along the middle tells a door from a wall.
	a, b = l.top(c[0].Lerp(c[3], 0.5)), l.top(c[1].Lerp(c[2], 0.5))
	if r.Max.Y-r.Min.Y > r.Max.X-r.Min.X {
		a, b = l.top(c[0].Lerp(c[1], 0.5)), l.top(c[3].Lerp(c[2], 0.5))
	}
	p.Line(a.X, a.Y, b.X, b.Y, 0.07, ink(scene.Warning.Mul(k*2.2), 1))
}
