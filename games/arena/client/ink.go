package client

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

// ink is a color as a surface has it.
func ink(c scene.Color, alpha float64) draw.Color {
	return draw.Color(level(c.R)<<24 | level(c.G)<<16 | level(c.B)<<8 | level(float32(alpha)))
}

func level(x float32) uint32 { return uint32(255*min(1, max(0, x)) + 0.5) }

// paint is ink of few colors, for images: a screen keeps a copy of each in each color.
func paint(c scene.Color, alpha float64) draw.Color {
	const steps = 24
	round := func(x float32) float32 {
		return float32(math.Round(float64(min(1, max(0, x))*steps))) / steps
	}
	return ink(scene.Color{R: round(c.R), G: round(c.G), B: round(c.B)}, alpha)
}

// A brush draws the shapes of package sprite on a surface.
type brush struct{ *draw.Surface }

// names are what the shapes are called in the surface's library.
var names = func() (list [sprite.Shapes]string) {
	for s := range list {
		list[s] = "sprite " + string(rune('A'+s))
	}
	return list
}()

// give puts the shapes into the library, the first time.
func (b brush) give() {
	for s := range sprite.Shapes {
		b.Picture(names[s], 1, 1, sprite.Cell, func(to *draw.Surface) {
			to.Pixels(0, 0, 1, 1, sprite.Cell, sprite.Pixels(s))
		})
	}
}

// lay draws a shape around a place, with a size in units and turned by an angle. Round ones are
// drawn as what they are.
func (b brush) lay(s sprite.Shape, at det.Vec2, w, h, angle float64, c draw.Color) {
	switch {
	case c&0xff == 0:
	case s == sprite.Glow && w == h:
		b.Glow(at.X, at.Y, w/2, c)
	case s == sprite.Disc && w == h:
		b.Circle(at.X, at.Y, 0.48*w, c)
	default:
		b.Image(names[s], at.X, at.Y, w, h, angle, c)
	}
}

// quad fills four corners.
func (b brush) quad(c draw.Color, p [4]det.Vec2) {
	b.Polygon(c, p[0].X, p[0].Y, p[1].X, p[1].Y, p[2].X, p[2].Y, p[3].X, p[3].Y)
}

// The sizes of what is written, in units of the screen: how large the letters are, and how high a
// line.
type size struct{ letters, line float64 }

var small, plain, huge = size{13, 15}, size{18, 21}, size{40, 47}

// put writes a text with a thin shadow: x is where it begins, has its middle or ends, and y its
// top.
func (b brush) put(text string, x, y float64, z size, c scene.Color, alpha float64, a draw.Align) {
	y += z.line / 2
	shadow := max(1, z.line/18)
	b.Text(x+shadow, y+shadow, z.letters, text, ink(scene.Color{}, 0.75*alpha), a)
	b.Text(x, y, z.letters, text, ink(c, alpha), a)
}

// glyph is how wide a letter is on average, as a part of how large it is.
const glyph = 0.55

// fit is a size in which a text is no wider than there is room.
func (z size) fit(text string, room float64) size {
	k := min(1, room/max(1, glyph*z.letters*float64(utf8.RuneCountInString(text))))
	return size{k * z.letters, z.line}
}

// wrap parts a text into lines that are no wider than there is room, at blanks where it can.
func wrap(text string, room float64, z size) (lines []string) {
	most := max(24, int(room/(glyph*z.letters)))
	for r := []rune(text); len(r) > 0; {
		n := min(len(r), most)
		for k := n; n < len(r) && k > 0; k-- {
			if r[k] == ' ' {
				n = k
				break
			}
		}
		lines = append(lines, strings.TrimSpace(string(r[:n])))
		r = r[n:]
	}
	return lines
}

// cut shortens a text to so many letters.
func cut(text string, letters int) string {
	n := 0
	for i := range text {
		if n++; n > letters {
			return text[:i] + "..."
		}
	}
	return text
}
