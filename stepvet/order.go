package stepvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// orderMatters tells whether the body of a loop can have another effect when its turns come in
// another order. It knows the harmless shapes: counting, summing whole numbers, filling or emptying
// another map by the same keys, asking whether any or all are so, and collecting what is sorted
// right after.
func (u *unit) orderMatters(loop *ast.RangeStmt, stack []ast.Node) bool {
	blank := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return e == nil || ok && id.Name == "_"
	}
	if blank(loop.Key) && blank(loop.Value) {
		return false // every turn is the same
	}
	if loop.Tok != token.DEFINE {
		return true // what the last turn leaves in the variables stays
	}
	if u.collects(loop, stack) {
		return false
	}
	b := &unordered{
		u: u, loop: loop, assigned: map[types.Object]bool{}, operators: map[string]token.Token{}}
	if id, ok := loop.Key.(*ast.Ident); ok && !blank(id) {
		b.key = u.info.Defs[id]
	}
	b.noteAssigned(loop.Body)
	return !b.all(loop.Body.List) || b.leaves && (b.counts || b.sets > 1)
}

// unordered checks the body of one loop.
type unordered struct {
	u        *unit
	loop     *ast.RangeStmt
	key      types.Object
	assigned map[types.Object]bool // what some turn changes, so that others must not look at it
	// operators holds, for each place that is counted in, the one operator that every turn must use
	// there.
	operators map[string]token.Token
	counts    bool // turns add up, so that leaving early would leave some out
	sets      int  // places that are given one constant
	leaves    bool
}

func (b *unordered) noteAssigned(body ast.Node) {
	note := func(e ast.Expr) {
		for {
			switch x := ast.Unparen(e).(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				if b.u.info.Selections[x] == nil {
					b.assigned[b.u.info.Uses[x.Sel]] = true
					return
				}
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.Ident:
				b.assigned[b.u.info.ObjectOf(x)] = true
				return
			default:
				return
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				note(l)
			}
		case *ast.IncDecStmt:
			note(n.X)
		}
		return true
	})
}

// steady tells whether an expression has the same value in whichever turn it is computed.
func (b *unordered) steady(e ast.Expr) bool {
	ok := b.u.plain(e)
	ast.Inspect(e, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && b.assigned[b.u.info.Uses[id]] {
			ok = false
		}
		return ok
	})
	return ok
}

func (b *unordered) all(list []ast.Stmt) bool {
	return !slices.ContainsFunc(list, func(s ast.Stmt) bool { return !b.one(s) })
}

func (b *unordered) one(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return b.countsIn(s.X, token.ADD)
	case *ast.AssignStmt:
		return b.assignment(s)
	case *ast.ExprStmt: // delete(m, key)
		call, ok := s.X.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return false
		}
		b.counts = true
		return b.u.calls(call, "delete") && b.isKey(call.Args[1]) && b.u.plain(call.Args[0])
	case *ast.IfStmt:
		if s.Init != nil || !b.steady(s.Cond) || !b.all(s.Body.List) {
			return false
		}
		return s.Else == nil || b.one(s.Else)
	case *ast.BlockStmt:
		return b.all(s.List)
	case *ast.BranchStmt:
		if s.Tok == token.BREAK {
			b.leaves = true
		}
		return s.Label == nil && (s.Tok == token.CONTINUE || s.Tok == token.BREAK)
	case *ast.ReturnStmt: // any and all: the same answer whoever gives it
		b.leaves = true
		for _, r := range s.Results {
			tv := b.u.info.Types[r]
			if tv.Value == nil && !tv.IsNil() {
				return false
			}
		}
		return b.oneExit()
	}
	return false
}

// oneExit tells whether the loop has a single return, so that no turn can give another answer than
// its neighbours.
func (b *unordered) oneExit() bool {
	n := 0
	ast.Inspect(b.loop.Body, func(x ast.Node) bool {
		if _, ok := x.(*ast.ReturnStmt); ok {
			n++
		}
		return true
	})
	return n == 1
}

func (b *unordered) assignment(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || !b.steady(s.Rhs[0]) {
		return false
	}
	switch s.Tok {
	case token.ADD_ASSIGN, token.SUB_ASSIGN:
		return b.countsIn(s.Lhs[0], token.ADD)
	case token.AND_ASSIGN, token.AND_NOT_ASSIGN:
		return b.countsIn(s.Lhs[0], token.AND)
	case token.OR_ASSIGN, token.XOR_ASSIGN:
		return b.countsIn(s.Lhs[0], s.Tok)
	case token.ASSIGN:
		ix, ok := ast.Unparen(s.Lhs[0]).(*ast.IndexExpr) // other[key] = value
		if ok && b.isKey(ix.Index) && b.u.plain(ix.X) {
			b.counts = true
			return true
		}
		b.sets++
		tv := b.u.info.Types[s.Rhs[0]] // found = true
		return tv.Value != nil && b.fixedPlace(s.Lhs[0]) && b.onlyAssignment(s)
	}
	return false
}

// countsIn tells whether a place holds a whole number in which every turn counts with the same
// operator.
func (b *unordered) countsIn(place ast.Expr, op token.Token) bool {
	b.counts = true
	t, ok := b.u.info.TypeOf(place).Underlying().(*types.Basic)
	if !ok || t.Info()&types.IsInteger == 0 || !b.fixedPlace(place) {
		return false
	}
	name := types.ExprString(place)
	if old, seen := b.operators[name]; seen && old != op {
		return false
	}
	b.operators[name] = op
	return true
}

// onlyAssignment tells whether nothing else in the loop writes the same variable.
func (b *unordered) onlyAssignment(s *ast.AssignStmt) bool {
	text, n := types.ExprString(s.Lhs[0]), 0
	ast.Inspect(b.loop.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.AssignStmt:
			for _, l := range x.Lhs {
				if types.ExprString(l) == text {
					n++
				}
			}
		case *ast.IncDecStmt:
			if types.ExprString(x.X) == text {
				n++
			}
		}
		return true
	})
	return n == 1
}

// fixedPlace tells whether an expression names the same place in every turn, or one that belongs to
// the turn's key.
func (b *unordered) fixedPlace(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return b.fixedPlace(e.X)
	case *ast.StarExpr:
		return b.fixedPlace(e.X)
	case *ast.IndexExpr:
		return b.fixedPlace(e.X) && b.steady(e.Index)
	}
	return false
}

func (b *unordered) isKey(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && b.key != nil && b.u.info.Uses[id] == b.key
}
