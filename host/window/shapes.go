//go:build desktop && !js

package window

import (
	"image"
	"image/color"
	"math"
	"sync"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/coeval-dev/coeval/draw"
)

// A batch gathers triangles, to draw them in one go.
type batch struct {
	sheet    *ebiten.Image
	smooth   bool // edges are
	vertices []ebiten.Vertex
	indices  []uint32
}

// point is a place on the screen, in pixels.
type point struct{ x, y float64 }

// tint is a color as vertices have it: multiplied by its opacity.
type tint [4]float32

func ink(c draw.Color) tint {
	r, g, b, a := c.Channels()
	k := float32(a) / 255
	return tint{float32(r) / 255 * k, float32(g) / 255 * k, float32(b) / 255 * k, k}
}

func rgba(c draw.Color) color.NRGBA {
	r, g, b, a := c.Channels()
	return color.NRGBA{R: r, G: g, B: b, A: a}
}

// use says what the next triangles are cut from.
func (r *replayer) use(sheet *ebiten.Image, smooth bool) {
	if b := &r.batch; b.sheet != sheet || b.smooth != smooth {
		r.flush()
		b.sheet, b.smooth = sheet, smooth
	}
}

// flush draws what was gathered.
func (r *replayer) flush() {
	b := &r.batch
	if len(b.indices) > 0 {
		r.dst.DrawTriangles32(b.vertices, b.indices, b.sheet, &ebiten.DrawTrianglesOptions{
			Filter: ebiten.FilterLinear, Blend: blends[r.blend], AntiAlias: b.smooth,
			ColorScaleMode: ebiten.ColorScaleModePremultipliedAlpha})
	}
	b.vertices, b.indices = b.vertices[:0], b.indices[:0]
}

func (b *batch) corner(p point, sx, sy float32, t tint) {
	b.vertices = append(b.vertices, ebiten.Vertex{
		DstX: float32(p.x), DstY: float32(p.y), SrcX: sx, SrcY: sy,
		ColorR: t[0], ColorG: t[1], ColorB: t[2], ColorA: t[3],
	})
}

// piece draws a part of the sheet, left, top, right and bottom, into four corners.
func (r *replayer) piece(p [4]point, from [4]float32, t tint) {
	b := &r.batch
	n := uint32(len(b.vertices))
	b.corner(p[0], from[0], from[1], t)
	b.corner(p[1], from[2], from[1], t)
	b.corner(p[2], from[2], from[3], t)
	b.corner(p[3], from[0], from[3], t)
	b.indices = append(b.indices, n, n+1, n+2, n, n+2, n+3)
}

// sprite draws an image into four corners.
func (r *replayer) sprite(i *ebiten.Image, p [4]point, t tint) {
	r.use(i, false)
	r.piece(p, [4]float32{0, 0, float32(i.Bounds().Dx()), float32(i.Bounds().Dy())}, t)
}

// corners of a rectangle around a place.
func corners(x, y, w, h, angle float64) [4]point {
	sin, cos := math.Sincos(angle)
	ax, ay, bx, by := cos*w/2, sin*w/2, -sin*h/2, cos*h/2
	return [4]point{{x - ax - bx, y - ay - by}, {x + ax - bx, y + ay - by},
		{x + ax + bx, y + ay + by}, {x - ax + bx, y - ay + by}}
}

// white is what plain shapes are cut from. It is the middle of a larger image, so that nothing of
// its border is seen.
var white = sync.OnceValue(func() *ebiten.Image {
	i := ebiten.NewImage(3, 3)
	i.Fill(color.White)
	return i.SubImage(image.Rect(1, 1, 2, 2)).(*ebiten.Image)
})

// glow is a light that is strongest in its middle.
var glow = sync.OnceValue(func() *ebiten.Image {
	const side = 128
	pix := make([]byte, 0, 4*side*side)
	for y := range side {
		for x := range side {
			f := max(0, 1-math.Hypot(float64(x)-side/2+0.5, float64(y)-side/2+0.5)/(side/2))
			v := uint8(255*f*f + 0.5)
			pix = append(pix, v, v, v, v)
		}
	}
	i := ebiten.NewImage(side, side)
	i.WritePixels(pix)
	return i
})

