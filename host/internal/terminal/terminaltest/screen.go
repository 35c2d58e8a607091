// Package terminaltest is a terminal for tests: it is written to, and can be looked at.
package terminaltest

import (
	"image"
	"image/color"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
)

// A Screen is a page of characters. It understands what the program writes, and counts what else
// there is.
type Screen struct {
	Columns, Rows int
	// Strange are sequences that it does not understand, and Outside characters beyond an edge.
	Strange []string
	Outside int

	cells       []Cell
	row, column int
	pen         Cell
	rest        []byte // of a sequence that is not whole yet
}

// A Cell is a character with its colors; -1 is the terminal's own.
type Cell struct {
	Letter     rune
	Ink, Paper int
}

// New makes an empty screen.
func New(columns, rows int) *Screen {
	s := &Screen{Columns: columns, Rows: rows, pen: Cell{' ', -1, -1}}
	s.cells = make([]Cell, columns*rows)
	s.erase(0)
	return s
}

func (s *Screen) erase(from int) {
	for i := from; i < len(s.cells); i++ {
		s.cells[i] = Cell{' ', -1, s.pen.Paper}
	}
}

// Write takes what a program writes.
func (s *Screen) Write(b []byte) (int, error) {
	s.rest = append(s.rest, b...)
	for len(s.rest) > 0 {
		n := s.one(s.rest)
		if n == 0 {
			break // there is more to come
		}
		s.rest = s.rest[n:]
	}
	return len(b), nil
}

// one takes a character or a sequence, and says how many bytes it has.
func (s *Screen) one(b []byte) int {
	switch {
	case b[0] == '\r':
		s.column = 0
		return 1
	case b[0] == '\n':
		s.row++
		return 1
	case b[0] == 0x1b:
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				s.sequence(string(b[1:i]), b[i])
				return i + 1
			}
		}
		return 0
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if s.row >= s.Rows || s.column >= s.Columns || r < ' ' {
		s.Outside++
		return n
	}
	s.cells[s.row*s.Columns+s.column] = Cell{r, s.pen.Ink, s.pen.Paper}
	s.column++
	return n
}

// sequence does what a control sequence says.
func (s *Screen) sequence(text string, end byte) {
	numbers := func(i, otherwise int) int {
		if part := strings.Split(strings.TrimPrefix(text, "["), ";"); i < len(part) {
			if n, err := strconv.Atoi(part[i]); err == nil {
				return n
			}
		}
		return otherwise
	}
	switch {
	case strings.HasPrefix(text, "[?"):
	case end == 'H':
		s.row, s.column = numbers(0, 1)-1, numbers(1, 1)-1
	case end == 'A':
		s.row -= numbers(0, 1)
	case end == 'C':
		s.column += numbers(0, 1)
	case end == 'K':
		for i := s.column; i < s.Columns; i++ {
			s.cells[s.row*s.Columns+i] = Cell{' ', -1, s.pen.Paper}
		}
	case end == 'J' && text == "[2":
		s.erase(0)
	case end == 'J' && text == "[":
		s.erase(s.row*s.Columns + s.column)
	case end == 'm':
		s.colors(numbers)
	default:
		s.Strange = append(s.Strange, text+string(end))
	}
}

func (s *Screen) colors(number func(i, otherwise int) int) {
	for i := 0; number(i, -1) >= 0 || i == 0; i++ {
		to := &s.pen.Ink
		switch number(i, 0) {
		case 0:
			s.pen.Ink, s.pen.Paper = -1, -1
			continue
		case 38:
		case 48:
			to = &s.pen.Paper
		default:
			s.Strange = append(s.Strange, "color "+strconv.Itoa(number(i, 0)))
			continue
		}
		if number(i+1, 0) == 5 {
			*to = shade(number(i+2, 0))
			i += 2
		} else {
			*to = number(i+2, 0)<<16 | number(i+3, 0)<<8 | number(i+4, 0)
			i += 4
		}
	}
}

// shade is one of the 256 colors.
func shade(n int) int {
	if n >= 232 {
		return (8 + 10*(n-232)) * 0x10101
	}
	value := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return value(n/36)<<16 | value(n/6%6)<<8 | value(n%6)
}

// At is the cell at a place.
func (s *Screen) At(column, row int) Cell { return s.cells[row*s.Columns+column] }

// Line is a row as text.
func (s *Screen) Line(row int) string {
	var b strings.Builder
	for _, c := range s.cells[row*s.Columns : (row+1)*s.Columns] {
		b.WriteRune(c.Letter)
	}
	return b.String()
}

// Text is all rows.
func (s *Screen) Text() string {
	var b strings.Builder
	for row := range s.Rows {
		b.WriteString(strings.TrimRight(s.Line(row), " ") + "\n")
	}
	return b.String()
}

// Image is the screen as a picture, for people to look at.
func (s *Screen) Image() image.Image {
	const w, h = 8, 16
	var surface draw.Surface
	surface.Begin(float64(w*s.Columns), float64(h*s.Rows))
	surface.Camera(draw.Camera{X: float64(w*s.Columns) / 2, Y: float64(h*s.Rows) / 2,
		Width: float64(w * s.Columns), Height: float64(h * s.Rows)})
	paint := func(c int, otherwise uint32) draw.Color {
		if c < 0 {
			return draw.RGB(otherwise)
		}
		return draw.RGB(uint32(c))
	}
	for i, c := range s.cells {
		x, y := float64(w*(i%s.Columns)), float64(h*(i/s.Columns))
		ink, paper := paint(c.Ink, 0xd0d0d0), paint(c.Paper, 0)
		surface.Rect(x, y, w, h, paper)
		switch c.Letter {
		case ' ':
		case '▀':
			surface.Rect(x, y, w, h/2, ink)
		case '▄':
			surface.Rect(x, y+h/2, w, h/2, ink)
		case '█':
			surface.Rect(x, y, w, h, ink)
		default:
			surface.Text(x+w/2, y+h/2, 13, string(c.Letter), ink, draw.Center)
		}
	}
	img := image.NewRGBA(image.Rect(0, 0, w*s.Columns, h*s.Rows))
	var r raster.Raster
	if err := r.Draw(img, surface.Library(), surface.List()); err != nil {
		img.Set(0, 0, color.White) // there are too many calls
	}
	return img
}
