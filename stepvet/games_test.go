package stepvet

import (
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// The example games, and the toolkit they call, must be without findings: they are what people
// learn from.
func TestGamesAreClean(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(root, "games", "*", "*.go"))
	if err != nil || len(list) == 0 {
		t.Fatalf("there are no games: %v", err)
	}
	// The rules of each game are in its own folder; what draws it is further down, and not held to
	// them. All they import is read with them.
	var patterns []string
	for _, file := range list {
		if p := "./games/" + filepath.Base(filepath.Dir(file)); !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	conf := packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Dir:  root, Env: os.Environ()}
	named, err := packages.Load(&conf, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	packages.Visit(named, nil, func(p *packages.Package) {
		if p.Module != nil {
			patterns = append(patterns, p.PkgPath)
		}
	})
	conf.Mode = packages.LoadSyntax | packages.NeedModule
	pkgs, err := packages.Load(&conf, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{Analyzer}, pkgs,
		&checker.Options{SanityCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, action := range graph.Roots {
		if action.Err != nil {
			t.Errorf("%s: %v", action.Package.PkgPath, action.Err)
		}
		for _, d := range action.Diagnostics {
			t.Errorf("%s: %s", action.Package.Fset.Position(d.Pos), d.Message)
		}
		for _, obj := range action.Package.TypesInfo.Defs {
			if fn, ok := obj.(*types.Func); ok && isRoot(fn) && fn.Name() == "Step" {
				steps++
			}
		}
	}
	if steps == 0 {
		t.Error("no Step method was looked at")
	}
}
