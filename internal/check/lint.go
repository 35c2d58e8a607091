package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/internal/layers"
)

var (
	formatting  = stage{"formatting", checkFormatting}
	columns     = stage{"columns", checkColumns}
	sizes       = stage{"sizes", checkSizes}
	importMap   = stage{"import map and purity", checkMap}
	vet         = stage{"go vet", command("go", "vet", "./...")}
	staticcheck = stage{"staticcheck", command("go", "tool", "staticcheck", "./...")}
)

// checkFormatting is gofmt -l, without asking that gofmt be on the path.
func checkFormatting(r *runner) error {
	return r.sources("files are not formatted: run gofmt -w on them",
		func(name string, src []byte) (wrong []string) {
			if good, err := format.Source(src); err != nil || !bytes.Equal(good, src) {
				wrong = append(wrong, name)
			}
			return wrong
		})
}

// sources has each file of the project judged.
func (r *runner) sources(what string, judge func(name string, src []byte) []string) error {
	var wrong []string
	for _, p := range r.tree.Packages {
		for _, f := range p.Files {
			src, err := os.ReadFile(f.Path)
			if err != nil {
				return err
			}
			wrong = append(wrong, judge(f.Path, src)...)
		}
	}
	return several(r, wrong, what)
}

// maxColumns is how wide a line of source may be; a tab counts as four.
const maxColumns = 100

// checkColumns finds lines that are too wide. A long text, what is indented in a comment, what an
// example prints and a directive stand as they are and may be wider.
func checkColumns(r *runner) error {
	return r.sources(fmt.Sprintf("lines are wider than %d columns", maxColumns),
		func(name string, src []byte) (wrong []string) {
			if path.Base(name) == "example_test.go" {
				return nil // what an example prints is as wide as it is
			}
			for _, line := range wideLines(string(src)) {
				wrong = append(wrong, fmt.Sprintf("%s:%d", name, line))
			}
			return wrong
		})
}

// maxFunction is how many lines a function may have, and maxFields how many fields a struct: a
// reader has to hold either in mind at once. Tests may be longer.
const (
	maxFunction = 80
	maxFields   = 30
)

// large names the structs that have more fields, and why.
var large = map[string]string{}

// checkSizes finds functions and structs that have grown too large.
func checkSizes(r *runner) error {
	var wrong []string
	for _, p := range r.tree.Packages {
		for _, f := range p.Of(false) {
			wrong = append(wrong, largeParts(r.tree.Fset, p.Path, f.Syntax)...)
		}
	}
	return several(r, wrong, "functions and structs are too large: make them of smaller ones")
}

func largeParts(fset *token.FileSet, pkg string, file *ast.File) (wrong []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			from, to := fset.Position(n.Pos()), fset.Position(n.End())
			if lines := to.Line - from.Line + 1; lines > maxFunction {
				wrong = append(wrong,
					fmt.Sprintf("%s:%d: %s has %d lines", from.Filename, from.Line, n.Name, lines))
			}
		case *ast.TypeSpec:
			st, ok := n.Type.(*ast.StructType)
			if !ok {
				break
			}
			count := 0
			for _, f := range st.Fields.List {
				count += max(len(f.Names), 1)
			}
			if at := fset.Position(n.Pos()); count > maxFields && large[pkg+"."+n.Name.Name] == "" {
				wrong = append(wrong,
					fmt.Sprintf("%s:%d: %s has %d fields", at.Filename, at.Line, n.Name, count))
			}
		}
		return true
	})
	return wrong
}

func wideLines(src string) []int {
	shown := map[int]bool{} // lines that are part of a text shown as it is
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, []byte(src), nil, scanner.ScanComments)
	for pos, t, text := s.Scan(); t != token.EOF; pos, t, text = s.Scan() {
		line := file.Line(pos)
		shown[line] = shown[line] || t == token.STRING && len(text) > maxColumns/2 ||
			strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "// ")
		for i := range strings.Count(text, "\n") {
			shown[line+i] = shown[line+i] || t == token.STRING
			shown[line+i+1] = t == token.STRING
		}
	}
	var wide []int
	n := 0
	for line := range strings.Lines(src) {
		n++
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
		if utf8.RuneCountInString(line) > maxColumns && !shown[n] {
			wide = append(wide, n)
		}
	}
	return wide
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
