package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/internal/layers"
)

var manySeeds = stage{"many seeds", func(r *runner) error { return r.seeds(r.duration / 2) }}

// The environment variables by which tests are told how many cases to try.
// COEVAL_SEEDS is this project's, for runs over a simulated network; the other
// is read by the library that tests properties.
const (
	seedsVariable    = "COEVAL_SEEDS"
	propertyVariable = "RAPID_CHECKS"
	propertyLibrary  = "pgregory.net/rapid"
)

// seeds repeats the tests that draw cases from a seed, with more cases each
// round, until the time is used up. The round that the clock cuts off counts as
// far as it got.
func (r *runner) seeds(due time.Duration) error {
	names := seeded(r.tree)
	if len(names) == 0 {
		fmt.Fprintln(r.out, "no test draws its cases from a seed")
		return nil
	}
	whole := r.ctx
	ctx, cancel := context.WithTimeout(whole, due)
	defer cancel()
	r.ctx = ctx
	defer func() { r.ctx = whole }()

	for cases := 1000; ctx.Err() == nil; cases *= 2 {
		fmt.Fprintf(r.out, "round with %d seeds and %d cases of each property\n", cases, cases)
		n := strconv.Itoa(cases)
		args := append([]string{"-count=1", "-timeout=0"}, names...)
		err := r.test([]string{seedsVariable + "=" + n, propertyVariable + "=" + n,
			soakVariable + "=1"}, args...)
		if failure := (testFailure{}); errors.As(err, &failure) {
			return err
		}
		if ctx.Err() != nil {
			fmt.Fprintln(r.out, "the time is used up")
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seeded lists the packages whose tests read how many cases to try, or import
// a package that does it for them.
func seeded(tree *layers.Tree) []string {
	reads := func(path string) bool {
		return slices.ContainsFunc(tree.Find(path).Of(false),
			func(f *layers.File) bool { return mentions(f, seedsVariable) })
	}
	var names []string
	for _, p := range tree.Packages {
		for _, f := range p.Of(true) {
			if slices.Contains(f.Imports(), propertyLibrary) || mentions(f, seedsVariable) ||
				anyOwnImport(tree, f, reads) {
				names = append(names, "./"+p.Path)
				break
			}
		}
	}
	return names
}

// mentions reports whether a string in a file is, or ends as a path in, one of
// the words.
func mentions(f *layers.File, words ...string) bool {
	found := false
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			found = found || err == nil &&
				slices.Contains(words, text[strings.LastIndex(text, "/")+1:])
		}
		return !found
	})
	return found
}
