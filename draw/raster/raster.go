package raster

import (
	"errors"
	"image"
	"math"

	"github.com/coeval-dev/coeval/draw"
)

// A Raster replays the lists of one surface. Its zero value is ready, and draws images that are
// files as missing. Keep it from frame to frame: it keeps the pictures.
type Raster struct {
	// Images gives the file with a name, or nil. It is asked once for each name that is drawn; see
	// Files.
	Images func(name string) image.Image
	// Text, if set, is offered each text, at a place and of a size in pixels, and says whether it
	// has written it. Terminals do that with characters.
	Text func(x, y, size float64, text []byte, c draw.Color, a draw.Align) bool
	// Pixels is how many pixels all images and pictures together may have. What is beyond is made
	// with fewer, and drawn as missing where even that is too much. Default: 32 million.
	Pixels int

	book book
	page page
}

// Draw draws a frame. The library is that of the list's surface, and only grows from one frame to
// the next. Where there is an error, what came before it is drawn.
func (r *Raster) Draw(to *image.RGBA, library, list []byte) error {
	err := r.book.read(library)
	p := &r.page
	width, height := to.Rect.Dx(), to.Rect.Dy()
	p.reset(r, to.Pix, to.Stride, width, height)
	if width <= 0 || height <= 0 {
		return err
	}
	p.fill(draw.Black)
	// Before the first camera, units are those of an overlay of this size.
	var begun draw.Surface
	begun.Begin(float64(width), float64(height))
	camera := begun.LastCamera()
	p.look(camera.Lens(float64(width), float64(height)))
	if wrong := p.draw(list); err == nil {
		err = wrong
	}
	return err
}

// Visible says whether a pixel of the last picture is within the clip that is set now: for Text.
func (r *Raster) Visible(x, y int) bool {
	p := &r.page
	return x >= 0 && y >= 0 && x < p.width && y < p.height &&
		(!p.clipped || p.mask[y*p.width+x] >= 128)
}

// Missing are the names of images that were drawn and are not there, in the order in which they
// were first drawn. Where they should be is a marked box.
func (r *Raster) Missing() []string { return r.book.missing }

// A page is what is drawn on: the picture itself, or one that is an image of it.
type page struct {
	raster        *Raster
	pix           []uint8
	stride        int
	width, height int
	depth         int // of pictures within pictures

	reader draw.Reader
	lens   draw.Lens
	blend  draw.Blend

	// The clip: how much of each pixel is within it, in a part of the page. Outside, nothing is.
	clipped bool
	mask    []uint8
	within  rect // of mask, what is not zero

	source source
	small  level   // of a call with pixels
	cover  []uint8 // a row of how much of each pixel a shape covers
	area   area
	glyph  glyph
}

// A rect is of pixels; the second corner is outside.
type rect struct{ x0, y0, x1, y1 int }

// reset begins anew, and keeps the memory.
func (p *page) reset(r *Raster, pix []uint8, stride, width, height int) {
	p.raster, p.pix, p.stride, p.width, p.height = r, pix, stride, width, height
	p.blend, p.clipped, p.within = draw.Over, false, rect{}
	if len(p.mask) < width*height {
		p.mask = nil // and with it what was in it
	}
	for len(p.cover) < width {
		p.cover = append(p.cover, 0)
	}
}

// draw replays a list.
func (p *page) draw(list []byte) error {
	p.reader.Read(list)
	for c := range p.reader.Calls() {
		if c.Defines() {
			return errDefined
		}
		p.call(c)
	}
	return p.reader.Err()
}

var errDefined = errors.New(
	"a frame defines a name, a picture or a sound, which belong in its library")

func (p *page) call(c *draw.Call) {
	n := &c.N
	k := p.lens.Scale
	x, y := p.lens.At(n[0], n[1])
	switch c.Op {
	case draw.OpCamera, draw.OpOverlay:
		p.look(c.Lens(float64(p.width), float64(p.height)))
	case draw.OpBlend:
		p.blend = draw.Blend(c.Flags)
	case draw.OpClip:
		p.clip(c.Points)
	case draw.OpUnclip:
		p.clipped = false
	case draw.OpClear:
		p.fill(c.Color)
	case draw.OpImage:
		p.image(c)
	case draw.OpPixels:
		x1, y1 := p.lens.At(n[0]+n[2], n[1]+n[3])
		p.spread(x, y, x1, y1, int(c.ID), c.Bytes)
	case draw.OpText:
		p.text(x, y, n[2]*k, c)
	default:
		if p.source = flat(c.Color); p.source.a == 0 {
			return
		}
		switch c.Op {
		case draw.OpRect:
			x1, y1 := p.lens.At(n[0]+n[2], n[1]+n[3])
			p.rect(x, y, x1, y1)
		case draw.OpBox:
			p.box(x, y, n[2]*k, n[3]*k, p.turn(n[4]))
		case draw.OpCircle:
			p.circle(x, y, n[2]*k)
		case draw.OpRing:
			p.ring(x, y, n[2]*k, n[3]*k)
		case draw.OpGlow:
			p.glow(x, y, n[2]*k)
		case draw.OpLine:
			x1, y1 := p.lens.At(n[2], n[3])
			p.line(x, y, x1, y1, n[4]*k)
		case draw.OpPolygon:
			p.polygon(c.Points)
		}
	}
}

// turn is an angle on the screen.
func (p *page) turn(angle float64) float64 { return math.Copysign(1, p.lens.ScaleY) * angle }

// look has what follows drawn through a lens. Its origin is on a whole pixel, so that what stands
// still keeps its edges while the camera moves.
func (p *page) look(l draw.Lens) {
	l.X, l.Y = math.Round(l.X), math.Round(l.Y)
	p.lens = l
}

// fill fills the page.
func (p *page) fill(c draw.Color) {
	p.source = flat(c)
	for y := range p.height {
		p.solid(y, 0, p.width)
	}
}

// fillRow sets pixels to a color.
func fillRow(row []uint8, s *source) {
	row[0], row[1], row[2], row[3] = uint8(s.r), uint8(s.g), uint8(s.b), uint8(s.a)
	for n := 4; n < len(row); n *= 2 {
		copy(row[n:], row[:n])
	}
}

// pixel brings a place into a range of pixels.
func pixel(x float64, low, high int) int {
	if !(x > float64(low)) { // nor NaN
		return low
	}
	if x >= float64(high) {
		return high
	}
	return int(x)
}
