package layers

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"sort"
	"strings"
)

// A Finding is one departure from the map, and where it is.
type Finding struct {
	At   string // file:line, or empty where no one line is to blame
	Text string
}

func (f Finding) String() string {
	if f.At == "" {
		return f.Text
	}
	return f.At + ": " + f.Text
}

// Check lists every departure of a module from the chart.
func (c *Chart) Check(t *Tree) []Finding {
	var out []Finding
	for _, p := range t.Packages {
		if len(p.Of(false)) > 0 && c.find(p.Path) == nil {
			out = append(out,
				Finding{Text: p.Path +
					" is not in the map: place it in a row of internal/layers/map.go and " +
					"docs/architecture.md"})
			continue
		}
		for _, f := range p.Of(false) {
			out = append(out, c.checkImports(t, p, f)...)
			// Nothing can import a program, so one that stands in a pure folder
			// takes nothing from the purity of the library beside it.
			if c.Pure(p.Path) && f.Syntax.Name.Name != "main" {
				out = append(out, c.checkPurity(t, p, f)...)
			}
		}
		out = append(out, c.checkReach(t, p)...)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].At < out[j].At })
	return out
}

func (c *Chart) checkImports(t *Tree, p *Package, f *File) []Finding {
	var out []Finding
	report := func(spec *ast.ImportSpec, format string, args ...any) {
		out = append(out, Finding{t.at(spec), p.Path + " imports " + fmt.Sprintf(format, args...)})
	}
	for _, spec := range f.Syntax.Imports {
		name := importOf(spec)
		own, isOwn := t.Own(name)
		switch {
		case isOwn:
			if why := c.refuse(p.Path, own); why != "" {
				report(spec, "%s: %s", own, why)
			}
		case name == "C":
			report(spec, "C: the project builds without cgo")
		case c.dependency(name) != nil:
			if d := c.dependency(name); !withinAny(p.Path, d.from) {
				report(spec, "%s: it may be reached only from %s", name, strings.Join(d.from, ", "))
			}
		case strings.Contains(strings.SplitN(name, "/", 2)[0], "."):
			report(spec,
				"%s, which the map does not know: list it under Dependencies in "+
					"internal/layers/map.go, with the folders that may reach it", name)
		}
	}
	return out
}

// refuse says why one package of the module may not import another, or nothing
// if it may.
func (c *Chart) refuse(from, to string) string {
	a, b := c.find(from), c.find(to)
	switch {
	case a == nil || b == nil:
		return "" // said already, of the package that is not in the map
	case a == b && unitOf(from, a) == unitOf(to, b):
	case a.row > b.row:
		return unitOf(from, a) + " stands on a lower row"
	case a.row == b.row && !c.leads(a, b):
		return fmt.Sprintf("they stand on the same row, and no arrow leads from %s to %s",
			unitOf(from, a), unitOf(to, b))
	}
	if c.Pure(from) && !c.Pure(to) {
		return from + " is pure and " + to + " is not"
	}
	return ""
}

// unitOf gives the part of a path that its entry names: games/arena for
// games/arena/client under games/*.
func unitOf(path string, e *entry) string {
	return strings.Join(strings.Split(path, "/")[:strings.Count(e.pattern, "/")+1], "/")
}

// checkReach finds the libraries that a package compiles through others of the
// module although it may not. It speaks only where the border is crossed: of a
// package whose own import leads to one that may.
func (c *Chart) checkReach(t *Tree, p *Package) []Finding {
	var out []Finding
	for _, f := range p.Of(false) {
		for _, spec := range f.Syntax.Imports {
			own, isOwn := t.Own(importOf(spec))
			if !isOwn {
				continue
			}
			for _, lib := range t.compiled(own) {
				d := c.dependency(lib)
				if d != nil && withinAny(own, d.from) && !withinAny(p.Path, d.from) {
					out = append(out,
						Finding{t.at(spec),
							fmt.Sprintf("%s reaches %s through %s: it may be reached only from %s",
								p.Path, lib, own, strings.Join(d.from, ", "))})
				}
			}
		}
	}
	return out
}

// compiled lists the packages outside the module that a package of the module
// imports, itself or through others of the module.
func (t *Tree) compiled(path string) []string {
	seen, libs := map[string]bool{}, map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		p := t.Find(path)
		if p == nil || seen[path] {
			return
		}
		seen[path] = true
		for _, f := range p.Of(false) {
			for _, name := range f.Imports() {
				if own, isOwn := t.Own(name); isOwn {
					visit(own)
				} else {
					libs[name] = true
				}
			}
		}
	}
	visit(path)
	return slices.Sorted(maps.Keys(libs))
}
