package stepvet

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// noteSums finds every sum, and what flows into it: products of this function, and parameters,
// whose callers must be told.
func (f *flow) noteSums(body ast.Node) {
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.ADD || n.Op == token.SUB) && isFloat(f.u.info.TypeOf(n)) {
				f.added(n.X, "", n)
				f.added(n.Y, "", n)
			}
		case *ast.AssignStmt:
			if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) &&
				isFloat(f.u.info.TypeOf(n.Lhs[0])) {
				f.added(n.Lhs[0], "", n)
				f.added(n.Rhs[0], "", n)
			}
		case *ast.IncDecStmt:
			if isFloat(f.u.info.TypeOf(n.X)) {
				f.added(n.X, "", n)
			}
		case *ast.CallExpr:
			for _, s := range f.calleeSummary(n).Adds {
				if arg, base := f.u.argument(n, s.Index); arg != nil {
					f.added(arg, base+s.Path, n)
				}
			}
		case *ast.ReturnStmt:
			if !slices.ContainsFunc(stack,
				func(s ast.Node) bool { _, lit := s.(*ast.FuncLit); return lit }) {
				f.returned(n)
			}
		}
		return true
	})
}

// added notes that the float at a path inside an expression's value is added to something.
func (f *flow) added(e ast.Expr, path string, sum ast.Node) {
	for _, o := range f.origins(e, path, 0) {
		if o.product == nil {
			note(&f.out.Adds, o.param)
		} else if !slices.ContainsFunc(f.fused, func(x fusion) bool {
			return x.product == o.product
		}) {
			f.fused = append(f.fused, fusion{o.product, sum})
		}
	}
}

// note adds to a list of a summary, once.
func note[T comparable](list *[]T, v T) {
	if len(*list) < mostSlots && !slices.Contains(*list, v) {
		*list = append(*list, v)
	}
}

// returned notes which results are products or parameters.
func (f *flow) returned(ret *ast.ReturnStmt) {
	if len(ret.Results) == 0 {
		for i, obj := range f.results {
			if obj != nil {
				f.gives(i, "", obj.Type(),
					func(path string) []origin { return f.ofPlace(place{obj, path}, ret.Pos(), 0) })
			}
		}
		return
	}
	for i, e := range ret.Results {
		t := f.u.info.TypeOf(e)
		if tuple, ok := t.(*types.Tuple); ok && len(ret.Results) == 1 { // return f()
			for j := range tuple.Len() {
				f.gives(j, "", tuple.At(j).Type(),
					func(path string) []origin {
						return f.ofCall(ast.Unparen(e).(*ast.CallExpr), j, path, 0)
					})
			}
			continue
		}
		f.gives(i, "", t, func(path string) []origin { return f.origins(e, path, 0) })
	}
}

// gives notes where each float of a result comes from. Structs and arrays are taken apart, as the
// compiler takes them apart.
func (f *flow) gives(result int, path string, t types.Type, origins func(path string) []origin) {
	if strings.Count(path, ".")+strings.Count(path, "[") > 4 {
		return
	}
	switch t := coreOf(t).(type) {
	case *types.Struct:
		for field := range t.Fields() {
			f.gives(result, path+"."+field.Name(), field.Type(), origins)
		}
	case *types.Array:
		f.gives(result, path+"[]", t.Elem(), origins)
	case *types.Basic:
		if t.Info()&types.IsFloat == 0 {
			return
		}
		for _, o := range origins(path) {
			to := slot{result, path}
			if o.product != nil {
				note(&f.out.Products, to)
			} else {
				note(&f.out.Passes, passage{to, o.param})
			}
		}
	}
}

// calleeSummary is what is known of the function that a call calls; of a literal, too, that a
// variable holds from beginning to end.
func (f *flow) calleeSummary(call *ast.CallExpr) *summary {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		return f.u.litSummary(lit)
	}
	switch obj := f.u.callee(call).(type) {
	case *types.Func:
		return f.u.summaryOf(obj)
	case *types.Var:
		if g := f.given[obj]; len(g) == 1 && g[0].from != nil {
			if lit, ok := ast.Unparen(g[0].from).(*ast.FuncLit); ok {
				return f.u.litSummary(lit)
			}
		}
	}
	return &summary{}
}

// argument gives the expression that a call hands to a parameter, the receiver being parameter 0,
// and the path to it through embedded fields.
func (u *unit) argument(call *ast.CallExpr, param int) (arg ast.Expr, base string) {
	args := call.Args
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if s := u.info.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
			if param == 0 {
				index := s.Index()
				return sel.X, fieldPath(s.Recv(), index[:len(index)-1])
			}
			param--
		}
	}
	if param < len(args) {
		return args[param], ""
	}
	return nil, ""
}

