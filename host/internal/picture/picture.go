// Package picture draws a world in characters.
package picture

import (
	"math"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
)

// A Picture is a frame as a title's Screen draws it, in characters.
type Picture struct {
	wide, rows int
	cells      []rune
	show       func(*draw.Surface, *game.Frame)
	surface    draw.Surface
	reader     draw.Reader
	lens       draw.Lens
}

// Draw fills the picture.
func (p *Picture) Draw(t *game.Title, f *game.Frame, columns, rows int) {
	if p.show == nil {
		p.show = t.Screen.Drawer()
	}
	p.wide, p.rows = columns, rows
	p.cells = p.cells[:0]
	for range columns * rows {
		p.cells = append(p.cells, ' ')
	}
	p.surface.Begin(float64(columns)*8, float64(rows)*16)
	p.show(&p.surface, f)
	p.reader.Read(p.surface.List())
	for c := range p.reader.Calls() {
		p.call(c)
	}
}

func (p *Picture) call(c *draw.Call) {
	x, y := p.lens.At(c.N[0], c.N[1])
	k := p.lens.Scale
	switch c.Op {
	case draw.OpCamera, draw.OpOverlay:
		p.lens = c.Lens(float64(p.wide), float64(2*p.rows)) // a character is twice as high as wide
	case draw.OpRect:
		x1, y1 := p.lens.At(c.N[0]+c.N[2], c.N[1]+c.N[3])
		if c.N[2] < 10 {
			p.fill('#', func(px, py float64) bool {
				return px >= min(x, x1)-0.5 && px < max(x, x1)+0.5 && py >= min(y, y1) && py < max(y, y1)
			})
		}
	case draw.OpBox:
		sin, cos := math.Sincos(c.N[4])
		p.fill('#', func(px, py float64) bool {
			dx, dy := px-x, (py-y)*math.Copysign(1, p.lens.ScaleY)
			return math.Abs(dx*cos+dy*sin) <= c.N[2]*k/2+0.3 && math.Abs(dy*cos-dx*sin) <= c.N[3]*k/2+0.3
		})
	case draw.OpCircle:
		p.fill('O', func(px, py float64) bool { return math.Hypot(px-x, py-y) <= max(0.9, c.N[2]*k) })
	case draw.OpText:
		n := utf8.RuneCount(c.Bytes)
		col, row := int(x)-n/2*int(min(c.Flags, 1)), int(y/2)
		for _, r := range string(c.Bytes) {
			if col >= 0 && col < p.wide && row >= 0 && row < p.rows {
				p.cells[row*p.wide+col] = r
			}
			col++
		}
	}
}

// fill puts a character where a shape is.
func (p *Picture) fill(c rune, in func(x, y float64) bool) {
	for i := range p.cells {
		if in(float64(i%p.wide)+0.5, float64(2*(i/p.wide))+1) {
			p.cells[i] = c
		}
	}
}

// Wide is how many columns it has.
func (p *Picture) Wide() int { return p.wide }

// Rows are its lines.
func (p *Picture) Rows(yield func([]rune) bool) {
	for i := range p.rows {
		if !yield(p.cells[i*p.wide : (i+1)*p.wide]) {
			return
		}
	}
}
