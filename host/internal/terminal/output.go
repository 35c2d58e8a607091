package terminal

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// An output writes cells to a terminal: those that are not as they were.
type output struct {
	depth         depth
	columns, rows int
	shown         []cell // as the terminal has them
	drawn         bool   // there is something shown
	buf           []byte

	// The terminal's own state: where it writes next, and in which colors.
	row, column int
	ink, paper  tint
}

const noTint tint = 1 << 24

// ramp are the characters of a terminal without colors, from dark to bright.
const ramp = " .:-=+*#%@"

// brightness is which of them is for a light from 0 to 255. What is nearly black is blank, and what
// is dark is told apart more finely than what is bright.
func brightness(light int) int {
	const black = 26
	part := max(0, float64(light-black)/(255-black))
	return min(int(math.Pow(part, 0.7)*float64(len(ramp))), len(ramp)-1)
}

// frame is what to write so that the terminal shows the cells. It is good until the next.
func (o *output) frame(cells []cell, columns, rows int) []byte {
	o.buf = o.buf[:0]
	if !o.drawn || o.columns != columns || o.rows != rows {
		o.drawn, o.columns, o.rows = true, columns, rows
		o.shown = make([]cell, len(cells))
		for i := range o.shown {
			o.shown[i].letter = -1 // nothing is like it
		}
		o.buf = append(o.buf, "\x1b[0m\x1b[2J"...)
		o.ink, o.paper = noTint, noTint
	}
	o.row, o.column = -1, -1
	for i := range cells {
		c := o.reduce(cells[i])
		if o.same(c, o.shown[i]) {
			continue
		}
		o.shown[i] = c
		o.move(i/columns, i%columns)
		o.put(c)
	}
	return o.buf
}

// reduce is a cell in the colors that there are.
func (o *output) reduce(c cell) cell {
	switch o.depth {
	case some:
		c.top, c.bottom = c.top.index(), c.bottom.index()
	case plain:
		switch {
		case c.letter == 0:
			c.letter = rune(ramp[brightness(c.top.mix(c.bottom, 128).light())])
		case c.letter > '~':
			c.letter = '?'
		}
		c.top, c.bottom = 0, 0
	}
	return c
}

// same says whether a cell need not be written.
func (o *output) same(a, b cell) bool {
	if a.letter != b.letter || o.depth != full {
		return a == b
	}
	return a.top.near(b.top) && a.bottom.near(b.bottom)
}

// move goes to a cell.
func (o *output) move(row, column int) {
	switch {
	case row == o.row && column == o.column:
		return
	case row == o.row && column == o.column+1:
		o.buf = append(o.buf, "\x1b[C"...)
	case row == o.row && column > o.column:
		o.buf = append(o.buf, "\x1b["...)
		o.buf = strconv.AppendInt(o.buf, int64(column-o.column), 10)
		o.buf = append(o.buf, 'C')
	default:
		o.buf = append(o.buf, "\x1b["...)
		o.buf = strconv.AppendInt(o.buf, int64(row+1), 10)
		if column > 0 {
			o.buf = append(o.buf, ';')
			o.buf = strconv.AppendInt(o.buf, int64(column+1), 10)
		}
		o.buf = append(o.buf, 'H')
	}
	o.row, o.column = row, column
}

// put writes a cell, with as few changes of color as it needs.
func (o *output) put(c cell) {
	letter, ink, paper := c.letter, c.top, c.bottom
	switch {
	case o.depth == plain:
		ink, paper = o.ink, o.paper
	case letter == ' ':
		ink = o.ink
	case letter != 0:
	case c.top == c.bottom && o.ink == c.top && o.paper != c.top:
		letter, paper = '█', o.paper
	case c.top == c.bottom:
		letter, ink = ' ', o.ink
	case o.ink == c.bottom || o.paper == c.top:
		letter, ink, paper = '▄', c.bottom, c.top
	default:
		letter = '▀'
	}
	if ink != o.ink || paper != o.paper {
		o.buf = append(o.buf, "\x1b["...)
		if ink != o.ink {
			o.color('3', ink)
			if paper != o.paper {
				o.buf = append(o.buf, ';')
			}
		}
		if paper != o.paper {
			o.color('4', paper)
		}
		o.buf = append(o.buf, 'm')
		o.ink, o.paper = ink, paper
	}
	o.buf = utf8.AppendRune(o.buf, letter)
	if o.column++; o.column == o.columns {
		o.row = -1 // terminals differ in where that is
	}
}

// color writes the numbers of a color: which is 3 for ink and 4 for paper.
func (o *output) color(which byte, t tint) {
	o.buf = append(o.buf, which)
	if o.depth == some {
		o.buf = append(o.buf, "8;5;"...)
		o.buf = strconv.AppendUint(o.buf, uint64(t), 10)
		return
	}
	r, g, b := t.channels()
	o.buf = append(o.buf, "8;2;"...)
	o.buf = strconv.AppendInt(o.buf, int64(r), 10)
	o.buf = append(o.buf, ';')
	o.buf = strconv.AppendInt(o.buf, int64(g), 10)
	o.buf = append(o.buf, ';')
	o.buf = strconv.AppendInt(o.buf, int64(b), 10)
}
