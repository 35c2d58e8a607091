package simtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update-scenarios", false,
	"write what happens in scenarios into their files")

// A Line is one line of a scenario: a verb, its arguments, and options as in "count=3" or,
// for those that have no value, "full".
type Line struct {
	t       *testing.T
	text    string
	Verb    string
	Args    []string
	Options map[string]string
}

// Scenarios plays each conversation in testdata/scenarios as a test of its own. A file is a series
// of steps, with a blank line between two: lines to play, a line of dashes, and what happens:
//
//	flush ann
//	----
//	1: 10.0.1.1:5000 > 10.0.0.1:4000 request, 64 bytes
//
// A step that begins with # is a remark. Where nothing happens the file says "ok". The function
// start is called once for each file, and what it returns once for each line; it writes what
// happens.
//
//	go test -run TestScenarios -update-scenarios
//
// writes into the files what happens now, so that a change of behaviour can be read as a change of
// a conversation.
func Scenarios(t *testing.T, start func(t *testing.T) func(line Line, out *strings.Builder)) {
	t.Helper()
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no files in testdata/scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			happened := playScenario(t, string(text), start(t))
			switch {
			case happened == string(text):
			case *update:
				err = os.WriteFile(file, []byte(happened), 0o644)
			default:
				t.Errorf("%s says:\n%s", file, difference(string(text), happened))
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// playScenario gives the text of a scenario with what happens in it.
func playScenario(t *testing.T, text string, play func(Line, *strings.Builder)) string {
	var steps []string
	for step := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(step, "#") {
			steps = append(steps, step+"\n")
			continue
		}
		lines, _, _ := strings.Cut(step+"\n", "\n----\n")
		var out strings.Builder
		for line := range strings.SplitSeq(lines, "\n") {
			play(parseLine(t, line), &out)
		}
		if out.Len() == 0 {
			out.WriteString("ok\n")
		}
		steps = append(steps, lines+"\n----\n"+out.String())
	}
	return strings.Join(steps, "\n")
}

// difference shows the steps that went otherwise.
func difference(want, happened string) string {
	var out strings.Builder
	wanted := strings.Split(strings.TrimSpace(want), "\n\n")
	for i, got := range strings.Split(strings.TrimSpace(happened), "\n\n") {
		if i >= len(wanted) || wanted[i] != got {
			lines, got, _ := strings.Cut(got, "\n----\n")
			_, want, _ := strings.Cut(slices.Concat(wanted, make([]string, i+1))[i], "\n----\n")
			fmt.Fprintf(&out, "%s\n---- wanted\n%s\n---- happened\n%s\n\n", lines, want, got)
		}
	}
	return out.String()
}

func parseLine(t *testing.T, text string) Line {
	words := strings.Fields(text)
	if len(words) == 0 {
		t.Fatal("a step of a scenario has no line to play")
	}
	l := Line{t: t, text: text, Verb: words[0], Options: map[string]string{}}
	for _, w := range words[1:] {
		if key, value, ok := strings.Cut(w, "="); ok {
			l.Options[key] = value
		} else {
			l.Args = append(l.Args, w)
		}
	}
	return l
}

// Fail ends the test because of this line.
func (l Line) Fail(why string) {
	l.t.Helper()
	l.t.Fatalf("%s: %s", l.text, why)
}

// Arg is an argument, counted from 0.
func (l Line) Arg(i int) string {
	if i >= len(l.Args) {
		l.Fail("it lacks something")
	}
	return l.Args[i]
}

// Is says whether a word stands among the arguments, such as "full".
func (l Line) Is(word string) bool { return slices.Contains(l.Args, word) }

// Number is the number behind "name=", or another one if that is not there.
func (l Line) Number(name string, otherwise int) int {
	text, ok := l.Options[name]
	if !ok {
		return otherwise
	}
	return l.number(text)
}

// Int is an argument that is a number.
func (l Line) Int(i int) int { return l.number(l.Arg(i)) }

func (l Line) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		l.Fail(text + " is no number")
	}
	return n
}

// Duration is an argument such as "300ms".
func (l Line) Duration(i int) time.Duration {
	d, err := time.ParseDuration(l.Arg(i))
	if err != nil {
		l.Fail(err.Error())
	}
	return d
}
