package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/internal/layers"
)

var (
	fuzzAsTold = stage{
		"fuzzing", func(r *runner) error {
			return r.fuzz(func(int) time.Duration { return r.fuzzTime })
		}}
	fuzzForLong = stage{"fuzzing, for long", func(r *runner) error {
		return r.fuzz(func(n int) time.Duration {
			return share(r.duration/2, n, 2*time.Second, time.Hour)
		})
	}}
)

// share divides a time among n targets, within bounds, so that the whole stays
// short however many targets there come to be.
func share(whole time.Duration, n int, least, most time.Duration) time.Duration {
	return min(max(whole/time.Duration(max(n, 1)), least), most)
}

// A fuzzTarget is one Fuzz function in a test binary built for fuzzing.
type fuzzTarget struct{ pkg, name, binary string }

// fuzz runs every target for the time that each is due when there are n.
func (r *runner) fuzz(due func(n int) time.Duration) error {
	dir, err := os.MkdirTemp("", "coeval-fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	targets, err := r.fuzzTargets(dir)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return fmt.Errorf("no fuzz target matches %q", r.target)
	}
	each := due(len(targets))
	fmt.Fprintf(r.out, "%d targets, %v each\n", len(targets), each.Round(time.Millisecond))
	cache, err := r.ask(nil, "go", "env", "GOCACHE")
	if err != nil {
		return err
	}
	var failed []string
	for _, t := range targets {
		if r.ctx.Err() != nil {
			break
		}
		corpus := filepath.Join(strings.TrimSpace(cache), "fuzz",
			filepath.FromSlash(r.tree.Module+"/"+t.pkg))
		if err := r.fuzzOne(t, each, corpus); err != nil {
			failed = append(failed, t.pkg+"."+t.name)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf(
			"%s: the input is kept under testdata/fuzz of the package; commit it with the remedy",
			strings.Join(failed, ", "))
	}
	return nil
}

// fuzzTargets builds one binary for each package that has targets, which is
// much quicker than the build for each target that go test -fuzz makes.
func (r *runner) fuzzTargets(dir string) ([]fuzzTarget, error) {
	var targets []fuzzTarget
	for _, p := range r.tree.Packages {
		if !slices.ContainsFunc(fuzzNames(p), r.target.MatchString) {
			continue
		}
		binary := filepath.Join(dir, strings.ReplaceAll(p.Path, "/", "-")+".test")
		if err := r.do(nil, "go", "test", "-c", "-fuzz=^Fuzz", "-o", binary,
			"./"+p.Path); err != nil {
			return nil, err
		}
		out, err := r.ask(nil, binary, "-test.list=^Fuzz")
		if err != nil {
			return nil, err
		}
		for name := range strings.FieldsSeq(out) {
			if r.target.MatchString(p.Path + "." + name) {
				targets = append(targets, fuzzTarget{p.Path, name, binary})
			}
		}
	}
	return targets, nil
}

// fuzzNames lists the targets that a package's source shows, for whatever
// platform, as package.FuzzName.
func fuzzNames(p *layers.Package) []string {
	var names []string
	for _, f := range p.Of(true) {
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil &&
				strings.HasPrefix(fn.Name.Name, "Fuzz") {
				names = append(names, p.Path+"."+fn.Name.Name)
			}
		}
	}
	return names
}

func (r *runner) fuzzOne(t fuzzTarget, each time.Duration, corpus string) error {
	for attempt := 1; ; attempt++ {
		var said bytes.Buffer
		cmd := r.command(nil, t.binary, "-test.run=^$", "-test.fuzz=^"+t.name+"$",
			"-test.fuzztime="+each.String(), "-test.fuzzminimizetime=1x", "-test.fuzzcachedir="+
				corpus)
		cmd.Dir = t.pkg
		cmd.Stdout, cmd.Stderr = &said, &said
		err := cmd.Run()
		if r.ctx.Err() != nil {
			return nil // interrupted: nothing was found until then
		}
		if err != nil && attempt == 1 && onlyOutOfTime(said.String()) {
			continue
		}
		if err != nil {
			fmt.Fprintf(r.out, "FAILED %s.%s\n%s\n", t.pkg, t.name, said.String())
			return err
		}
		fmt.Fprintf(r.out, "ok  %-60s %s\n", t.pkg+"."+t.name, lastCount(said.String()))
		return nil
	}
}

// onlyOutOfTime recognises a run that failed because its last input was cut
// off by the clock, which Go's fuzzer now and then reports as a failure.
func onlyOutOfTime(said string) bool {
	return strings.Contains(said, "context deadline exceeded") &&
		!strings.Contains(said, "Failing input written")
}

// lastCount picks the number of executions from the fuzzer's last report.
func lastCount(said string) string {
	count := ""
	for line := range strings.Lines(said) {
		if _, rest, ok := strings.Cut(line, "execs: "); ok {
			count, _, _ = strings.Cut(rest, " ")
		}
	}
	if count == "" {
		return ""
	}
	return count + " inputs"
}
