package arena

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/det"
)

// Limits of what Parse takes, so that a map from a stranger can fill neither the memory nor a tick.
const (
	MaxText    = 1 << 20 // bytes
	MaxSide    = 512     // cells in a row or column
	MaxRooms   = 2000    // and portals at most twice as many
	maxWays    = 1 << 22 // of all rooms: doorways times cells, which is what bots remember
	maxName    = 24
	maxTitle   = 60
	maxReports = 10
)

// A MapError is one mistake in the text of a map.
type MapError struct {
	Line, Column int // from 1
	Problem      string
}

func (e *MapError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Problem) }

// Parse makes a map of its text, whose format docs/arena.md explains. The text may come from a
// stranger. If it has mistakes the error lists them, each a *MapError with line and column.
func Parse(text []byte) (*Map, error) {
	p := &parser{m: new(Map)}
	if len(text) > MaxText {
		p.fail(1, 1, "the map has %d bytes; at most %d are allowed", len(text), MaxText)
		return nil, p.err()
	}
	m := p.m
	m.text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	m.hash = hashText(m.text)
	grid := p.header(string(m.text))
	if p.failed() {
		return nil, p.err()
	}
	p.grid(grid)
	if p.failed() {
		return nil, p.err()
	}
	p.edge()
	p.portals()
	if p.failed() {
		return nil, p.err()
	}
	p.rooms()
	p.reachable()
	if p.failed() {
		return nil, p.err()
	}
	m.outline()
	m.masks()
	//coeval:allow concurrent -- no rule asks for them, and what they give depends on the map alone
	m.nav, m.plan = sync.OnceValue(m.survey), sync.OnceValues(m.workOutPlan)
	return m, nil
}

// A parser reads one map.
type parser struct {
	m     *Map
	first int // line of the first row of the grid
	errs  []error
	more  int
	spots []spot // where spawns and items were, to be named in errors
	chars []byte // the grid's characters, by cell
}

type spot struct{ x, y int }

func (p *parser) fail(line, column int, format string, args ...any) {
	if len(p.errs) >= maxReports {
		p.more++
		return
	}
	p.errs = append(p.errs, &MapError{line, column, fmt.Sprintf(format, args...)})
}

// at reports a mistake in a cell.
func (p *parser) at(x, y int, format string, args ...any) {
	p.fail(p.first+y, x+1, format, args...)
}

func (p *parser) failed() bool { return len(p.errs) > 0 }

func (p *parser) err() error {
	if p.more > 0 {
		p.errs = append(p.errs, fmt.Errorf("and %d more", p.more))
	}
	return errors.Join(p.errs...)
}

// header reads the lines before the grid, and gives what follows them.
func (p *parser) header(text string) (grid string) {
	more, n := true, 0
	for ; more; n++ {
		var line string
		line, text, more = strings.Cut(text, "\n")
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		value = strings.TrimSpace(value)
		column := len(line) - len(strings.TrimLeft(line, " \t")) + 1
		switch key {
		case "map":
			if p.m.Name == "" {
				p.fail(n+1, column,
					"the map has no name; write a line such as \"name cellar\" before this one")
			}
			p.first = n + 2
			return text
		case "name":
			p.m.Name = value
			if !goodName(value) {
				p.fail(n+1, column+5,
					"the name is %q; use 1 to %d letters a to z, digits and dashes", cut(value, 40),
					maxName)
			}
		case "title":
			p.m.Title = CleanText(value, maxTitle)
		case "by":
			p.m.By = CleanText(value, maxTitle)
		case "":
		default:
			if !strings.HasPrefix(key, ";") {
				p.fail(n+1, column,
					"%q is not known; there are name, title, by, lines that begin with ; and "+
						"then map, with the grid below it", cut(key, 20))
			}
		}
	}
	p.fail(n, 1, "there is no grid; write a line \"map\" and the grid below it")
	return ""
}

func goodName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxName
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}

// legend says what a character of the grid stands for.
func legend(c byte) (cell Cell, ok bool) {
	switch c {
	case ' ':
		return Void, true
	case '#':
		return Wall, true
	case '~':
		return Pit, true
	case '.', '+', ':', 's', '1', '2':
		return Floor, true
	}
	return Floor, kindOf(c) != 0
}

