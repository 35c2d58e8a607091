// Package picture draws a world in characters.
package picture

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// A Picture is a world as a title's Screen draws it, in characters. It has as many rows as it was
// given, and as many columns as the game needs of them.
type Picture struct {
	wide, rows int
	cells      []rune
}

// Draw fills the picture: the game as large as fits, over a floor.
func (p *Picture) Draw(t *game.Title, w *world.World, me world.Player, columns, rows int) {
	s := &t.Screen
	// A character is about twice as high as wide.
	scale := min(float64(columns)/(2*s.Width), float64(rows)/s.Height)
	wide, high := int(2*s.Width*scale), int(s.Height*scale)
	p.wide, p.rows = wide, rows
	p.cells = p.cells[:0]
	for j := range rows {
		c := ' '
		if j == high-1 || j == 0 && high == rows {
			c = '_'
		}
		for range wide {
			p.cells = append(p.cells, c)
		}
	}
	s.Draw(w, me, func(x, y float64, c rune) {
		i, j := int(x/s.Width*float64(wide)), high-1-int(y/s.Height*float64(high))
		if x >= 0 && y >= 0 && i < wide && j >= 0 && j < rows {
			p.cells[j*wide+i] = c
		}
	})
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
