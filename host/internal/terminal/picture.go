package terminal

import (
	"fmt"
	"image"
	_ "image/gif" // the formats that a title's assets may have
	_ "image/jpeg"
	_ "image/png"
	"math"
	"runtime/debug"
	"unicode"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
	"github.com/coeval-dev/coeval/game"
)

// A picture is a title's frame in characters: two pixels in each, one above the other, and texts as
// they are.
type picture struct {
	name    string
	show    func(*draw.Surface, *game.Frame)
	surface draw.Surface
	raster  raster.Raster
	pixels  *image.RGBA
	columns int
	rows    int
	texts   []text
	cells   []cell
}

// A cell is a character on the screen: a letter, or where that is zero, two pixels.
type cell struct {
	letter      rune
	top, bottom tint // of a letter: its color, and that behind it
}

// A text is a call that is written in letters, in the list of the frame.
type text struct {
	row, column int
	letters     []byte
	color       draw.Color
	small       bool
	behind      []tint // what is behind each letter when it is written, in a buffer of all
}

func newPicture(t *game.Title) *picture {
	p := &picture{name: t.Name(), show: t.Screen.Drawer(), pixels: new(image.RGBA)}
	p.raster.Images = raster.Files(t.Screen.Assets, 16<<20)
	p.raster.Text = p.write
	return p
}

// A character counts as so many of a screen's pixels: what is drawn in units of the screen is then
// of a size at which a line of text is about a line of characters.
const wide, high = 5, 10

// Sizes of text in pixels, of which a character is two high: what is smaller is left out, what is
// larger is drawn.
const tooSmall, asDrawn = 0.75, 6.0

// draw takes a frame.
func (p *picture) draw(f *game.Frame, columns, rows int) (err error) {
	p.columns, p.rows = columns, rows
	p.surface.Begin(float64(wide*columns), float64(high*rows))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked while it drew a frame: %v\n%s", p.name, r, debug.Stack())
		}
	}()
	p.show(&p.surface, f)
	return nil
}

// wrong says what could not be drawn, for the author to read, or nothing.
func (p *picture) wrong() string {
	if missing := p.raster.Missing(); len(missing) > 0 {
		return fmt.Sprintf("the image %q was not found in the title's Screen.Assets", missing[0])
	}
	if err := p.surface.Err(); err != nil {
		return err.Error()
	}
	return ""
}

// paint makes characters of the frame that was drawn last.
func (p *picture) paint() {
	w, h := p.columns, 2*p.rows
	if p.pixels.Rect.Dx() != w || p.pixels.Rect.Dy() != h {
		p.pixels = image.NewRGBA(image.Rect(0, 0, w, h))
		p.cells = make([]cell, w*p.rows)
	}
	p.texts = p.texts[:0]
	// A surface makes no list that is wrong.
	_ = p.raster.Draw(p.pixels, p.surface.Library(), p.surface.List())
	for i := range p.cells {
		x, y := i%w, i/w
		p.cells[i] = cell{top: p.at(x, 2*y), bottom: p.at(x, 2*y+1)}
	}
	for i := range p.texts {
		p.letters(&p.texts[i])
	}
}

func (p *picture) at(x, y int) tint {
	q := p.pixels.Pix[p.pixels.PixOffset(x, y):]
	return rgb(q[0], q[1], q[2])
}

// write takes a text from the raster.
func (p *picture) write(x, y, size float64, letters []byte, c draw.Color, a draw.Align) bool {
	if size >= asDrawn {
		return false
	}
	if size < tooSmall || c&0xff < 32 || math.Abs(x) > 1e6 || !(y >= 0 && y < float64(2*p.rows)) {
		return true
	}
	n := float64(utf8.RuneCount(letters))
	switch a {
	case draw.Center:
		x -= n / 2
	case draw.Right:
		x -= n
	}
	t := text{row: int(y / 2), column: int(math.Floor(x + 0.5)), letters: letters, color: c,
		small: size < 1.2}
	if i := len(p.texts); i < cap(p.texts) {
		t.behind = p.texts[:i+1][i].behind[:0]
	}
	for i := range int(n) {
		behind := tint(1 << 24) // outside, or clipped
		if x := t.column + i; p.raster.Visible(x, 2*t.row) {
			behind = p.at(x, 2*t.row).mix(p.at(x, 2*t.row+1), 128)
		}
		t.behind = append(t.behind, behind)
	}
	p.texts = append(p.texts, t)
	return true
}

// letters writes a text on what was painted. Where something was drawn on it later, it is covered.
func (p *picture) letters(t *text) {
	if t.small && p.taken(t) {
		return
	}
	for i, b := 0, t.letters; len(b) > 0; i++ {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		if t.behind[i] >= 1<<24 {
			continue
		}
		c := &p.cells[t.row*p.columns+t.column+i]
		under := c.top.mix(c.bottom, 128)
		if c.letter != 0 {
			under = c.bottom
		}
		if c.letter == 0 && !under.near(t.behind[i]) {
			continue
		}
		red, green, blue, opacity := t.color.Channels()
		*c = cell{narrow(r), under.mix(rgb(red, green, blue), int(opacity)), under}
	}
}

// taken says whether there are letters already where a small text would be.
func (p *picture) taken(t *text) bool {
	for i, behind := range t.behind {
		if behind < 1<<24 && p.cells[t.row*p.columns+t.column+i].letter != 0 {
			return true
		}
	}
	return false
}

// narrow is a letter that takes one column, or something in its place.
func narrow(r rune) rune {
	switch {
	case r < 0x300 && unicode.IsPrint(r), // Latin
		// Greek to Armenian
		r >= 0x370 && r < 0x590 && unicode.IsPrint(r) && !unicode.Is(unicode.Mn, r),
		r >= 0x2010 && r <= 0x2027, r >= 0x2190 && r < 0x2300, r >= 0x2500 && r < 0x25fd:
		return r
	}
	return '?'
}
