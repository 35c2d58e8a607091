package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/internal/layers"
)

var (
	raceTests = stage{"race detector", func(r *runner) error {
		return r.race("-short", "-run=^Test", "-timeout=5m")
	}}
	raceTestsInFull = stage{
		"race detector", func(r *runner) error { return r.race("-timeout=30m") }}
)

// race runs the tests of packages with concurrency under the race detector.
func (r *runner) race(args ...string) error {
	names := concurrent(r.tree)
	if len(names) == 0 {
		fmt.Fprintln(r.out, "no package starts a goroutine")
		return nil
	}
	env := []string{"CGO_ENABLED=1"}
	if why := r.noRace(env); why != "" {
		r.skip("%d packages under the race detector: %s", len(names), why)
		return nil
	}
	// In a short run tests leave out what takes long and gains nothing from the race detector; the
	// unit tests before it ran all of them.
	r.brief = slices.Contains(args, "-short")
	defer func() { r.brief = false }()
	args = append([]string{"-race"}, args...)
	longFirst(names, func(own string) string { return own })
	for _, n := range names {
		args = append(args, "./"+n)
	}
	return r.test(env, args...)
}

// noRace says why the race detector cannot be used here, or nothing.
func (r *runner) noRace(env []string) string {
	if out, err := r.ask(env, "go", "env", "CC"); err == nil {
		if cc := strings.Fields(out); len(cc) > 0 && !onPath(cc[0]) {
			return fmt.Sprintf("it needs a C compiler, and %s is not here", cc[0])
		}
	}
	// Listing fails, without building anything, where the platform has none.
	if _, err := r.ask(env, "go", "list", "-race", "errors"); err != nil {
		return err.Error()
	}
	return ""
}

// concurrent lists the packages whose tests can race: those that start goroutines, or stand on
// packages that do, or whose tests do.
func concurrent(tree *layers.Tree) []string {
	memo := map[string]bool{}
	var starts func(path string) bool
	starts = func(path string) bool {
		if known, ok := memo[path]; ok {
			return known
		}
		memo[path] = false // Go has no import cycles; this only ends the recursion
		memo[path] = slices.ContainsFunc(tree.Find(path).Of(false), func(f *layers.File) bool {
			return f.StartsGoroutines() || anyOwnImport(tree, f, starts)
		})
		return memo[path]
	}
	// What a test imports only to compare with says nothing of its package, but for packages that
	// hold tests themselves.
	testing := func(path string) bool { return strings.HasSuffix(path, "test") && starts(path) }
	races := func(f *layers.File) bool {
		return f.StartsGoroutines() || runsParallel(f) || anyOwnImport(tree, f, testing)
	}
	var names []string
	for _, p := range tree.Packages {
		tests := p.Of(true)
		if len(tests) > 0 && (starts(p.Path) || slices.ContainsFunc(tests, races)) {
			names = append(names, p.Path)
		}
	}
	return names
}

func anyOwnImport(tree *layers.Tree, f *layers.File, is func(string) bool) bool {
	for _, name := range f.Imports() {
		if own, ok := tree.Own(name); ok && is(own) {
			return true
		}
	}
	return false
}

// runsParallel finds t.Parallel() and b.RunParallel(...).
func runsParallel(f *layers.File) bool {
	found := false
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				found = found || sel.Sel.Name == "Parallel" || sel.Sel.Name == "RunParallel"
			}
		}
		return !found
	})
	return found
}
