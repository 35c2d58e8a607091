package terminal

import "github.com/coeval-dev/coeval/game"

// A page is the whole of a terminal: a picture, and a line below.
type page struct {
	picture *picture
	drawn   bool
	cells   []cell
	output  output
}

func (p *page) begin(t *game.Title, d depth) {
	p.picture, p.output.depth = newPicture(t), d
}

// draw takes a frame for a page of a size.
func (p *page) draw(f *game.Frame, columns, rows int) error {
	p.drawn = true
	return p.picture.draw(f, columns, rows-1)
}

// Colors of what is said beside a game.
const lineInk, linePaper, noteInk, notePaper tint = 0xc8d2dc, 0x1c232b, 0x10141a, 0xffd166

// write is what shows the page as it is now.
func (p *page) write(columns, rows int, s Status) []byte {
	for len(p.cells) < columns*rows {
		p.cells = append(p.cells, cell{})
	}
	p.cells = p.cells[:columns*rows]
	game := p.cells[:columns*(rows-1)]
	if p.drawn && p.picture.columns == columns && p.picture.rows == rows-1 {
		p.picture.paint()
		copy(game, p.picture.cells)
	} else { // until the next frame, which knows the size
		clear(game)
	}
	p.say(game, columns, (rows-1)/2, s.Note)
	line := p.cells[len(game):]
	for i := range line {
		line[i] = cell{' ', lineInk, linePaper}
	}
	if wrong := p.picture.wrong(); wrong != "" {
		s.Line = wrong + "  " + s.Line
	}
	i := 0
	for _, r := range s.Line {
		if i < columns {
			line[i].letter = narrow(r)
			i++
		}
	}
	return p.output.frame(p.cells, columns, rows)
}

// say writes a note into the middle of a row.
func (p *page) say(cells []cell, columns, row int, note string) {
	letters := []rune(note)
	if len(letters) == 0 || len(cells) == 0 {
		return
	}
	letters = []rune("[ " + string(letters[:min(len(letters), max(columns-4, 0))]) + " ]")
	from := max(0, (columns-len(letters))/2)
	for i, r := range letters {
		if at := from + i; at < columns && row*columns+at < len(cells) {
			cells[row*columns+at] = cell{narrow(r), noteInk, notePaper}
		}
	}
}
