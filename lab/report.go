package lab

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Result is what an experiment found. Its fields carry all that is said of them: the name in
// JSON, the head of a column (head), and how a value is written (as, for fmt.Sprintf). A value is
// written in percent if that has %%, and left out if it is zero and that begins with a question
// mark.
type Result interface {
	// Report says what was found, to people.
	Report(r *Report)
	// Check is an error where what was measured is not what it should be.
	Check() error
}

// A Listing is a result that is several objects, which in JSON stand one a line.
type Listing interface{ Lines() []any }

// Lines are the rows of a listing.
func Lines[T any](rows []T) (list []any) {
	for i := range rows {
		list = append(list, &rows[i])
	}
	return list
}

// CheckAll checks each row.
func CheckAll[T any, P interface {
	*T
	Check() error
}](rows []T) error {
	var wrong []error
	for i := range rows {
		wrong = append(wrong, P(&rows[i]).Check())
	}
	return errors.Join(wrong...)
}

// Groups are the rows one after the other that have the same name.
func Groups[T any](rows []T, name func(row *T) string) iter.Seq2[string, []T] {
	return func(yield func(string, []T) bool) {
		for len(rows) > 0 {
			n, is := 1, name(&rows[0])
			for n < len(rows) && name(&rows[n]) == is {
				n++
			}
			if !yield(is, rows[:n]) {
				return
			}
			rows = rows[n:]
		}
	}
}

// A Report writes what was found for people: paragraphs and tables with an empty line between them,
// nothing wider than the terminal.
type Report struct {
	out   io.Writer
	width int
	begun bool
	err   error
}

// NewReport makes one for a terminal of so many columns.
func NewReport(out io.Writer, width int) *Report { return &Report{out: out, width: max(width, 40)} }

// Err is the first error of writing.
func (r *Report) Err() error { return r.err }

func (r *Report) line(text string) {
	_, err := fmt.Fprintln(r.out, strings.TrimRight(text, " "))
	r.err, r.begun = cmp.Or(r.err, err), true
}

// Say writes a paragraph.
func (r *Report) Say(format string, args ...any) {
	if r.begun {
		r.line("")
	}
	r.Add(format, args...)
}

// Add writes a line, or several, below what was said last.
func (r *Report) Add(format string, args ...any) {
	for text := range strings.Lines(fmt.Sprintf(format, args...)) {
		for _, line := range wrap(strings.TrimRight(text, "\n"), r.width) {
			r.line(line)
		}
	}
}

// Width is how many columns there are.
func (r *Report) Width() int { return r.width }

// Exactly writes lines as they are, below what was said last: pictures of characters.
func (r *Report) Exactly(lines []string) {
	for _, text := range lines {
		r.line(text)
	}
}

// Table writes rows, a slice of structs, with the columns named: fields separated by commas, each a
// path such as Sizes.Median, and after a colon the head if it is not that of the field. Where a
// table is too wide it is split, and the columns before a bar are repeated. Columns with nothing in
// them are left out.
func (r *Report) Table(rows any, columns string) {
	key, rest, _ := strings.Cut(columns, "|")
	keys := parseColumns(key)
	g := newGrid(reflect.ValueOf(rows), append(keys, parseColumns(rest)...))
	g.keys = len(keys)
	r.print(g)
}

// Figures writes a table on its side: a line for each column. What stands before a bar heads those
// of a row.
func (r *Report) Figures(rows any, columns string) {
	key, rest, ok := strings.Cut(columns, "|")
	if !ok {
		key, rest = "", columns
	}
	heads := newGrid(reflect.ValueOf(rows), parseColumns(key))
	g := newGrid(reflect.ValueOf(rows), parseColumns(rest))
	side := &grid{keys: 1, heads: []string{""}, left: []bool{true}}
	for i := range g.cells {
		side.heads = append(side.heads, strings.Join(heads.cells[i], " "))
	}
	side.left = append(side.left, make([]bool, len(g.cells))...)
	for j, head := range g.heads {
		row := []string{head}
		for i := range g.cells {
			row = append(row, g.cells[i][j])
		}
		side.cells = append(side.cells, row)
	}
	r.print(side)
}

// Largest lists what a map has, the largest first.
func Largest(m map[string]float64) string {
	var list []string
	for _, name := range slices.SortedFunc(maps.Keys(m),
		func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) }) {
		list = append(list, fmt.Sprintf("%s %.1f", name, m[name]))
	}
	return strings.Join(list, ", ")
}

// Indent sets a text off.
func Indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ")
}

// A column is a field to be written.
type column struct {
	path []string
	head string
}

func parseColumns(list string) (out []column) {
	for name := range strings.SplitSeq(list, ",") {
		path, head, _ := strings.Cut(strings.TrimSpace(name), ":")
		if path != "" {
			out = append(out, column{strings.Split(path, "."), strings.TrimSpace(head)})
		}
	}
	return out
}

// find is a column's field in a row, and what its tags say. It is not there if it is in a part of
// the row that is nil.
func (c column) find(row reflect.Value) (reflect.Value, reflect.StructTag) {
	var tag reflect.StructTag
	for _, name := range c.path {
		for row.Kind() == reflect.Pointer {
			row = row.Elem()
		}
		if !row.IsValid() {
			return row, tag
		}
		field, ok := row.Type().FieldByName(name)
		if !ok {
			panic(fmt.Sprintf("lab: %v has no field %s", row.Type(), name))
		}
		tag = field.Tag
		row, _ = row.FieldByIndexErr(field.Index)
	}
	return row, tag
}

