package vector

import (
	"errors"
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/coeval-dev/coeval/draw"
)

// A pen draws one list. Shapes stand in a group that has the units of the lens; a clip is a group
// around that.
type pen struct {
	screen        *Screen
	width, height float64
	fine          float64 // pixels a unit of the page has at most
	emit          func(Frame, string) (Frame, error)

	frame  Frame
	lens   draw.Lens
	open   bool // there is a group
	clip   bool
	blend  draw.Blend
	digits int // after the point, within the group
	err    error
}

var errDefined = errors.New(
	"a frame defines a name, a picture or a sound, which belong in its library")

func (p *pen) draw(list []byte) error {
	var r draw.Reader
	r.Read(list)
	for c := range r.Calls() {
		if c.Defines() {
			p.err = errDefined
		}
		if p.err != nil {
			break
		}
		p.call(c)
	}
	wrong := p.err
	p.err = nil // what was opened is closed, whatever happened
	p.leave()
	p.unclip()
	return errors.Join(wrong, r.Err(), p.err)
}

func (p *pen) add(text string) {
	if p.err == nil {
		p.frame, p.err = p.emit(p.frame, text)
	}
}

// enter opens a group with the units of the lens.
func (p *pen) enter() {
	if p.open {
		return
	}
	p.open = true
	l := &p.lens
	p.digits = max(0, min(6, int(math.Ceil(math.Log10(5*l.Scale*p.fine)))))
	p.add(fmt.Sprintf(`<g transform="matrix(%s 0 0 %s %s %s)">`, number(l.Scale, 5),
		number(l.ScaleY, 5), number(l.X, 2), number(l.Y, 2)))
}

// leave closes it.
func (p *pen) leave() {
	if p.open {
		p.add("</g>")
		p.open = false
	}
}

func (p *pen) unclip() {
	if p.clip {
		p.leave()
		p.add("</g>")
		p.clip = false
	}
}

// n writes a number in the group's units.
func (p *pen) n(v float64) string { return number(v, p.digits) }

func (p *pen) call(c *draw.Call) {
	switch c.Op {
	case draw.OpCamera, draw.OpOverlay:
		p.leave()
		p.lens = c.Lens(p.width, p.height)
	case draw.OpBlend:
		p.blend = draw.Blend(c.Flags)
	case draw.OpClip:
		p.clipTo(c.Points)
	case draw.OpUnclip:
		p.unclip()
	case draw.OpClear:
		p.clear(c.Color)
	case draw.OpSound, draw.OpTone:
	default:
		if c.Color&0xff == 0 && c.Op != draw.OpPixels {
			return
		}
		p.enter()
		p.shape(c)
	}
}

// clear fills the page. What is below it is not kept.
func (p *pen) clear(c draw.Color) {
	p.leave()
	if c&0xff == 0xff && !p.clip && p.blend == draw.Over {
		p.frame = p.frame[:0]
	}
	p.add(fmt.Sprintf(`<rect width="%s" height="%s"%s/>`, number(p.width, 2), number(p.height, 2),
		p.ink("fill", c)))
}

// clipTo has what follows within a shape.
func (p *pen) clipTo(points []float64) {
	p.unclip()
	p.leave()
	var b strings.Builder
	for i := 0; i+1 < len(points); i += 2 {
		x, y := p.lens.At(points[i], points[i+1])
		fmt.Fprintf(&b, "%s,%s ", number(x, 1), number(y, 1))
	}
	name, err := p.screen.sheet.define("clip "+b.String(), func(name string) string {
		return fmt.Sprintf(`<clipPath id="%s"><polygon points="%s"/></clipPath>`, name,
			strings.TrimSpace(b.String()))
	})
	p.err = errors.Join(p.err, err)
	p.add(fmt.Sprintf(`<g clip-path="url(#%s)">`, name))
	p.clip = true
}

// ink is the color of a shape, and how it meets what is below.
func (p *pen) ink(attribute string, c draw.Color) string {
	text := fmt.Sprintf(` %s="#%06x"`, attribute, uint32(c>>8))
	if a := c & 0xff; a != 0xff {
		text += fmt.Sprintf(` %s-opacity="%s"`, attribute, number(float64(a)/255, 3))
	}
	return text + p.mode()
}

func (p *pen) mode() string {
	switch p.blend {
	case draw.Add:
		return ` style="mix-blend-mode:plus-lighter"`
	case draw.Multiply:
		return ` style="mix-blend-mode:multiply"`
	}
	return ""
}

