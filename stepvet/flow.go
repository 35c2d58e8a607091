package stepvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A flow follows floats through one function: where products come from that nobody rounded, and
// where they are added to something. Between the two the language lets a compiler leave the
// rounding out, across statements and through functions that it inlines
// (https://go.dev/ref/spec#Floating_point_operators); the compiler does so on arm64 and on amd64
// from level v3.
//
// It follows what the compiler can: variables, fields, literals, arguments and results. It does not
// follow a value around a loop, where the compiler does not either.
type flow struct {
	u       *unit
	params  map[types.Object]int
	results []types.Object // where they have names
	given   map[types.Object][]assignment
	out     summary
	fused   []fusion
}

// An assignment says what a place was given.
type assignment struct {
	to      string // the path from the variable
	itself  bool   // the variable, and not what it points to
	pos     token.Pos
	block   ast.Node // the innermost block it stands in
	forks   []fork   // the branches it stands in, of which others may be taken
	from    ast.Expr // nil if it is nothing to follow
	path    string   // the part of from that is given
	result  int      // which result, where from is a call with several
	product ast.Node // x *= y
}

// A fork is a branch, and the statement that chooses between it and others.
type fork struct{ branch, whole ast.Node }

// apart tells whether something stands in another branch of the same statement, so that what one
// does the other does not see.
func (a *assignment) apart(at token.Pos) bool {
	return slices.ContainsFunc(a.forks,
		func(k fork) bool { return holds(k.whole, at) && !holds(k.branch, at) })
}

func holds(n ast.Node, at token.Pos) bool { return n.Pos() <= at && at < n.End() }

// A fusion is a product that nobody rounded, or a call that gives one, and the sum that it reaches.
type fusion struct {
	product ast.Node
	sum     ast.Node
}

// An origin is where a float comes from: a product, a call that gives one, or a parameter.
type origin struct {
	product ast.Node
	param   slot
}

// tooDeep bounds how far a value is followed. Real code stays far below.
const tooDeep = 24

// mostSlots bounds a summary. A function that does more with floats is too big to be inlined.
const mostSlots = 64

// flowOf follows the floats of a function of this package, once.
func (u *unit) flowOf(fn *function) *flow {
	if fn.flow == nil && fn.body != nil {
		fn.flow = &flow{} // a function that calls itself learns nothing from that call
		fn.flow = u.newFlow(fn.params, fn.typ, fn.body)
	}
	return fn.flow
}

// litSummary does the same for a function literal.
func (u *unit) litSummary(lit *ast.FuncLit) *summary {
	s, ok := u.byLit[lit]
	if !ok {
		u.byLit[lit] = &summary{} // for a literal that calls itself
		params := u.info.TypeOf(lit).(*types.Signature).Params().Variables()
		s = &u.newFlow(slices.Collect(params), lit.Type, lit.Body).out
		u.byLit[lit] = s
	}
	return s
}

func (u *unit) newFlow(params []*types.Var, typ *ast.FuncType, body ast.Node) *flow {
	f := &flow{u: u, params: map[types.Object]int{}, given: map[types.Object][]assignment{}}
	for i, p := range params {
		f.params[p] = i
	}
	if typ != nil && typ.Results != nil {
		for _, field := range typ.Results.List {
			for _, name := range field.Names {
				f.results = append(f.results, u.info.Defs[name])
			}
		}
	}
	f.noteAssignments(body)
	f.noteSums(body)
	return f
}

// noteAssignments lists what each variable is given, in the order of the source.
func (f *flow) noteAssignments(body ast.Node) {
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		block := blockOf(stack)
		note := func(lhs ast.Expr, a assignment) {
			if p, ok := f.u.placeOf(lhs); ok {
				_, a.itself = ast.Unparen(lhs).(*ast.Ident)
				a.to, a.block, a.forks = p.path, block, forksOf(stack)
				f.given[p.root] = append(f.given[p.root], a)
			}
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			f.noteAssign(n, note)
		case *ast.ValueSpec:
			for i, name := range n.Names {
				a := assignment{pos: n.End()}
				switch {
				case len(n.Values) == len(n.Names):
					a.from = n.Values[i]
				case len(n.Values) == 1:
					a.from, a.result = n.Values[0], i
				}
				note(name, a)
			}
		case *ast.IncDecStmt:
			note(n.X, assignment{pos: n.End()})
		case *ast.RangeStmt:
			if n.Value != nil {
				block = n.Body
				note(n.Value, assignment{pos: n.Body.Lbrace, from: n.X, path: "[]"})
			}
		}
		return true
	})
}

// blockOf is the innermost block of a stack of nodes.
func blockOf(stack []ast.Node) ast.Node {
	for i := len(stack) - 1; i >= 0; i-- {
		switch s := stack[i].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			return s
		}
	}
	return nil
}

func forksOf(stack []ast.Node) (list []fork) {
	for i, s := range stack {
		switch s.(type) {
		case *ast.CaseClause, *ast.CommClause: // in the block of a switch or select
			if i >= 2 {
				list = append(list, fork{s, stack[i-2]})
			}
		case *ast.IfStmt:
			if i+1 < len(stack) {
				list = append(list, fork{stack[i+1], s})
			}
		}
	}
	return list
}