func (r *replayer) quad(p [4]point, t tint) { r.fan(p[:], t) }

// fan fills a shape that has no dents.
func (r *replayer) fan(around []point, t tint) {
	r.use(white(), true)
	b := &r.batch
	n := uint32(len(b.vertices))
	for _, p := range around {
		b.corner(p, 1.5, 1.5, t)
	}
	for i := uint32(2); i < uint32(len(around)); i++ {
		b.indices = append(b.indices, n, n+i-1, n+i)
	}
}

// arc appends points of a circle, from an angle on.
func arc(list []point, x, y, radius, from, turn float64) []point {
	n := int(max(8, min(96, radius*2)) * turn / (2 * math.Pi))
	for i := range n + 1 {
		sin, cos := math.Sincos(from + turn*float64(i)/float64(n))
		list = append(list, point{x + cos*radius, y + sin*radius})
	}
	return list
}

func (r *replayer) disc(x, y, radius float64, t tint) {
	if radius > 0 {
		r.fan(arc(nil, x, y, radius, 0, 2*math.Pi), t)
	}
}

func (r *replayer) ring(x, y, radius, width float64, t tint) {
	outer := arc(nil, x, y, radius+width/2, 0, 2*math.Pi)
	inner := max(0, radius-width/2) / max(radius+width/2, 1e-9)
	r.use(white(), true)
	b := &r.batch
	n := uint32(len(b.vertices))
	for i, p := range outer {
		b.corner(p, 1.5, 1.5, t)
		b.corner(point{x + (p.x-x)*inner, y + (p.y-y)*inner}, 1.5, 1.5, t)
		if k := n + 2*uint32(i); i > 0 {
			b.indices = append(b.indices, k-2, k-1, k, k-1, k, k+1)
		}
	}
}

// line draws one with round ends.
func (r *replayer) line(x0, y0, x1, y1, half float64, t tint) {
	if half <= 0 {
		return
	}
	angle := math.Atan2(y1-y0, x1-x0)
	list := arc(nil, x0, y0, half, angle+math.Pi/2, math.Pi)
	r.fan(arc(list, x1, y1, half, angle-math.Pi/2, math.Pi), t)
}

// polygon fills any shape.
func (r *replayer) polygon(points []float64, c draw.Color) {
	var p [4]point
	list := make([]float64, 0, len(points))
	for i := 0; i+1 < len(points); i += 2 {
		x, y := r.lens.At(points[i], points[i+1])
		list = append(list, x, y)
		if i/2 < len(p) {
			p[i/2] = point{x, y}
		}
	}
	switch n := len(list) / 2; {
	case n == 3 || n == 4 && bulges(p):
		r.fan(p[:n], ink(c))
	default:
		r.flush()
		fill(r.dst, list, c, blends[r.blend])
	}
}

// bulges says whether four corners have no dent.
func bulges(p [4]point) bool {
	left, right := false, false
	for i := range p {
		a, b, c := p[i], p[(i+1)%4], p[(i+2)%4]
		turn := (b.x-a.x)*(c.y-b.y) - (b.y-a.y)*(c.x-b.x)
		left, right = left || turn < 0, right || turn > 0
	}
	return !(left && right)
}

// fill fills any shape on an image, by the rule of winding.
func fill(to *ebiten.Image, points []float64, c draw.Color, blend ebiten.Blend) {
	var path vector.Path
	for i := 0; i+1 < len(points); i += 2 {
		if x, y := float32(points[i]), float32(points[i+1]); i == 0 {
			path.MoveTo(x, y)
		} else {
			path.LineTo(x, y)
		}
	}
	path.Close()
	o := &vector.DrawPathOptions{AntiAlias: true, Blend: blend}
	o.ColorScale.ScaleWithColor(rgba(c))
	vector.FillPath(to, &path, &vector.FillOptions{FillRule: vector.FillRuleNonZero}, o)
}