// exactFactor tells whether multiplying by an expression never rounds: by a constant power of two,
// or nought. Fusing such a product changes nothing, short of numbers too small or too large for any
// game.
func (u *unit) exactFactor(e ast.Expr) bool {
	v := u.info.Types[e].Value
	if v == nil {
		return false
	}
	v = constant.ToFloat(v)
	if v.Kind() != constant.Float {
		return false
	}
	x, exact := constant.Float64Val(v)
	frac, _ := math.Frexp(math.Abs(x))
	return exact && (frac == 0.5 || frac == 0)
}

// complexProduct reports products of complex numbers: the products inside cannot be wrapped.
func (u *unit) complexProduct(fn *function, n ast.Node, op token.Token, operand ast.Expr) {
	switch op {
	case token.MUL, token.QUO, token.MUL_ASSIGN, token.QUO_ASSIGN:
	default:
		return
	}
	tv := u.info.Types[operand]
	if !isComplex(tv.Type) {
		return
	}
	if e, ok := n.(ast.Expr); ok && u.info.Types[e].Value != nil {
		return
	}
	u.found(fn, n, Fuse,
		"a product of complex numbers holds sums of products, which some processors fuse and "+
			"others do not; use det.Vec2")
}

// inspectFlow reports the products of a function that may be fused, those of one line together.
func (u *unit) inspectFlow(fn *function) {
	if fn.body == nil {
		return
	}
	f := u.flowOf(fn)
	slices.SortStableFunc(f.fused,
		func(a, b fusion) int { return int(a.product.Pos() - b.product.Pos()) })
	for len(f.fused) > 0 {
		line := u.line(f.fused[0].product.Pos())
		n := 1
		for n < len(f.fused) && u.line(f.fused[n].product.Pos()) == line {
			n++
		}
		u.add(fn, u.fusedLine(f.fused[:n], line))
		f.fused = f.fused[n:]
	}
}

func (u *unit) fusedLine(list []fusion, line int) finding {
	var texts []string
	fix := analysis.SuggestedFix{Message: "round each product with an explicit conversion"}
	for _, x := range list {
		text, edits := u.rounded(x.product)
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		fix.TextEdits = append(fix.TextEdits, edits...)
	}
	first := list[0]
	what := "the product"
	if call, ok := first.product.(*ast.CallExpr); ok {
		what = fmt.Sprintf("%s gives a product that is not rounded, and it",
			types.ExprString(call.Fun))
	}
	where := "the sum"
	switch at := u.line(first.sum.Pos()); {
	case isCall(first.sum):
		where = fmt.Sprintf("a sum inside %s", types.ExprString(first.sum.(*ast.CallExpr).Fun))
		if at != line {
			where += fmt.Sprintf(", called in line %d", at)
		}
	case at != line:
		where += fmt.Sprintf(" in line %d", at)
	}
	f := finding{pos: first.product.Pos(), end: list[len(list)-1].product.End(), category: Fuse,
		message: fmt.Sprintf(
			"%s may be fused with %s on arm64 and newer amd64, which rounds once instead of "+
				"twice; write %s", what, where, strings.Join(texts, " and "))}
	if len(fix.TextEdits) > 0 {
		f.fixes = []analysis.SuggestedFix{fix}
	}
	return f
}

func isCall(n ast.Node) bool { _, ok := n.(*ast.CallExpr); return ok }

// rounded is how a product should be written, and the edit that does so. The builtin name is right
// for named types, too, where it can be used without a second conversion; otherwise the type's own
// name rounds as well.
func (u *unit) rounded(product ast.Node) (string, []analysis.TextEdit) {
	if a, ok := product.(*ast.AssignStmt); ok {
		to, by := types.ExprString(a.Lhs[0]), types.ExprString(a.Rhs[0])
		if _, ok := ast.Unparen(a.Rhs[0]).(*ast.BinaryExpr); ok {
			by = "(" + by + ")"
		}
		text := fmt.Sprintf("%s = %s(%s * %s)", to, u.typeName(u.info.TypeOf(a.Lhs[0])), to, by)
		if !u.plain(a.Lhs[0]) {
			return text, nil // the edit would call something twice
		}
		return text, []analysis.TextEdit{{Pos: a.Pos(), End: a.End(), NewText: []byte(text)}}
	}
	e := product.(ast.Expr)
	t := u.info.TypeOf(e)
	if !isFloat(t) { // a call that gives a struct: the remedy is inside
		return "float64(x*y) in it", nil
	}
	name := u.typeName(t)
	return name + "(" + types.ExprString(e) + ")", []analysis.TextEdit{
		{Pos: e.Pos(), End: e.Pos(), NewText: []byte(name + "(")},
		{Pos: e.End(), End: e.End(), NewText: []byte(")")},
	}
}

func (u *unit) typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == u.pass.Pkg {
			return ""
		}
		return p.Name()
	})
}
