//go:build desktop && !js

package window

import (
	"image"
	"math"
	"sync"

	"github.com/hajimehoshi/ebiten/v2"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/coeval-dev/coeval/draw"
)

// A typeface draws text of one size. Letters are painted into a sheet when they are first needed.
type typeface struct {
	face   font.Face
	sheet  *ebiten.Image
	middle float64 // from the line that letters stand on
	x, y   int     // where the next letter goes
	row    int
	glyphs map[rune]glyph
}

type glyph struct {
	rect    image.Rectangle // on the sheet
	dx, dy  float64         // from the pen to its corner
	advance float64
}

const sheetSide = 1024

var source = sync.OnceValues(func() (*sfnt.Font, error) { return opentype.Parse(gomedium.TTF) })

// sizes is how many sizes of letters are kept.
const sizes = 24

// typeface is that of a size in pixels.
func (r *replayer) typeface(size float64) *typeface {
	size = math.Round(2*max(4, min(size, 400))) / 2
	if t := r.faces[size]; t != nil {
		return t
	}
	f, err := source()
	if err != nil {
		return nil
	}
	face, err := opentype.NewFace(f,
		&opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil
	}
	if r.faces == nil || len(r.faces) >= sizes {
		for _, t := range r.faces {
			t.sheet.Deallocate()
		}
		r.faces = map[float64]*typeface{}
	}
	m := face.Metrics()
	t := &typeface{face: face, middle: float64(m.Ascent-m.Descent) / 64 / 2,
		glyphs: map[rune]glyph{},
		sheet: ebiten.NewImageWithOptions(image.Rect(0, 0, sheetSide, sheetSide),
			&ebiten.NewImageOptions{Unmanaged: true})}
	r.faces[size] = t
	return t
}

// letter finds a letter, or paints it. When the sheet is full it starts over.
func (r *replayer) letter(t *typeface, l rune) glyph {
	if g, ok := t.glyphs[l]; ok {
		return g
	}
	dr, mask, at, advance, ok := t.face.Glyph(fixed.Point26_6{}, l)
	if !ok {
		if l != '?' {
			return r.letter(t, '?')
		}
		return glyph{}
	}
	w, h := dr.Dx(), dr.Dy()
	if t.x+w+1 > sheetSide {
		t.x, t.y, t.row = 0, t.y+t.row+1, 0
	}
	if t.y+h+1 > sheetSide {
		r.flush()
		clear(t.glyphs)
		t.sheet.Clear()
		t.x, t.y, t.row = 0, 0, 0
	}
	g := glyph{rect: image.Rect(t.x, t.y, t.x+w, t.y+h), dx: float64(dr.Min.X),
		dy: float64(dr.Min.Y), advance: float64(advance) / 64}
	if w > 0 && h > 0 && w <= sheetSide && h <= sheetSide {
		pix := make([]byte, 0, 4*w*h)
		for y := range h {
			for x := range w {
				_, _, _, a := mask.At(at.X+x, at.Y+y).RGBA()
				v := byte(a >> 8)
				pix = append(pix, v, v, v, v)
			}
		}
		t.sheet.SubImage(g.rect).(*ebiten.Image).WritePixels(pix)
	}
	t.x += w + 1
	t.row = max(t.row, h)
	t.glyphs[l] = g
	return g
}

// text writes a line whose middle is at y.
func (r *replayer) text(s string, x, y, size float64, a draw.Align, c tint) {
	if size < 1 {
		return
	}
	t := r.typeface(size)
	if t == nil {
		return
	}
	wide := 0.0
	for _, l := range s {
		wide += r.letter(t, l).advance
	}
	switch a {
	case draw.Center:
		x -= wide / 2
	case draw.Right:
		x -= wide
	}
	x, y = math.Round(x), math.Round(y+t.middle)
	r.use(t.sheet, false)
	for _, l := range s {
		g := r.letter(t, l)
		if !g.rect.Empty() {
			x0, y0 := math.Round(x)+g.dx, y+g.dy
			x1, y1 := x0+float64(g.rect.Dx()), y0+float64(g.rect.Dy())
			r.piece([4]point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}, [4]float32{
				float32(g.rect.Min.X), float32(g.rect.Min.Y),
				float32(g.rect.Max.X), float32(g.rect.Max.Y)}, c)
		}
		x += g.advance
	}
}
