//go:build (js && wasm) || desktop

package client

import (
	"image"

	"github.com/hajimehoshi/ebiten/v2"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/coeval-dev/coeval/games/arena/client/scene"
)

// A typeface draws text of one size. Letters are painted into a sheet when they are first needed.
type typeface struct {
	strip
	face   font.Face
	height float64
	ascent float64
	x, y   int // where the next letter goes
	row    int
	glyphs map[rune]glyph
}

type glyph struct {
	rect    image.Rectangle // on the sheet
	dx, dy  float32         // from the pen to its corner
	advance float64
}

const sheetSide = 1024

func imageRect(w, h int) image.Rectangle { return image.Rect(0, 0, w, h) }

// fonts are the sizes that the screen uses; they change with the size of the window.
type fonts struct {
	source             *sfnt.Font
	small, plain, huge *typeface
	unit               float64
}

func newFonts() (*fonts, error) {
	f, err := opentype.Parse(gobold.TTF)
	return &fonts{source: f}, err
}

// fit makes the typefaces for a screen on which the unit is so many pixels.
func (f *fonts) fit(unit float64) error {
	if f.unit == unit {
		return nil
	}
	f.unit = unit
	for _, x := range []struct {
		to   **typeface
		size float64
	}{{&f.small, 13}, {&f.plain, 18}, {&f.huge, 40}} {
		face, err := opentype.NewFace(f.source,
			&opentype.FaceOptions{Size: max(8, x.size*unit), DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			return err
		}
		if *x.to != nil {
			(*x.to).sheet.Deallocate()
		}
		m := face.Metrics()
		*x.to = &typeface{
			face: face, height: float64(m.Height) / 64, ascent: float64(m.Ascent) / 64,
			glyphs: map[rune]glyph{}}
		(*x.to).sheet = ebiten.NewImageWithOptions(imageRect(sheetSide, sheetSide),
			&ebiten.NewImageOptions{Unmanaged: true})
	}
	return nil
}

// letter finds a letter, or paints it. When the sheet is full it starts over; a screen never has
// that many different ones.
func (t *typeface) letter(r rune) glyph {
	if g, ok := t.glyphs[r]; ok {
		return g
	}
	dr, mask, at, advance, ok := t.face.Glyph(fixed.Point26_6{}, r)
	if !ok {
		if r != '?' {
			return t.letter('?')
		}
		return glyph{}
	}
	w, h := dr.Dx(), dr.Dy()
	if t.x+w+1 > sheetSide {
		t.x, t.y, t.row = 0, t.y+t.row+1, 0
	}
	if t.y+h+1 > sheetSide {
		clear(t.glyphs)
		t.sheet.Clear()
		t.x, t.y, t.row = 0, 0, 0
	}
	g := glyph{rect: image.Rect(t.x, t.y, t.x+w, t.y+h), dx: float32(dr.Min.X),
		dy: float32(dr.Min.Y), advance: float64(advance) / 64}
	if w > 0 && h > 0 {
		pix := make([]byte, 4*w*h)
		for y := range h {
			for x := range w {
				_, _, _, a := mask.At(at.X+x, at.Y+y).RGBA()
				i := 4 * (y*w + x)
				v := byte(a >> 8)
				pix[i], pix[i+1], pix[i+2], pix[i+3] = v, v, v, v
			}
		}
		t.sheet.SubImage(g.rect).(*ebiten.Image).WritePixels(pix)
	}
	t.x += w + 1
	t.row = max(t.row, h)
	t.glyphs[r] = g
	return g
}

// width is how wide a text is.
func (t *typeface) width(s string) (w float64) {
	for _, r := range s {
		w += t.letter(r).advance
	}
	return w
}

// fit cuts a text to a width.
func (t *typeface) cut(s string, width float64) string {
	if t.width(s) <= width {
		return s
	}
	w := t.width("...")
	for i, r := range s {
		if w += t.letter(r).advance; w > width {
			return s[:i] + "..."
		}
	}
	return s
}

// put draws a text with a thin shadow; x and y are its top left.
func (t *typeface) put(dst *ebiten.Image, s string, x, y float64, c scene.Color,
	alpha float64) float64 {
	shadow := max(1, t.height/18)
	t.add(s, x+shadow, y+shadow, ink(scene.Color{}, 0.75*alpha))
	end := t.add(s, x, y, ink(c, alpha))
	t.flush(dst, blendOver)
	return end
}

// middle draws a text around x.
func (t *typeface) middle(dst *ebiten.Image, s string, x, y float64, c scene.Color, alpha float64) {
	t.put(dst, s, x-t.width(s)/2, y, c, alpha)
}

// right draws a text that ends at x.
func (t *typeface) right(dst *ebiten.Image, s string, x, y float64, c scene.Color, alpha float64) {
	t.put(dst, s, x-t.width(s), y, c, alpha)
}

func (t *typeface) add(s string, x, y float64, c tint) float64 {
	for _, r := range s {
		g := t.letter(r)
		if !g.rect.Empty() {
			x0, y0 := float32(int(x+0.5))+g.dx, float32(int(y+t.ascent+0.5))+g.dy
			x1, y1 := x0+float32(g.rect.Dx()), y0+float32(g.rect.Dy())
			r := [4]float32{
				float32(g.rect.Min.X), float32(g.rect.Min.Y),
				float32(g.rect.Max.X), float32(g.rect.Max.Y),
			}
			t.piece([4]point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}, &r, c)
		}
		x += g.advance
	}
	return x
}
