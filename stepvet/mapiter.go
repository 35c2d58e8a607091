package stepvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// ranging judges a loop by what it goes over.
func (u *unit) ranging(fn *function, loop *ast.RangeStmt, stack []ast.Node) {
	t := u.info.TypeOf(loop.X)
	if t == nil {
		return
	}
	switch t := coreOf(t).(type) {
	case *types.Chan:
		u.found(fn, loop, Concurrent,
			"a channel hands over whatever has come by now, which differs from run to run; read "+
				"commands and entities instead")
	case *types.Map:
		if u.orderMatters(loop, stack) {
			message := "the order of a map differs in every run; go over " +
				"slices.Sorted(maps.Keys(m)), or keep a slice"
			if _, ok := t.Key().Underlying().(*types.Pointer); ok {
				message = "the order of a map differs in every run, and pointers cannot be " +
					"sorted; key it by identifier and go over slices.Sorted(maps.Keys(m)), or " +
					"keep a slice"
			}
			u.add(fn, finding{pos: loop.Pos(), end: loop.Body.Lbrace, category: MapIter,
				message: message})
		}
	}
}

// mapFunction reports a mention of maps.Keys and its like, unless what comes of it is put in order,
// or order makes no difference.
func (u *unit) mapFunction(fn *function, id *ast.Ident, message string, stack []ast.Node) {
	i := len(stack) - 1
	if i >= 0 {
		if sel, ok := stack[i].(*ast.SelectorExpr); ok && sel.Sel == id {
			i--
		}
	}
	if i >= 1 {
		if call, ok := stack[i].(*ast.CallExpr); ok && u.sortedOrCollected(call, stack[:i]) {
			return
		}
	}
	u.found(fn, id, MapIter, "%s", message)
}

// sortedOrCollected tells whether the keys or values that a call gives are put in order by what
// stands around it.
func (u *unit) sortedOrCollected(call *ast.CallExpr, stack []ast.Node) bool {
	switch parent := stack[len(stack)-1].(type) {
	case *ast.CallExpr:
		switch u.standardName(parent) {
		case "slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc", "maps.Collect",
			"maps.Insert":
			return true
		case "slices.Collect":
			return u.sortedOrCollected(parent, stack[:len(stack)-1])
		}
	case *ast.AssignStmt: // keys := slices.Collect(maps.Keys(m)), then sorted
		return len(parent.Lhs) == 1 && u.sortedNext(parent.Lhs[0], parent, stack[:len(stack)-1])
	case *ast.RangeStmt:
		return parent.X == call && !u.orderMatters(parent, stack[:len(stack)-1])
	}
	return false
}

// standardName is what a call names, such as slices.Sort.
func (u *unit) standardName(call *ast.CallExpr) string {
	if fn, ok := u.callee(call).(*types.Func); ok && fn.Pkg() != nil {
		return fn.Pkg().Path() + "." + fn.Name()
	}
	return ""
}

// sortedNext tells whether the statement after this one sorts the variable.
func (u *unit) sortedNext(variable ast.Expr, this ast.Stmt, stack []ast.Node) bool {
	if len(stack) == 0 {
		return false
	}
	var list []ast.Stmt
	switch b := stack[len(stack)-1].(type) {
	case *ast.BlockStmt:
		list = b.List
	case *ast.CaseClause:
		list = b.Body
	}
	i := slices.Index(list, this)
	if i < 0 || i+1 >= len(list) {
		return false
	}
	s, ok := list[i+1].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := u.standardName(call)
	if !strings.HasPrefix(name, "sort.") && !strings.HasPrefix(name, "slices.Sort") {
		return false
	}
	arg := ast.Unparen(call.Args[0])
	if conv, ok := arg.(*ast.CallExpr); ok && len(conv.Args) == 1 { // sort.Sort(byName(keys))
		arg = conv.Args[0]
	}
	return types.ExprString(arg) == types.ExprString(variable)
}

// collects tells whether a loop only appends to a slice that the next statement sorts.
func (u *unit) collects(loop *ast.RangeStmt, stack []ast.Node) bool {
	list := loop.Body.List
	if len(list) == 1 {
		if cond, ok := list[0].(*ast.IfStmt); ok && cond.Init == nil && cond.Else == nil &&
			u.plain(cond.Cond) {
			list = cond.Body.List
		}
	}
	if len(list) != 1 {
		return false
	}
	as, ok := list[0].(*ast.AssignStmt)
	if !ok || len(as.Lhs) != 1 || len(as.Rhs) != 1 {
		return false
	}
	call, ok := as.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) != 2 || !u.calls(call, "append") {
		return false
	}
	return types.ExprString(call.Args[0]) == types.ExprString(as.Lhs[0]) && u.plain(call.Args[1]) &&
		u.sortedNext(as.Lhs[0], loop, stack)
}

// plain tells whether an expression calls nothing but conversions, len and the like.
func (u *unit) plain(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			_, builtin := u.callee(n).(*types.Builtin)
			ok = ok && (builtin || u.info.Types[ast.Unparen(n.Fun)].IsType())
		case *ast.FuncLit:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		}
		return ok
	})
	return ok
}
