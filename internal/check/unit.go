package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/internal/layers"
)

var (
	unitTests = stage{"unit tests", func(r *runner) error {
		return r.testAll(fewer("50"), "-timeout=15m", atOnce())
	}}
	unitTestsInFull = stage{"unit tests, in full", func(r *runner) error {
		return r.testAll([]string{soakVariable + "=1"}, "-timeout=30m")
	}}
)

// soakVariable tells tests to try all they can, and not only what has found something or stands
// for the rest.
const soakVariable = "COEVAL_SOAK"

// fewer has the library that tests properties try less than the hundred cases of its own choice,
// unless someone has said how many. They are others each time.
func fewer(cases string) []string {
	if os.Getenv(propertyVariable) != "" {
		return nil
	}
	return []string{propertyVariable + "=" + cases}
}

// atOnce has go test run one package more at once than there are cores, as some mostly wait.
func atOnce() string { return fmt.Sprintf("-p=%d", runtime.GOMAXPROCS(0)+1) }

func (r *runner) testAll(env []string, args ...string) error {
	list, err := r.ask(nil, "go", "list", "./...")
	if err != nil {
		return err
	}
	names := strings.Fields(list)
	longFirst(names, func(name string) string {
		own, _ := r.tree.Own(name)
		return own
	})
	r.compileTests(nil, names...)
	return r.test(env, append(args, names...)...)
}

// longFirst puts packages that stand high on the map first: their tests take longest, and go test
// begins with what it is given first. Otherwise one of them would run alone at the end.
func longFirst(names []string, own func(name string) string) {
	chart := layers.Current()
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(chart.Row(own(a)), chart.Row(own(b)))
	})
}

// test runs go test and reports a line for each package, the whole output of
// what fails, and what was skipped with its reason.
func (r *runner) test(env []string, args ...string) error {
	// go vet has a stage of its own, which looks for more. Nobody debugs these programs, and to
	// describe each of them to a debugger is nearly half of linking it.
	cmd := r.command(env, "go",
		append([]string{"test", "-json", "-vet=off", "-ldflags=-w"}, args...)...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var side bytes.Buffer // not r.out: the two would be written at once
	cmd.Stderr = &side
	if err := cmd.Start(); err != nil {
		return told(cmd, err)
	}
	followed := r.follow(pipe)
	err = cmd.Wait()
	fmt.Fprint(r.out, side.String())
	if followed == nil {
		return told(cmd, err)
	}
	return followed
}

// A testFailure is what go test itself called a failure, as opposed to trouble
// in running it.
type testFailure struct{ packages []string }

func (f testFailure) Error() string { return "tests failed in " + strings.Join(f.packages, ", ") }

// An event is a line of what go test -json prints.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// follow reads events to their end. A failure that comes after the run was
// cut off is the cutting off, and does not count.
func (r *runner) follow(in io.Reader) error {
	// what each test has printed, kept until its end is known
	said := map[[2]string]*strings.Builder{}
	keep := func(e event) *strings.Builder {
		key := [2]string{e.Package, e.Test}
		if said[key] == nil {
			said[key] = &strings.Builder{}
		}
		return said[key]
	}
	var failed []string
	var slow slowest
	running := map[string]bool{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case err == io.EOF && len(line) == 0:
			for p := range running {
				fmt.Fprintf(r.out, "cut off %s\n", p)
			}
			slow.print(r.out)
			if len(failed) > 0 {
				return testFailure{failed}
			}
			return nil
		case err != nil && err != io.EOF:
			return fmt.Errorf("reading what go test says: %w", err)
		case json.Unmarshal(line, &e) != nil:
			// not an event: a test binary wrote past the testing package
			fmt.Fprintf(r.out, "%s", line)
			continue
		}
		switch e.Action {
		case "start":
			running[e.Package] = true
		case "build-output":
			fmt.Fprint(r.out, e.Output)
		case "output":
			keep(e).WriteString(e.Output)
		case "fail":
			fmt.Fprint(r.out, keep(e))
			if e.Test == "" {
				showUnfinished(r.out, said, e.Package)
			}
			if e.Test == "" && r.ctx.Err() == nil {
				fmt.Fprintf(r.out, "FAILED %s %.1fs\n", e.Package, e.Elapsed)
				failed = append(failed, strings.TrimPrefix(e.Package, r.tree.Module+"/"))
			}
		case "pass":
			if e.Test == "" {
				cached := ""
				if strings.Contains(keep(e).String(), "(cached)") {
					cached = " (unchanged since it last passed)"
				}
				fmt.Fprintf(r.out, "ok  %-60s %6.1fs%s\n", e.Package, e.Elapsed, cached)
			}
		case "skip":
			// A fuzz target may pass over an input that says nothing; that is no
			// test left out.
			if e.Test != "" && !strings.HasPrefix(e.Test, "Fuzz") && !r.brief {
				r.skip("%s %s: %s", strings.TrimPrefix(e.Package, r.tree.Module+"/"), e.Test,
					reason(keep(e).String()))
			}
		}
		switch e.Action {
		case "pass", "fail", "skip":
			slow.add(strings.TrimPrefix(e.Package, r.tree.Module+"/"), &e)
			delete(said, [2]string{e.Package, e.Test})
			if e.Test == "" {
				delete(running, e.Package)
			}
		}
	}
}

// showUnfinished prints what tests had said that never came to an end: where
// there was a panic or a hang, that is where it shows.
func showUnfinished(out io.Writer, said map[[2]string]*strings.Builder, pkg string) {
	var names []string
	for key := range said {
		if key[0] == pkg && key[1] != "" {
			names = append(names, key[1])
		}
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(out, "not ended: %s\n%s", n, said[[2]string{pkg, n}])
		delete(said, [2]string{pkg, n})
	}
}

// reason picks from what a skipped test printed the line that it gave to Skip.
func reason(output string) string {
	last := "no reason given"
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if _, text, ok := strings.Cut(line, ": "); ok &&
			strings.Contains(line[:len(line)-len(text)], ".go:") {
			line = text
		}
		last = line
	}
	return last
}
