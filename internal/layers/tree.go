package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
)

// A Tree is the source of a module, read but not compiled.
type Tree struct {
	Module   string         // the module's path, as in go.mod
	Packages []*Package     // in order of path
	Fset     *token.FileSet // where things stand
}

// A Package is the Go files of one folder, for every platform.
type Package struct {
	Path  string // relative to the module; "." for its root
	Files []*File
}

// A File is one parsed Go file.
type File struct {
	Path   string // relative to the module
	Test   bool
	Syntax *ast.File
}

// Load reads every Go file of the module at the root of fsys. As the go
// command does, it passes over testdata, vendor, other modules, and folders
// whose names begin with a dot or an underscore.
func Load(fsys fs.FS) (*Tree, error) {
	module, err := modulePath(fsys)
	if err != nil {
		return nil, err
	}
	t := &Tree{Module: module, Fset: token.NewFileSet()}
	byPath := map[string]*Package{}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && passedOver(fsys, name, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(d.Name(), ".") ||
			strings.HasPrefix(d.Name(), "_") {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(t.Fset, name, src,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("cannot read the source: %w", err)
		}
		dir := path.Dir(name)
		p := byPath[dir]
		if p == nil {
			p = &Package{Path: dir}
			byPath[dir] = p
			t.Packages = append(t.Packages, p)
		}
		p.Files = append(p.Files,
			&File{Path: name, Test: strings.HasSuffix(name, "_test.go"), Syntax: syntax})
		return nil
	})
	if err != nil {
		return nil, err
	}
	sort.Slice(t.Packages, func(i, j int) bool { return t.Packages[i].Path < t.Packages[j].Path })
	return t, nil
}

func passedOver(fsys fs.FS, name, base string) bool {
	if base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(name, "go.mod"))
	return err == nil
}

func modulePath(fsys fs.FS) (string, error) {
	text, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return "", fmt.Errorf("not the root of a module: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == "module" {
			return words[1], nil
		}
	}
	return "", fmt.Errorf("go.mod names no module")
}

// Find gives the package at a path relative to the module, or nil.
func (t *Tree) Find(path string) *Package {
	i := sort.Search(len(t.Packages), func(i int) bool { return t.Packages[i].Path >= path })
	if i < len(t.Packages) && t.Packages[i].Path == path {
		return t.Packages[i]
	}
	return nil
}

// Of gives the files of a package that are tests, or those that are not; none of no package.
func (p *Package) Of(tests bool) (out []*File) {
	if p != nil {
		for _, f := range p.Files {
			if f.Test == tests {
				out = append(out, f)
			}
		}
	}
	return out
}

// Own gives the path relative to the module of an imported package of the same
// module, and false for any other.
func (t *Tree) Own(importPath string) (string, bool) {
	if importPath == t.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.Module+"/")
}

// Imports lists what a file imports.
func (f *File) Imports() []string {
	var out []string
	for _, spec := range f.Syntax.Imports {
		out = append(out, importOf(spec))
	}
	return out
}

func importOf(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value // the parser accepts only well-formed strings
	}
	return p
}

// StartsGoroutines reports whether a file holds a go statement, or calls a method Go, as that of a
// sync.WaitGroup.
func (f *File) StartsGoroutines() bool {
	found := false
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && sel.Sel.Name == "Go"
		}
		return !found
	})
	return found
}

// at gives the place of a node as people write it: file:line.
func (t *Tree) at(n ast.Node) string {
	p := t.Fset.Position(n.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}
