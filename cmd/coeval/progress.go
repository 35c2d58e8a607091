package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A progress is a bar on a terminal that says how far long work has come. On anything else it shows nothing, so that logs and pipes
// stay clean. A nil progress shows nothing either.
type progress struct {
	out   io.Writer
	shown string
}

// newProgress makes a bar where out is a terminal.
func newProgress(out io.Writer) *progress {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{out: out}
}

const barWidth = 30

// show draws the bar for a share of the work, from 0 to 1, with what is being done beside it.
func (p *progress) show(done float64, what string) {
	if p == nil {
		return
	}
	done = min(max(done, 0), 1)
	full := int(done * barWidth)
	line := fmt.Sprintf("%s%s %3.0f %%  %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), done*100, what)
	if line != p.shown {
		p.shown = line
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	}
}

// clear takes the bar away, for what is printed next.
func (p *progress) clear() {
	if p != nil && p.shown != "" {
		p.shown = ""
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
