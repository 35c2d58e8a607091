package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path/filepath"
	"strings"
)

// A source is what go list says of a package that is to be type-checked.
type source struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

// typeCheck finds what the compiler would find wrong with packages for another platform, short of
// making code for it: all that they stand on is read for its declarations only.
func (r *runner) typeCheck(env []string, arch string, names []string) error {
	args := append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module"},
		names...)
	out, err := r.ask(env, "go", args...)
	if err != nil {
		return err
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	var wrong []error
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var s source
		if err := dec.Decode(&s); err == io.EOF {
			return errors.Join(wrong...)
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if s.ImportPath == "unsafe" {
			continue
		}
		p, errs := s.check(arch, known)
		known[s.ImportPath] = p
		wrong = append(wrong, errs...)
	}
}

// check reads a package whose imports are known.
func (s *source) check(arch string, known map[string]*types.Package) (*types.Package, []error) {
	var wrong []error
	own := s.Module != nil && s.Module.Main
	conf := types.Config{
		Importer: imports(func(name string) (*types.Package, error) {
			if as, ok := s.ImportMap[name]; ok {
				name = as
			}
			if p := known[name]; p != nil {
				return p, nil
			}
			return nil, fmt.Errorf("go list says nothing of %s", name)
		}),
		Sizes: types.SizesFor("gc", arch), IgnoreFuncBodies: !own, FakeImportC: true,
		Error: func(err error) {
			if own { // an import that is not used in a declaration is no mistake of others
				wrong = append(wrong, err)
			}
		},
	}
	if s.Module != nil && s.Module.GoVersion != "" {
		conf.GoVersion = "go" + s.Module.GoVersion
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(s.Dir, name), nil,
			parser.SkipObjectResolution)
		if err != nil {
			return nil, []error{err}
		}
		files = append(files, f)
	}
	p, _ := conf.Check(s.ImportPath, fset, files, nil) // its errors were told one by one
	return p, wrong
}

// imports is a function that finds packages.
type imports func(name string) (*types.Package, error)

func (f imports) Import(name string) (*types.Package, error) { return f(name) }
