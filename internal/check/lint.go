package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"

	"github.com/coeval-dev/coeval/internal/layers"
)

var (
	formatting  = stage{"formatting", checkFormatting}
	importMap   = stage{"import map and purity", checkMap}
	vet         = stage{"go vet", func(r *runner) error { return r.do(nil, "go", "vet", "./...") }}
	staticcheck = stage{"staticcheck", func(r *runner) error { return r.do(nil, "go", "tool", "staticcheck", "./...") }}
)

// checkFormatting is gofmt -l, without asking that gofmt be on the path.
func checkFormatting(r *runner) error {
	var wrong []string
	for _, p := range r.tree.Packages {
		for _, f := range p.Files {
			src, err := os.ReadFile(f.Path)
			if err != nil {
				return err
			}
			if good, err := format.Source(src); err != nil || !bytes.Equal(good, src) {
				wrong = append(wrong, f.Path)
			}
		}
	}
	return several(r, wrong, "files are not formatted: run gofmt -w on them")
}

// checkMap is also a test of package layers; here it comes before the minutes
// that a build takes.
func checkMap(r *runner) error {
	var wrong []string
	for _, f := range layers.Current().Check(r.tree) {
		wrong = append(wrong, f.String())
	}
	return several(r, wrong, "departures from the map: docs/architecture.md shows it")
}

// several shows a list of complaints and makes an error of their number.
func several(r *runner, wrong []string, what string) error {
	if len(wrong) == 0 {
		return nil
	}
	for _, w := range wrong {
		fmt.Fprintln(r.out, w)
	}
	return fmt.Errorf("%d %s", len(wrong), what)
}
