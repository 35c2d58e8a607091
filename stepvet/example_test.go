package stepvet_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/coeval-dev/coeval/stepvet"
)

// A program of its own that looks at one package.
func Example() {
	gopath, err := filepath.Abs("testdata")
	if err != nil {
		log.Fatal(err)
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax,
		Env:  append(os.Environ(), "GO111MODULE=off", "GOPATH="+gopath, "GOFLAGS="),
	}, "example.com/hello")
	if err != nil {
		log.Fatal(err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{stepvet.Analyzer}, pkgs, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, action := range graph.Roots {
		for _, d := range action.Diagnostics {
			at := action.Package.Fset.Position(d.Pos)
			fmt.Printf("%s:%d: %s: %s\n", filepath.Base(at.Filename), at.Line, d.Category,
				stepvet.Text(d.Message))
		}
	}
	// Output:
	// hello.go:12: clock: time.Now is bound to the wall clock, which no two machines share and no replay repeats; count ticks instead
}
