package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/internal/layers"
)

// A stage is one step of a plan. It fails by returning an error; it says with
// runner.skip what it had to leave out.
type stage struct {
	name string
	run  func(*runner) error
}

// A runner carries out a plan and keeps account of it.
type runner struct {
	ctx  context.Context
	out  io.Writer
	tree *layers.Tree
	options

	results []result
	skipped []string // by the stage that is running
	// tests run that ran in full before, so that one that is passed over is not left out
	brief bool
}

type result struct {
	name    string
	err     error
	took    time.Duration
	skipped []string
}

var (
	errNotRun      = errors.New("not run, because the build failed")
	errInterrupted = errors.New("interrupted")
)

func (r *runner) run(stages []stage) error {
	for _, s := range stages {
		if r.ctx.Err() != nil {
			break
		}
		if r.failed(build.name) {
			r.results = append(r.results, result{name: s.name, err: errNotRun})
			continue
		}
		fmt.Fprintf(r.out, "\n== %s\n", s.name)
		r.skipped = nil
		start := time.Now()
		err := s.run(r)
		if err == nil && r.strict && len(r.skipped) > 0 {
			err = errors.New("CI=true, and something was left out")
		}
		if failure := (testFailure{}); err != nil && r.ctx.Err() != nil &&
			!errors.As(err, &failure) {
			err = errInterrupted
		}
		res := result{s.name, err, time.Since(start), r.skipped}
		r.results = append(r.results, res)
		if err != nil {
			fmt.Fprintf(r.out, "%s failed: %v\n", s.name, err)
		}
	}
	return r.summarise()
}

func (r *runner) failed(name string) bool {
	for _, res := range r.results {
		if res.name == name && res.err != nil {
			return true
		}
	}
	return false
}

// skip records that part of a stage could not run on this machine, and why.
// With CI=true that fails the stage.
func (r *runner) skip(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintln(r.out, "left out:", text)
	r.skipped = append(r.skipped, text)
}

func (r *runner) summarise() error {
	fmt.Fprintf(r.out, "\n== summary\n")
	var total time.Duration
	var failed []string
	for _, res := range r.results {
		state := "ok"
		switch {
		case res.err != nil:
			state = "FAILED  " + res.err.Error()
			failed = append(failed, res.name)
		case len(res.skipped) > 0:
			state = "ok, but for what is named below"
		}
		total += res.took
		fmt.Fprintf(r.out, "%-22s %7.1fs  %s\n", res.name, res.took.Seconds(), state)
		for _, s := range res.skipped {
			fmt.Fprintf(r.out, "%-22s           left out: %s\n", "", s)
		}
	}
	fmt.Fprintf(r.out, "%-22s %7.1fs\n", "in all", total.Seconds())
	switch {
	case len(failed) > 0:
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	case r.ctx.Err() != nil:
		return errInterrupted
	}
	return nil
}

// command is a stage that only runs one.
func command(name string, args ...string) func(*runner) error {
	return func(r *runner) error { return r.do(roomy(), name, args...) }
}

// roomy is for compilers and the like, which end before it pays to collect their garbage: it takes
// a fifth of their time, and a third of that of staticcheck.
func roomy() []string {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	return []string{"GOGC=400", "GOMEMLIMIT=3GiB"}
}

// compileTests compiles what go test will link and run, which itself is to run with the garbage
// collector as it is. What does not compile go test says.
func (r *runner) compileTests(env []string, args ...string) {
	_, _ = r.ask(append(env[:len(env):len(env)], roomy()...), "go",
		append([]string{"list", "-e", "-export", "-test"}, args...)...)
}

// do runs a command at the project's root and shows what it says.
func (r *runner) do(env []string, name string, args ...string) error {
	cmd := r.command(env, name, args...)
	cmd.Stdout, cmd.Stderr = r.out, r.out
	return told(cmd, cmd.Run())
}

// ask runs a command and gives what it prints. What it says on the side
// becomes part of the error.
func (r *runner) ask(env []string, name string, args ...string) (string, error) {
	cmd := r.command(env, name, args...)
	var side bytes.Buffer
	cmd.Stderr = &side
	out, err := cmd.Output()
	if err != nil && side.Len() > 0 {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(side.String()))
	}
	return string(out), told(cmd, err)
}

func (r *runner) command(env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	endTogether(cmd)
	return cmd
}

// told names the command in its error, in a form that can be run again.
func told(cmd *exec.Cmd, err error) error {
	if err == nil {
		return nil
	}
	line := strings.Join(cmd.Args, " ")
	if len(line) > 120 {
		line = line[:120] + " ..."
	}
	return fmt.Errorf("%s: %w", line, err)
}
