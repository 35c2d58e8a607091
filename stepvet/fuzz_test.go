package stepvet

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

func FuzzAllow(f *testing.F) {
	for _, s := range []string{
		"//coeval:allow mapiter -- sorted below",
		"//coeval:allow mapiter, fuse -- both // a remark", "//coeval:allow",
		"// coeval:allow io -- x",
		"//coeval:allow io --", "//coeval:allowance", "/* coeval:allow io -- x */",
		"//coeval:allow\tclock,clock -- -- x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, comment string) {
		categories, meant, err := parseAllow(comment)
		if !meant && (err != nil || categories != nil) {
			t.Fatalf("it is not meant, but gives %v, %v", categories, err)
		}
		for i, c := range categories {
			if !allowable(c) || slices.Contains(categories[:i], c) {
				t.Fatalf("categories %v", categories)
			}
		}
		if !meant || err != nil {
			return
		}
		if len(categories) == 0 {
			t.Fatal("nothing is allowed, and nothing is wrong")
		}
		var words []string
		for _, c := range categories {
			words = append(words, string(c))
		}
		again, meant,
			err := parseAllow("//" + directive + " " + strings.Join(words, ",") + " -- why")
		if !meant || err != nil || !slices.Equal(again, categories) {
			t.Fatalf("%v written anew reads as %v, %v", categories, again, err)
		}
	})
}

// FuzzAnalyzer gives the analyser any source that compiles. It must come to an end, and to the same
// one twice.
func FuzzAnalyzer(f *testing.F) {
	for _, s := range []string{
		`type B struct{ X, V float64 }
func (b *B) Step(w *world.World, me world.ID) { b.V *= 0.9; b.X += b.V; go b.Step(w, me); for k := range map[int]int{} { n += k } }
var n int`,
		`type I interface{ F(I) float64 }
type A struct{ I }
func (a A) F(i I) float64 { return i.F(a) * 2 + g(3) }
func g(x float64) float64 { return g(x) * x }
func (a A) Step(w *world.World, me world.ID) { a.F(a); _ = int(a.F(a)) }`,
		`func f[T ~float32 | ~float64, M ~map[string]T](m M, k T) (s T) { for _, v := range m { s += v * k }; return }
type B struct{ a [3]struct{ m map[string]float64 } }
func (b *B) Sync(s *bits.Sync) { b.a[0].m["x"] = f(b.a[1].m, 2); h(&b.a[2].m) }
func h(p *map[string]float64) { (*p)["y"]++ }`,
		`var t, c = []func(int) int{nil, func(i int) int { return u(i) }}, 0
func u(i int) int { c++; return i }
type B int
func (b B) Step(w *world.World, me world.ID) { x := t[0]; y := &x; *y = nil; func(a ...float64) { a[0] += a[1] * a[2] }(1, 2, 3) //coeval:allow fuse -- why
}`,
	} {
		if found, ok := analyse(s); !ok || len(found) == 0 {
			f.Fatalf("nothing is found in a seed (it compiles: %v): %s", ok, s)
		}
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 1<<12 {
			t.Skip("long")
		}
		first, ok := analyse(source)
		if !ok {
			t.Skip("does not compile")
		}
		if second, _ := analyse(source); !slices.Equal(first, second) {
			t.Fatalf("two runs differ:\n%q\n%q", first, second)
		}
	})
}

// analyse runs the analyser on declarations that may use world and bits and import nothing else.
func analyse(source string) (messages []string, ok bool) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "fuzz.go",
		"package fuzz\nimport (\"example.com/world\"; \"example.com/bits\")\n"+source,
		parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes:     map[ast.Node]*types.Scope{},
	}
	failed := false
	conf := types.Config{Importer: standIns{}, Error: func(err error) {
		var e types.Error
		// an import that is not used is no reason to stop
		failed = failed || !errors.As(err, &e) || !e.Soft
	}}
	pkg, _ := conf.Check("example.com/fuzz", fset, []*ast.File{file}, info)
	if failed {
		return nil, false
	}
	_, err = run(&analysis.Pass{
		Analyzer: Analyzer, Fset: fset, Files: []*ast.File{file}, Pkg: pkg, TypesInfo: info,
		Report:           func(d analysis.Diagnostic) { messages = append(messages, d.Message) },
		ImportObjectFact: func(types.Object, analysis.Fact) bool { return false },
		ExportObjectFact: func(types.Object, analysis.Fact) {},
	})
	return messages, err == nil
}

// standIns makes packages with the two types that rules are known by.
type standIns struct{}

func (standIns) Import(path string) (*types.Package, error) {
	name := path[strings.LastIndex(path, "/")+1:]
	pkg := types.NewPackage(path, name)
	declare := func(name string, t types.Type) {
		tn := types.NewTypeName(token.NoPos, pkg, name, nil)
		types.NewNamed(tn, t, nil)
		pkg.Scope().Insert(tn)
	}
	switch path {
	case "example.com/world":
		declare("World", types.NewStruct(nil, nil))
		declare("ID", types.Typ[types.Uint64])
	case "example.com/bits":
		declare("Sync", types.NewStruct(nil, nil))
	default:
		return nil, errors.New("there is no package " + path)
	}
	pkg.MarkComplete()
	return pkg, nil
}
