// Command check builds and tests the whole project in stages, says how long
// each took, and ends with what ran, what failed and what had to be left out.
// The Makefile is its front: make test, make lint, make fuzz, make soak.
//
// What it works on is derived from the source, not listed by hand: which
// packages need the race detector, which fuzz targets there are, which outside
// tools some test asks for. A new package is covered from the day it is added.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/internal/layers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := check(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

const usage = `usage: go run ./internal/check [flags] test|lint|fuzz|soak
run it from the root of the project; make help shows the usual ways
`

func check(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("check", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	var o options
	flags.DurationVar(&o.fuzzTime, "fuzztime", 10*time.Second, "fuzz: how long each target runs")
	flags.DurationVar(&o.duration, "duration", 10*time.Minute,
		"soak: how long to search for faults in all")
	target := flags.String("target", "",
		"fuzz, soak: only targets that match this expression, as package.FuzzName")
	flags.BoolVar(&o.install, "install", true,
		"test: install missing tools with apt-get where that is allowed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if o.target, err = regexp.Compile(*target); err != nil {
		return fmt.Errorf("-target: %w", err)
	}
	// On a machine that decides whether a change may land, a part that was
	// silently left out would look like a part that passed.
	o.strict = os.Getenv("CI") == "true"

	tree, err := layers.Load(os.DirFS("."))
	if err != nil {
		return err
	}
	stages, ok := plans[flags.Arg(0)]
	if !ok || flags.NArg() != 1 {
		flags.Usage()
		return fmt.Errorf("say what to do: test, lint, fuzz or soak")
	}
	r := &runner{ctx: ctx, out: os.Stdout, tree: tree, options: o}
	return r.run(stages)
}

type options struct {
	fuzzTime, duration time.Duration
	target             *regexp.Regexp
	install, strict    bool
}

// plans are the stages of each verb, in order.
var plans = map[string][]stage{
	"lint": {formatting, columns, sizes, importMap, documents, vet, staticcheck},
	"test": {tools, formatting, columns, sizes, importMap, documents, vet, staticcheck, build,
		crossBuild, unitTests, raceTests},
	"fuzz": {fuzzAsTold},
	"soak": {tools, build, crossBuildAll, unitTestsInFull, manySeeds, raceTestsInFull, fuzzForLong},
}