// shape draws a call within the group.
func (p *pen) shape(c *draw.Call) {
	n := &c.N
	switch c.Op {
	case draw.OpRect:
		p.add(p.rect(n[0], n[1], n[2], n[3]) + p.ink("fill", c.Color) + "/>")
	case draw.OpBox:
		p.add(p.rect(-n[2]/2, -n[3]/2, n[2], n[3]) + p.place(n[0], n[1], n[4], false) +
			p.ink("fill", c.Color) + "/>")
	case draw.OpCircle:
		p.add(p.circle(n[0], n[1], n[2]) + p.ink("fill", c.Color) + "/>")
	case draw.OpRing:
		p.add(p.circle(n[0], n[1], n[2]) + ` fill="none"` + p.ink("stroke", c.Color) +
			p.stroke(n[3]) + "/>")
	case draw.OpGlow:
		p.glow(c)
	case draw.OpLine:
		p.add(fmt.Sprintf(`<line x1="%s" y1="%s" x2="%s" y2="%s"`, p.n(n[0]), p.n(n[1]), p.n(n[2]),
			p.n(n[3])) + p.ink("stroke", c.Color) + p.stroke(n[4]) +
			` stroke-linecap="round"/>`)
	case draw.OpPolygon:
		p.polygon(c)
	case draw.OpText:
		p.text(c)
	case draw.OpImage:
		p.image(c)
	case draw.OpPixels:
		p.pixels(c)
	}
}

// rect begins one whose sides may be negative.
func (p *pen) rect(x, y, w, h float64) string {
	x, y = x+min(w, 0), y+min(h, 0)
	return fmt.Sprintf(`<rect x="%s" y="%s" width="%s" height="%s"`, p.n(x), p.n(y),
		p.n(math.Abs(w)), p.n(math.Abs(h)))
}

func (p *pen) circle(x, y, radius float64) string {
	return fmt.Sprintf(`<circle cx="%s" cy="%s" r="%s"`, p.n(x), p.n(y), p.n(math.Abs(radius)))
}

func (p *pen) stroke(width float64) string {
	return fmt.Sprintf(` stroke-width="%s"`, p.n(math.Abs(width)))
}

// place puts something at a place, turned; upright where the second axis points up, if it must be.
func (p *pen) place(x, y, angle float64, upright bool) string {
	text := fmt.Sprintf(` transform="translate(%s %s)`, p.n(x), p.n(y))
	if angle != 0 {
		text += fmt.Sprintf(" rotate(%s)", number(angle*180/math.Pi, 1))
	}
	if upright && p.lens.ScaleY < 0 {
		text += " scale(1 -1)"
	}
	return text + `"`
}

// polygon fills a shape. One that comes back to where it began is several, each drawn by itself:
// the way from one to the next and back is nothing, and on paper it would be a hair.
func (p *pen) polygon(c *draw.Call) {
	var b strings.Builder
	var loop []string
	first := p.n(c.Points[0]) + " " + p.n(c.Points[1])
	end := func() {
		switch n := len(loop); {
		case n == 0:
			return
		case n > 2 && loop[0] == loop[n-1]: // the way there and the way back
			loop = loop[:n-1]
		default:
			loop = append(loop, first)
		}
		if len(loop) > 2 {
			b.WriteString("M" + strings.Join(loop, "L") + "Z")
		}
		loop = loop[:0]
	}
	last := first
	for i := 2; i+1 < len(c.Points); i += 2 {
		at := p.n(c.Points[i]) + " " + p.n(c.Points[i+1])
		switch at {
		case last: // a game may have found a corner many times
		case first:
			end()
		default:
			loop = append(loop, at)
		}
		last = at
	}
	end()
	if b.Len() > 0 {
		p.add(`<path d="` + b.String() + `"` + p.ink("fill", c.Color) + "/>")
	}
}

// glow is light whose strength falls as the square of how far it is to the rim.
func (p *pen) glow(c *draw.Call) {
	color := fmt.Sprintf("#%06x", uint32(c.Color>>8))
	name, err := p.screen.sheet.define("glow "+color, func(name string) string {
		var b strings.Builder
		fmt.Fprintf(&b, `<radialGradient id="%s">`, name)
		for i := range 9 {
			part := float64(i) / 8
			fmt.Fprintf(&b, `<stop offset="%s" stop-color="%s" stop-opacity="%s"/>`,
				number(part, 3), color, number((1-part)*(1-part), 3))
		}
		return b.String() + "</radialGradient>"
	})
	p.err = errors.Join(p.err, err)
	text := p.circle(c.N[0], c.N[1], c.N[2]) + fmt.Sprintf(` fill="url(#%s)"`, name)
	if a := c.Color & 0xff; a != 0xff {
		text += fmt.Sprintf(` fill-opacity="%s"`, number(float64(a)/255, 3))
	}
	p.add(text + p.mode() + "/>")
}

var anchors = map[draw.Align]string{draw.Center: ` text-anchor="middle"`,
	draw.Right: ` text-anchor="end"`}

// text writes a line whose middle is at a height.
func (p *pen) text(c *draw.Call) {
	size := math.Abs(c.N[2])
	p.add(`<text` + p.place(c.N[0], c.N[1], 0, true) +
		fmt.Sprintf(` font-size="%s" dominant-baseline="central"`, p.n(size)) +
		anchors[draw.Align(c.Flags)] + p.ink("fill", c.Color) + ">" +
		html.EscapeString(clean(string(c.Bytes))) + "</text>")
}

// clean has no characters that XML may not have.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, text)
}