func (f *flow) noteAssign(n *ast.AssignStmt, note func(ast.Expr, assignment)) {
	switch n.Tok {
	case token.ASSIGN, token.DEFINE:
		for i, lhs := range n.Lhs {
			a := assignment{pos: n.End(), from: n.Rhs[0], result: i}
			if len(n.Lhs) == len(n.Rhs) {
				a.from, a.result = n.Rhs[i], 0
			}
			note(lhs, a)
		}
	case token.MUL_ASSIGN:
		a := assignment{pos: n.End()}
		if isFloat(f.u.info.TypeOf(n.Lhs[0])) && !f.u.exactFactor(n.Rhs[0]) {
			a.product = n
		}
		note(n.Lhs[0], a)
	default:
		note(n.Lhs[0], assignment{pos: n.End()})
	}
}

// origins gives where the float at a path inside an expression's value comes from.
func (f *flow) origins(e ast.Expr, path string, depth int) []origin {
	if depth > tooDeep {
		return nil
	}
	if tv := f.u.info.Types[e]; tv.Value != nil {
		return nil
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.SUB || e.Op == token.ADD || e.Op == token.AND {
			return f.origins(e.X, path, depth+1)
		}
	case *ast.BinaryExpr:
		if e.Op == token.MUL && isFloat(f.u.info.TypeOf(e)) && !f.u.exactFactor(e.X) &&
			!f.u.exactFactor(e.Y) {
			return []origin{{product: e}}
		}
	case *ast.CompositeLit:
		return f.ofLiteral(e, path, depth)
	case *ast.CallExpr:
		return f.ofCall(e, 0, path, depth)
	default:
		if p, ok := f.u.placeOf(e); ok {
			p.path += path
			return f.ofPlace(p, e.Pos(), depth)
		}
	}
	return nil
}

func (f *flow) ofLiteral(lit *ast.CompositeLit, path string, depth int) []origin {
	var out []origin
	s, isStruct := coreOf(f.u.info.TypeOf(lit)).(*types.Struct)
	for i, elt := range lit.Elts {
		name, value := "[]", elt
		kv, keyed := elt.(*ast.KeyValueExpr)
		if keyed {
			value = kv.Value
		}
		if isStruct {
			if keyed {
				name = "." + kv.Key.(*ast.Ident).Name
			} else {
				name = "." + s.Field(i).Name()
			}
		}
		if rest, ok := within(path, name); ok {
			out = append(out, f.origins(value, rest, depth+1)...)
		} else if _, ok := within(name, path); ok {
			out = append(out, f.origins(value, "", depth+1)...)
		}
	}
	return out
}

func (f *flow) ofCall(call *ast.CallExpr, result int, path string, depth int) []origin {
	if tv := f.u.info.Types[ast.Unparen(call.Fun)]; tv.IsType() {
		// An explicit conversion to a float rounds; of a whole struct it does nothing to the floats
		// inside.
		if hasInfo(tv.Type, types.IsNumeric) || len(call.Args) != 1 {
			return nil
		}
		return f.origins(call.Args[0], path, depth+1)
	}
	s := f.calleeSummary(call)
	var out []origin
	for _, p := range s.Products {
		if p.Index == result && overlap(p.Path, path) {
			out = append(out, origin{product: call})
			break
		}
	}
	for _, pass := range s.Passes {
		if pass.Result.Index != result {
			continue
		}
		rest, ok := within(path, pass.Result.Path)
		if !ok {
			if rest = ""; !overlap(pass.Result.Path, path) {
				continue
			}
		}
		if arg, base := f.u.argument(call, pass.Param.Index); arg != nil {
			out = append(out, f.origins(arg, base+pass.Param.Path+rest, depth+1)...)
		}
	}
	return out
}

func overlap(a, b string) bool {
	_, in := within(a, b)
	_, out := within(b, a)
	return in || out
}

// ofPlace looks at what a variable was given before, latest first, until one that surely overwrote
// what came earlier.
func (f *flow) ofPlace(p place, at token.Pos, depth int) []origin {
	var out []origin
	for _, a := range slices.Backward(f.given[p.root]) {
		rest, whole := within(p.path, a.to)
		_, part := within(a.to, p.path)
		if a.pos > at || !whole && !part || a.apart(at) {
			continue
		}
		if !whole {
			rest = ""
		}
		switch {
		case a.product != nil:
			out = append(out, origin{product: a.product})
		case a.from != nil:
			out = append(out, f.ofGiven(a, rest, depth)...)
		}
		if whole && a.block != nil && holds(a.block, at) {
			return out
		}
	}
	if i, ok := f.params[p.root]; ok {
		out = append(out, origin{param: slot{i, p.path}})
	}
	return out
}

func (f *flow) ofGiven(a assignment, rest string, depth int) []origin {
	if call, ok := ast.Unparen(a.from).(*ast.CallExpr); ok {
		return f.ofCall(call, a.result, a.path+rest, depth+1)
	}
	return f.origins(a.from, a.path+rest, depth+1)
}