// trimRows leaves empty rows at the end out.
func trimRows(grid string) string {
	for {
		last := strings.LastIndexByte(grid, '\n') + 1
		if strings.TrimSpace(grid[last:]) != "" || grid == "" {
			return grid
		}
		grid = grid[:max(0, last-1)]
	}
}

// grid reads the characters.
func (p *parser) grid(text string) {
	text = trimRows(text)
	m := p.m
	m.Height = min(len(text), strings.Count(text, "\n")+1)
	for row := range strings.SplitSeq(text, "\n") {
		m.Width = max(m.Width, len(row))
	}
	if m.Height > MaxSide || m.Width > MaxSide {
		p.fail(p.first, 1, "the grid has %d columns and %d rows; at most %d are allowed of each",
			m.Width, m.Height, MaxSide)
		return
	}
	m.cells = make([]Cell, m.Width*m.Height)
	p.chars = bytes.Repeat([]byte{' '}, len(m.cells))
	for y, row := range strings.Split(text, "\n")[:m.Height] {
		for x := 0; x < len(row); x++ {
			cell, ok := legend(row[x])
			if !ok {
				r, _ := utf8.DecodeRuneInString(row[x:])
				p.fail(p.first+y, utf8.RuneCountInString(row[:x])+1,
					"%q stands for nothing; look at the legend in docs/arena.md", r)
				break // what follows may be shifted
			}
			m.cells[y*m.Width+x] = cell
			p.chars[y*m.Width+x] = row[x]
			p.thing(x, y, row[x])
		}
	}
	if !p.failed() && len(m.Spawns) < 2 {
		p.fail(p.first, 1, "there are %d places to spawn; mark at least two by s", len(m.Spawns))
	}
}

// thing notes what appears at a cell.
func (p *parser) thing(x, y int, c byte) {
	m := p.m
	pos := det.Vec2{X: float64(x) + 0.5, Y: float64(y) + 0.5}
	switch c {
	case 's', '1', '2':
		team := 0
		if c != 's' {
			team = int(c - '0')
		}
		m.Spawns = append(m.Spawns, Spawn{pos, team})
		p.spots = append(p.spots, spot{x, y})
	default:
		if k := kindOf(c); k != 0 {
			m.Items = append(m.Items, Item{pos, k})
			p.spots = append(p.spots, spot{x, y})
		}
	}
}

// edge sees that no one can leave the map, and that no open ground lies beside the void, where it
// would have no wall to draw.
func (p *parser) edge() {
	m := p.m
	for y := range m.Height {
		for x := range m.Width {
			if m.Cell(x, y) < Floor {
				continue
			}
			for _, d := range sides {
				if m.Cell(x+d.x, y+d.y) == Void {
					p.at(x, y, "the map is open here, %s; put a wall (#) around it", d.name)
					break
				}
			}
		}
	}
}

type side struct {
	x, y int
	name string
}

var sides = [4]side{
	{0, -1, "above"}, {0, 1, "below"}, {-1, 0, "to the left"}, {1, 0, "to the right"}}

// reachable sees that one can walk from every spawn to every other place that matters.
func (p *parser) reachable() {
	m := p.m
	seen := make([]bool, len(m.cells))
	start := p.spots[0]
	for _, k := range p.spots { // spawns come first in what a player would name
		if c := p.chars[k.y*m.Width+k.x]; c == 's' || c == '1' || c == '2' {
			start = k
			break
		}
	}
	seen[start.y*m.Width+start.x] = true
	queue := []spot{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, d := range sides {
			to := spot{at.x + d.x, at.y + d.y}
			if i := to.y*m.Width + to.x; m.Walkable(to.x, to.y) && !seen[i] {
				seen[i] = true
				queue = append(queue, to)
			}
		}
	}
	for _, k := range p.spots {
		if !seen[k.y*m.Width+k.x] {
			p.at(k.x, k.y, "no one can walk here from the first spawn, at line %d, column %d",
				p.first+start.y, start.x+1)
		}
	}
}
