//go:build (js && wasm) || desktop

package client

import (
	"math"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

// Ways to put one thing on another.
var (
	blendOver = ebiten.BlendSourceOver
	blendAdd  = ebiten.BlendLighter
	// blendLight adds to the color and leaves alone what is kept in alpha; blendMask is the
	// reverse.
	blendLight = ebiten.Blend{
		BlendFactorSourceRGB: ebiten.BlendFactorOne, BlendFactorSourceAlpha: ebiten.BlendFactorZero,
		BlendFactorDestinationRGB:   ebiten.BlendFactorOne,
		BlendFactorDestinationAlpha: ebiten.BlendFactorOne,
	}
	blendMask = ebiten.Blend{
		BlendFactorSourceRGB: ebiten.BlendFactorZero, BlendFactorSourceAlpha: ebiten.BlendFactorOne,
		BlendFactorDestinationRGB:   ebiten.BlendFactorOne,
		BlendFactorDestinationAlpha: ebiten.BlendFactorOne,
	}
)

// A strip gathers pieces of a sheet, to draw them in one go.
type strip struct {
	sheet    *ebiten.Image
	vertices []ebiten.Vertex
	indices  []uint32
}

// A batch is a strip of the shapes of package sprite.
type batch struct {
	strip
	where [sprite.Shapes][4]float32 // left, top, right, bottom
}

func newBatch() *batch {
	img, where := sprite.Sheet()
	b := &batch{strip: strip{sheet: ebiten.NewImageFromImage(img)}}
	for i, r := range where {
		b.where[i] = [4]float32{
			float32(r.Min.X), float32(r.Min.Y), float32(r.Max.X), float32(r.Max.Y)}
	}
	return b
}

// tint is a color as vertices have it: premultiplied.
type tint [4]float32

func ink(c scene.Color, alpha float64) tint {
	a := float32(alpha)
	return tint{c.R * a, c.G * a, c.B * a, a}
}

// point is a place on the screen.
type point struct{ x, y float32 }

// corner adds a vertex.
func (b *strip) corner(p point, sx, sy float32, t tint) {
	b.vertices = append(b.vertices, ebiten.Vertex{
		DstX: p.x, DstY: p.y, SrcX: sx, SrcY: sy,
		ColorR: t[0], ColorG: t[1], ColorB: t[2], ColorA: t[3],
	})
}

// piece draws a part of the sheet into four corners, in order from the top left.
func (b *strip) piece(p [4]point, r *[4]float32, t tint) {
	n := uint32(len(b.vertices))
	b.corner(p[0], r[0], r[1], t)
	b.corner(p[1], r[2], r[1], t)
	b.corner(p[2], r[2], r[3], t)
	b.corner(p[3], r[0], r[3], t)
	b.square(n)
}

func (b *strip) square(n uint32) { b.indices = append(b.indices, n, n+1, n+2, n, n+2, n+3) }

// sprite draws a shape around a point, turned by an angle.
func (b *batch) sprite(s sprite.Shape, x, y, w, h, angle float64, t tint) {
	sin, cos := math.Sincos(angle)
	ax, ay := float32(cos*w/2), float32(sin*w/2)
	bx, by := float32(-sin*h/2), float32(cos*h/2)
	px, py := float32(x), float32(y)
	b.piece([4]point{
		{px - ax - bx, py - ay - by}, {px + ax - bx, py + ay - by},
		{px + ax + bx, py + ay + by}, {px - ax + bx, py - ay + by},
	}, &b.where[s], t)
}

// lay adds a sprite that lies in the world, at a place and with a size in its units.
func (b *batch) lay(l *lens, s sprite.Shape, at det.Vec2, w, h, angle float64, t tint) {
	x, y := l.at(at)
	b.sprite(s, x, y, w*l.scale, h*l.scale, angle, t)
}

// quad draws any four corners, in order, plain and each in its own color.
func (b *batch) quad(p [4]point, t [4]tint) {
	r := &b.where[sprite.White]
	x, y := (r[0]+r[2])/2, (r[1]+r[3])/2
	n := uint32(len(b.vertices))
	for i := range p {
		b.corner(p[i], x, y, t[i])
	}
	b.square(n)
}

// rect fills a rectangle.
func (b *batch) rect(x, y, w, h float64, t tint) {
	x0, y0, x1, y1 := float32(x), float32(y), float32(x+w), float32(y+h)
	b.quad([4]point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}, [4]tint{t, t, t, t})
}

// line draws a straight line.
func (b *batch) line(a, c point, width float32, t tint) {
	dx, dy := c.x-a.x, c.y-a.y
	l := float32(math.Hypot(float64(dx), float64(dy)))
	if l == 0 {
		return
	}
	nx, ny := -dy/l*width/2, dx/l*width/2
	b.quad([4]point{{a.x + nx, a.y + ny}, {c.x + nx, c.y + ny}, {c.x - nx, c.y - ny},
		{a.x - nx, a.y - ny}}, [4]tint{t, t, t, t})
}

// fan fills a polygon that can be seen whole from its first point.
func (b *batch) fan(from point, around []point, t tint) {
	r := &b.where[sprite.White]
	x, y := (r[0]+r[2])/2, (r[1]+r[3])/2
	n := uint32(len(b.vertices))
	b.corner(from, x, y, t)
	for _, p := range around {
		b.corner(p, x, y, t)
	}
	for i := range uint32(len(around)) {
		next := i + 1
		if next == uint32(len(around)) {
			next = 0
		}
		b.indices = append(b.indices, n, n+1+i, n+1+next)
	}
}

// flush draws what was gathered.
func (b *strip) flush(dst *ebiten.Image, blend ebiten.Blend) {
	if len(b.indices) > 0 {
		dst.DrawTriangles32(b.vertices, b.indices, b.sheet,
			&ebiten.DrawTrianglesOptions{
				Filter: ebiten.FilterLinear, Blend: blend,
				ColorScaleMode: ebiten.ColorScaleModePremultipliedAlpha})
	}
	b.vertices, b.indices = b.vertices[:0], b.indices[:0]
}
