package examples

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// programs are the examples, with arguments and what each prints, as a pattern.
var programs = []struct {
	name string
	args []string
	says string
}{
	{"alone", nil, `^after 600 ticks the ball has bounced 3 times; the world's hash is [0-9a-f]+\n$`},
	{"served", nil, `(?s)^(player [123] saw 3 things of pong\n){3}$`},
	{"predicted", nil, `^doom3: the paddle answers a key after 0s\n` +
		`none: the paddle answers a key after [0-9]{3}ms\n$`},
	{"browser", []string{"play", "--headless", "--ticks", "120", "--players", "2"}, `bees`},
	{"interest", nil, `^(player [12] is told of [23][0-9] sheep of 1000\n){2}$`},
	{"lagcomp", nil, `the present, 0 of 39 shots hit\n.* seen, 39 of 39 shots hit\n$`},
	{"mirrors", nil, `(?s)mirror 3 is serving, one of 3\nsettled tick \d+ has 1 version\n` +
		`mirror 1 is killed; of the others there are 2 .*\nsettled tick \d+ has 1 version\n$`},
	{"market", nil, `bob comes with 5 apples and 10 gold\nmatch 1: bob has 7 apples and 6 gold\n` +
		`match 2: bob comes with 7 apples and 6 gold\nmatch 2: bob has 9 apples and 2 gold\n$`},
	{"loop", nil, `go run -tags desktop`},
}

// TestExamples builds and runs them all.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs, and they start no goroutine of their own")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", dir,
		"./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			name := p.name
			if runtime.GOOS == "windows" {
				name += ".exe"
			}
			out, err := exec.CommandContext(t.Context(), filepath.Join(dir, name),
				p.args...).CombinedOutput()
			if (err != nil) != (p.name == "loop") || !regexp.MustCompile(p.says).Match(out) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestEveryExampleIsShortAndListed: none is missing from the list of the package, or from here.
func TestEveryExampleIsShortAndListed(t *testing.T) {
	folders, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	about, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range folders {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > 120 {
			t.Errorf("%s has %d lines", file, n)
		}
		name := filepath.Dir(file)
		names = append(names, name)
		if !strings.Contains(string(about), "\n//\t"+name+" ") {
			t.Errorf("doc.go does not list %s", name)
		}
	}
	for _, p := range programs {
		if !slices.Contains(names, p.name) {
			t.Errorf("there is no example %s", p.name)
		}
	}
	if len(names) != len(programs) || len(names) < 8 {
		t.Errorf("%d examples, %d are run", len(names), len(programs))
	}
}
