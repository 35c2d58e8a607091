package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// JSONFlag adds --json, for what Print prints.
func JSONFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, "print one JSON object")
}

// Print writes a report, as people read it or as one JSON object.
func Print(out io.Writer, r fmt.Stringer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(r)
	}
	_, err := io.WriteString(out, r.String())
	return err
}

// Rows are a text of lines that each begin with a name.
type Rows struct{ text strings.Builder }

// Add adds a line.
func (r *Rows) Add(name, format string, args ...any) {
	fmt.Fprintf(&r.text, name+"\t"+format+"\n", args...)
}

// String is the text, with what follows the names in a column.
func (r *Rows) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(w, r.text.String()) // a builder takes everything
	_ = w.Flush()
	return out.String()
}

// Width is how many columns there are to write to: those of a terminal, or as many as the
// environment's COLUMNS says, or 100.
func Width(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	return 100
}

// A Progress is a bar on a terminal that says how far long work has come. On anything else it shows
// nothing, so that logs and pipes stay clean. A nil Progress shows nothing either.
type Progress struct {
	out   io.Writer
	width func() int // of the terminal, in columns
	shown string
}

// NewProgress makes a bar where out is a terminal.
func NewProgress(out io.Writer) *Progress {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &Progress{out: out, width: func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return columns
	}}
}

const barWidth = 30

// Show draws the bar for a share of the work, from 0 to 1, with what is being done beside it.
func (p *Progress) Show(done float64, what string) {
	if p == nil {
		return
	}
	done = min(max(done, 0), 1)
	line := p.line(done, what)
	if line != p.shown {
		p.shown = line
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	}
}

// line is the bar, cut to the width of the terminal: a line that wraps could not be taken back. In
// a narrow one, the bar is short too.
func (p *Progress) line(done float64, what string) string {
	width := p.width()
	if width <= 0 {
		width = 80
	}
	wide := max(0, min(barWidth, width/3))
	full := int(done * float64(wide))
	line := []rune(fmt.Sprintf("%s%s %3.0f %%  %s", strings.Repeat("█", full),
		strings.Repeat("░", wide-full), done*100, what))
	if most := width - 1; len(line) > most { // in the last column, some terminals wrap at once
		line = append(line[:max(most-1, 0)], []rune("…")[:min(most, 1)]...)
	}
	return string(line)
}

// Clear takes the bar away, for what is printed next.
func (p *Progress) Clear() {
	if p != nil && p.shown != "" {
		p.shown = ""
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
