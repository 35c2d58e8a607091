//go:build !js && !wasip1

package det

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
)

// exact lists what this package may take from package math: functions whose results need no
// rounding, or one correct rounding.
var exact = map[string]bool{
	"Float64bits": true, "Float64frombits": true, "Inf": true, "Signbit": true, "Copysign": true,
	"Abs": true, "Sqrt": true, "Floor": true,
	"Ceil": true, "Trunc": true, "Round": true, "Frexp": true, "Ldexp": true,
}

// violations lists every place in the files where a compiler could make other bits: a product that
// is not wrapped in float64(), which may be fused with a sum, even of another statement or of a
// caller it is inlined into; and inexact functions of package math.
func violations(t *testing.T, fset *token.FileSet, files []*ast.File) []string {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := conf.Check("det", fset, files, info); err != nil {
		t.Fatal(err)
	}
	float := func(e ast.Expr) bool {
		b, ok := info.Types[e].Type.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsFloat != 0 && info.Types[e].Value == nil
	}
	var found []string
	report := func(n ast.Node, what string) {
		found = append(found, fset.Position(n.Pos()).String()+": "+what)
	}
	for _, f := range files {
		wrapped := map[ast.Expr]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok &&
					info.Uses[id] == types.Universe.Lookup("float64") {
					wrapped[ast.Unparen(n.Args[0])] = true
				}
			case *ast.BinaryExpr:
				// A quotient by a constant power of two becomes a product.
				if (n.Op == token.MUL || n.Op == token.QUO && info.Types[n.Y].Value != nil) &&
					float(n) && !wrapped[n] {
					report(n, "a product that is not wrapped in float64()")
				}
			case *ast.AssignStmt:
				if (n.Tok == token.MUL_ASSIGN || n.Tok == token.QUO_ASSIGN) && float(n.Lhs[0]) {
					report(n, "a product that is not wrapped in float64()")
				}
			case *ast.SelectorExpr:
				obj := info.Uses[n.Sel]
				if fn, ok := obj.(*types.Func); ok && fn.Pkg().Path() == "math" &&
					!exact[fn.Name()] {
					report(n, "math."+fn.Name()+" differs between processors")
				}
			}
			return true
		})
	}
	return found
}

func TestNoProductCanBeFused(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	for _, v := range violations(t, fset, files) {
		t.Error(v)
	}
}

// The check above must see each kind of violation.
func TestViolationsAreFound(t *testing.T) {
	const source = `package det
import "math"
type angle float64
func a(x, y, z float64) float64 { return x*y + z }
func b(x, y float64) float64 { return (x*y) }
func c(x, y float64) float64 { x *= y; return x }
func d(x, y angle) angle { return angle(x*y) + 1 }
func e(x float64) float64 { return math.Exp(x) }
func f(x float64) float64 { return x/2 + 1 }
func fine(x, y float64, i, j int) float64 { return float64((x*y)) + 2*math.Pi + x/y + float64(i*j) + math.Sqrt(x) }
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "source.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if vs := violations(t, fset, []*ast.File{f}); len(vs) != 6 {
		t.Errorf("six violations, found %d: %q", len(vs), vs)
	}
}
