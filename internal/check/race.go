package main

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/internal/layers"
)

var (
	raceTests = stage{"race detector", func(r *runner) error {
		return r.race("-short", "-run=^Test", "-timeout=15m", atOnce())
	}}
	raceTestsInFull = stage{
		"race detector", func(r *runner) error { return r.race("-timeout=30m") }}
)

// race runs the tests of packages with concurrency under the race detector.
func (r *runner) race(args ...string) error {
	whole, some := concurrent(r.tree)
	if len(whole)+len(some) == 0 {
		fmt.Fprintln(r.out, "no package starts a goroutine")
		return nil
	}
	// A program under the race detector would sleep for a second before it ends.
	env := []string{"CGO_ENABLED=1", "GORACE=atexit_sleep_ms=20 " + os.Getenv("GORACE")}
	if why := r.noRace(env); why != "" {
		r.skip("%d packages under the race detector: %s", len(whole)+len(some), why)
		return nil
	}
	// In a short run tests leave out what takes long and gains nothing from the race detector; the
	// unit tests before it ran all of them.
	if r.brief = slices.Contains(args, "-short"); r.brief {
		env = append(env, fewer("10")...)
	}
	defer func() { r.brief = false }()
	// Nobody debugs these programs, and to describe them to a debugger takes time.
	build := []string{"-race", "-gcflags=all=-dwarf=false"}
	args = append(build, args...)
	compile := build[:len(build):len(build)]
	for _, n := range slices.AppendSeq(slices.Clone(whole), maps.Keys(some)) {
		compile = append(compile, "./"+n)
	}
	r.compileTests(env, compile...)
	var err error
	if len(some) > 0 {
		names, tests := slices.Sorted(maps.Keys(some)), []string(nil)
		for _, n := range names {
			tests = append(tests, some[n]...)
		}
		err = r.raceThese(env, append(slices.Clone(args), "-run=^("+strings.Join(tests, "|")+")$"),
			names)
	}
	if len(whole) > 0 {
		longFirst(whole, func(own string) string { return own })
		err = errors.Join(err, r.raceThese(env, args, whole))
	}
	return err
}

func (r *runner) raceThese(env, args, names []string) error {
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

// concurrent lists the packages whose tests can race: as a whole those that start goroutines, or
// stand on packages that do, and of others those tests that start some themselves.
func concurrent(tree *layers.Tree) (whole []string, some map[string][]string) {
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
	holdsTests := func(f *layers.File) bool { return anyOwnImport(tree, f, testing) }
	some = map[string][]string{}
	for _, p := range tree.Packages {
		tests := p.Of(true)
		if len(tests) == 0 {
			continue
		}
		if starts(p.Path) || slices.ContainsFunc(tests, holdsTests) {
			whole = append(whole, p.Path)
		} else if names := racingTests(tests); len(names) > 0 {
			some[p.Path] = names
		}
	}
	return whole, some
}

// racingTests names the tests that start goroutines or run beside others, in what they say
// themselves or in what they use of the functions and methods in test files.
func racingTests(files []*layers.File) []string {
	racing := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, f := range files {
			for _, d := range f.Syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && !racing[fn.Name.Name] && races(fn, racing) {
					racing[fn.Name.Name], grown = true, true
				}
			}
		}
	}
	var names []string
	for _, n := range slices.Sorted(maps.Keys(racing)) {
		if strings.HasPrefix(n, "Test") {
			names = append(names, n)
		}
	}
	return names
}

// races reports whether a function starts a goroutine or runs beside others, or names a function
// that does.
func races(fn *ast.FuncDecl, racing map[string]bool) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				switch sel.Sel.Name {
				case "Go", "Parallel", "RunParallel":
					found = true
				}
			}
		case *ast.Ident:
			found = found || racing[n.Name]
		}
		return !found
	})
	return found
}

func anyOwnImport(tree *layers.Tree, f *layers.File, is func(string) bool) bool {
	for _, name := range f.Imports() {
		if own, ok := tree.Own(name); ok && is(own) {
			return true
		}
	}
	return false
}
