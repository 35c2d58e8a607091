package raster

import (
	"math"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/draw"
)

// hinted is the size below which letters are put on whole pixels, so that their lines are sharp.
const hinted = 20

// text writes a line whose middle is at a height.
func (p *page) text(x, y, size float64, c *draw.Call) {
	size = math.Abs(size)
	a := draw.Align(c.Flags)
	if !(size > 0.5) || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(size, 0) {
		return
	}
	r := p.raster
	if p.depth == 0 && r.Text != nil && r.Text(x, y, size, c.Bytes, c.Color, a) {
		return
	}
	if y+size < 0 || y-size > float64(p.height) {
		return
	}
	if p.source = flat(c.Color); p.source.a == 0 {
		return
	}
	t := newType(size)
	wide := 0.0
	for b := c.Bytes; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		wide, b = wide+t.advance(symbolOf(r)), b[n:]
	}
	wide -= t.gap
	switch a {
	case draw.Center:
		x -= wide / 2
	case draw.Right:
		x -= wide
	}
	base := y + capHeight/2*t.unit
	if t.hint {
		x, base = math.Round(x), math.Floor(y+t.high(capHeight)/2)+0.5
	}
	for b := c.Bytes; len(b) > 0 && x < float64(p.width); {
		r, n := utf8.DecodeRune(b)
		s := symbolOf(r)
		if x+t.advance(s)+t.pen > 0 {
			p.write(s, &t, x+t.pen/2, base)
		}
		x, b = x+t.advance(s), b[n:]
	}
}

// A face is the font at a size in pixels.
type face struct {
	unit, pen, gap float64
	hint           bool
}

func newType(size float64) face {
	t := face{unit: size * unit}
	t.hint = size < hinted
	t.pen, t.gap = t.unit, t.unit
	if t.hint {
		t.pen = max(1, t.unit)
		t.gap = max(1, math.Round(t.unit))
	}
	return t
}

// wide is how wide a symbol is between the middles of its outer strokes.
func (t *face) wide(s *symbol) float64 {
	w := s.width * t.unit
	switch {
	case !t.hint:
		return w
	case math.Mod(s.width, 2) == 0: // its middle is on a pixel too
		return 2 * math.Round(w/2)
	}
	return math.Round(w)
}

// advance is how far it is to the next symbol.
func (t *face) advance(s *symbol) float64 {
	if t.hint {
		return t.wide(s) + math.Round(t.pen) + t.gap
	}
	return t.wide(s) + t.pen + t.gap
}

// high is a height above the baseline.
func (t *face) high(y float64) float64 {
	if !t.hint {
		return y * t.unit
	}
	// The heights that letters have in common are whole pixels, and the rest lies between.
	stops := [...]float64{descent, 0, xHeight, capHeight, ascent}
	for i := 1; i < len(stops); i++ {
		if y <= stops[i] || i == len(stops)-1 {
			low, top := math.Round(stops[i-1]*t.unit), math.Round(stops[i]*t.unit)
			return low + (y-stops[i-1])/(stops[i]-stops[i-1])*(top-low)
		}
	}
	return 0
}

// A glyph is a symbol on its way to the page: all of its strokes together, so that where they meet
// nothing is drawn twice.
type glyph struct {
	at    rect
	cover []uint8
}

// write draws a symbol that begins at a place on the baseline.
func (p *page) write(s *symbol, t *face, x, base float64) {
	if len(s.strokes) == 0 {
		return
	}
	g := &p.glyph
	reach := t.pen/2 + 1
	w := t.wide(s)
	g.at = rect{
		pixel(x-reach-t.unit, 0, p.width), pixel(base-t.high(ascent+0.5)-reach, 0, p.height),
		pixel(math.Ceil(x+w+reach+t.unit), 0, p.width),
		pixel(math.Ceil(base-t.high(descent)+reach), 0, p.height)}
	if g.at.x0 >= g.at.x1 || g.at.y0 >= g.at.y1 {
		return
	}
	n := (g.at.x1 - g.at.x0) * (g.at.y1 - g.at.y0)
	if cap(g.cover) < n {
		g.cover = make([]uint8, n)
	}
	g.cover = g.cover[:n]
	clear(g.cover)
	k := t.unit
	if s.width > 0 {
		k = w / s.width
	}
	for _, l := range s.strokes {
		p.stroke(x+l[0]*k, base-t.high(l[1]), x+l[2]*k, base-t.high(l[3]), t.pen/2, g.add)
	}
	wide := g.at.x1 - g.at.x0
	for y := g.at.y0; y < g.at.y1; y++ {
		p.row(y, g.at.x0, g.cover[(y-g.at.y0)*wide:(y-g.at.y0+1)*wide])
	}
}

// add takes a row of a stroke.
func (g *glyph) add(y, x0 int, cover []uint8) {
	if y < g.at.y0 || y >= g.at.y1 {
		return
	}
	wide := g.at.x1 - g.at.x0
	row := g.cover[(y-g.at.y0)*wide : (y-g.at.y0+1)*wide]
	for i, c := range cover {
		if j := x0 + i - g.at.x0; j >= 0 && j < wide && c > row[j] {
			row[j] = c
		}
	}
}