// text is how a value is written.
func text(v reflect.Value, as string) string {
	if !v.IsValid() {
		return ""
	}
	as, optional := strings.CutPrefix(cmp.Or(as, "%v"), "?")
	if optional && v.IsZero() {
		return ""
	}
	if v.Kind() == reflect.Slice {
		list := make([]string, v.Len())
		for i := range list {
			list[i] = text(v.Index(i), as)
		}
		return strings.Join(list, ", ")
	}
	switch x := v.Interface().(type) {
	case bool:
		if x {
			return "yes"
		}
		return "NO"
	case float64:
		if strings.Contains(as, "%%") {
			x *= 100
		}
		return fmt.Sprintf(as, x)
	default:
		return fmt.Sprintf(as, x)
	}
}

// A grid is a table as it is written.
type grid struct {
	keys  int // columns that are repeated where it is split
	heads []string
	left  []bool // columns of text
	cells [][]string
}

func newGrid(rows reflect.Value, columns []column) *grid {
	g := &grid{cells: make([][]string, rows.Len())}
	for _, c := range columns {
		empty, words, head := true, false, c.head
		cells := make([]string, rows.Len())
		for i := range cells {
			v, tag := c.find(rows.Index(i))
			head = cmp.Or(head, tag.Get("head"))
			cells[i] = text(v, tag.Get("as"))
			empty = empty && cells[i] == ""
			words = words || v.IsValid() &&
				(v.Kind() == reflect.String || v.Kind() == reflect.Slice)
		}
		if empty {
			continue
		}
		g.heads, g.left = append(g.heads, head), append(g.left, words)
		for i := range cells {
			g.cells[i] = append(g.cells[i], cells[i])
		}
	}
	return g
}

const (
	gap       = 2  // between two columns
	leastText = 20 // to which a column of text may be wrapped
)

// print writes a table, with its words wrapped, or its columns split, as far as it must be.
func (r *Report) print(g *grid) {
	if len(g.heads) == 0 {
		return
	}
	widths := make([]int, len(g.heads))
	for j, head := range g.heads {
		for word := range strings.FieldsSeq(head) {
			widths[j] = max(widths[j], utf8.RuneCountInString(word))
		}
		for _, row := range g.cells {
			widths[j] = max(widths[j], utf8.RuneCountInString(row[j]))
		}
	}
	widths = g.fit(widths, r.width)
	for at := g.keys; at < len(widths) || at == g.keys; {
		show, used := []int{}, -gap
		for j := range g.keys {
			show, used = append(show, j), used+widths[j]+gap
		}
		for first := at; at < len(widths) && (at == first || used+widths[at]+gap <= r.width); at++ {
			show, used = append(show, at), used+widths[at]+gap
		}
		if r.begun {
			r.line("")
		}
		r.row(g, g.heads, widths, show)
		for _, row := range g.cells {
			r.row(g, row, widths, show)
		}
		if at >= len(widths) {
			return
		}
	}
}

// fit wraps columns of text, the widest first, if the table is as wide as the terminal then. If it
// must be split all the same, they only leave some room.
func (g *grid) fit(widths []int, most int) []int {
	wrapped := slices.Clone(widths)
	for {
		widest, total := -1, -gap
		for j, w := range wrapped {
			total += w + gap
			if g.left[j] && w > leastText && (widest < 0 || w > wrapped[widest]) {
				widest = j
			}
		}
		if total <= most {
			return wrapped
		}
		if widest < 0 {
			break
		}
		wrapped[widest] = max(leastText, wrapped[widest]-(total-most))
	}
	for j := range widths {
		if g.left[j] {
			widths[j] = min(widths[j], max(leastText, most/2))
		}
	}
	return widths
}

// row writes a line of a table, or as many as its longest cell takes.
func (r *Report) row(g *grid, cells []string, widths, show []int) {
	var parts [][]string
	high := 0
	for _, j := range show {
		lines := wrap(cells[j], widths[j])
		parts, high = append(parts, lines), max(high, len(lines))
	}
	head := &cells[0] == &g.heads[0]
	if head && strings.Join(cells, "") == "" {
		return
	}
	for n := range high {
		var line strings.Builder
		for i, j := range show {
			k := n
			if head { // at the bottom of the line
				k -= high - len(parts[i])
			}
			cell := ""
			if k >= 0 && k < len(parts[i]) {
				cell = parts[i][k]
			}
			width := widths[j]
			if g.left[j] {
				width = -width
			}
			fmt.Fprintf(&line, "%*s%*s", width, cell, gap, "")
		}
		r.line(line.String())
	}
}

// wrap breaks a text between words, into lines of so many characters if they allow that. Lines that
// follow are set in as far as the first.
func wrap(s string, width int) (lines []string) {
	if utf8.RuneCountInString(s) <= width {
		return []string{s}
	}
	in := s[:len(s)-len(strings.TrimLeft(s, " "))]
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && utf8.RuneCountInString(in+line+" "+word) > width {
			lines, line = append(lines, in+line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, in+line)
}

// Grid writes a table of texts, with the first columns repeated where it is split. Columns whose
// cells are no numbers are set to the left.
func (r *Report) Grid(keys int, heads []string, rows [][]string) {
	g := &grid{keys: keys, heads: heads, cells: rows, left: make([]bool, len(heads))}
	for _, row := range rows {
		for j, cell := range row {
			if cell != "" && !strings.ContainsAny(cell[:1], "0123456789+-.") {
				g.left[j] = true
			}
		}
	}
	r.print(g)
}
