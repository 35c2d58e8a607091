package stepvet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A guard collects the comparisons that hold where a value is used.
type guard struct {
	u            *unit
	at           ast.Expr
	text         string
	below, above bool // it is kept from being too small, too large
}

// guarded tells whether comparisons keep a value between two bounds where it is used: it stands
// under an if or a case that compares it from both sides, or after some that leave, or put it
// right, when it is outside.
func (u *unit) guarded(fn *function, e ast.Expr) bool {
	g := guard{u: u, at: e, text: types.ExprString(ast.Unparen(e))}
	ast.PreorderStack(fn.body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			switch {
			case holds(n.Body, e.Pos()):
				g.compare(n.Cond, true)
			case n.Else != nil && holds(n.Else, e.Pos()):
				g.compare(n.Cond, false)
			case n.End() <= e.Pos() && g.repairs(n.Body.List) && g.reaches(stack):
				g.compare(n.Cond, false)
			}
		case *ast.SwitchStmt:
			if n.Tag == nil && (holds(n, e.Pos()) || n.End() <= e.Pos() && g.reaches(stack)) {
				g.cases(n)
			}
		}
		return true
	})
	return g.below && g.above
}

// cases goes through the cases of a switch up to the one that holds the value's use, if any does:
// of those before it none was true.
func (g *guard) cases(n *ast.SwitchStmt) {
	inside := holds(n, g.at.Pos())
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		here := holds(c, g.at.Pos())
		for _, cond := range c.List {
			if here && len(c.List) == 1 {
				g.compare(cond, true)
			} else if !here && (inside || g.repairs(c.Body)) {
				g.compare(cond, false)
			}
		}
		if here {
			return
		}
	}
}

// reaches tells whether the use stands in the block that a stack of nodes ends with, so that what
// comes before it in there was done.
func (g *guard) reaches(stack []ast.Node) bool {
	b := blockOf(stack)
	return b != nil && holds(b, g.at.Pos())
}

// repairs tells whether statements leave their block, or give the value anew.
func (g *guard) repairs(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok != token.FALLTHROUGH
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		return ok && g.u.calls(call, "panic")
	case *ast.AssignStmt:
		return last.Tok == token.ASSIGN && len(last.Lhs) == 1 &&
			types.ExprString(last.Lhs[0]) == g.text
	}
	return false
}

// compare learns from a condition that is known to be true, or known to be false. Of a true one all
// that is joined by && is true, of a false one all that is joined by || is false.
func (g *guard) compare(cond ast.Expr, isTrue bool) {
	switch c := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			g.compare(c.X, !isTrue)
		}
	case *ast.BinaryExpr:
		if c.Op == token.LAND && isTrue || c.Op == token.LOR && !isTrue {
			g.compare(c.X, isTrue)
			g.compare(c.Y, isTrue)
			return
		}
		less := c.Op == token.LSS || c.Op == token.LEQ
		if !less && c.Op != token.GTR && c.Op != token.GEQ {
			return
		}
		less = less == isTrue // X is the smaller one
		g.bound(c.X, less)
		g.bound(c.Y, !less)
	}
}

// bound notes that one side of a comparison is the smaller or the larger one, if it is the value,
// or the value without its sign.
func (g *guard) bound(side ast.Expr, smaller bool) {
	side = ast.Unparen(side)
	if types.ExprString(side) == g.text {
		g.above = g.above || smaller
		g.below = g.below || !smaller
	}
	call, ok := side.(*ast.CallExpr)
	if !ok || !smaller || len(call.Args) != 1 || types.ExprString(call.Args[0]) != g.text {
		return
	}
	if fn, ok := g.u.callee(call).(*types.Func); ok && fn.Name() == "Abs" {
		g.above, g.below = true, true
	}
}
