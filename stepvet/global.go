package stepvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A write is a place in a function where something outside it may change: a variable of the
// package, or what a parameter points to.
type write struct {
	at   ast.Node
	expr ast.Expr
	base bool // it is what the expression refers to that changes
}

// inspectWrites reports writes to package-level variables, and learns through which parameters a
// function writes, so that a variable handed to it by reference counts as written.
func (u *unit) inspectWrites(fn *function) {
	if fn.body == nil {
		return
	}
	u.writesOf(fn)
	for _, w := range u.writeSites(fn) {
		if p, _ := u.outer(fn, w); p.root != nil && u.isGlobal(p.root) {
			u.found(fn, w.at, Global,
				"%s is not part of the world: it is not copied, sent, hashed or rolled back, so "+
					"this write makes machines differ; keep it in an entity or a state of the world",
				p.root.Name())
		}
	}
}

// writesOf lists the parameters through which a function writes.
func (u *unit) writesOf(fn *function) []int {
	if fn.wrote || fn.body == nil {
		return fn.writes
	}
	fn.wrote = true // a function that calls itself learns nothing from that call
	for _, w := range u.writeSites(fn) {
		p, reference := u.outer(fn, w)
		if !reference {
			continue
		}
		for i, param := range fn.params {
			if p.root == param && sharing(param.Type()) && !slices.Contains(fn.writes, i) {
				fn.writes = append(fn.writes, i)
			}
		}
	}
	slices.Sort(fn.writes)
	return fn.writes
}

// sharing tells whether a copy of a value still leads to the same memory.
func sharing(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice:
		return true
	}
	return false
}

// writeSites lists the writes of a function, those of the functions it hands something to included.
func (u *unit) writeSites(fn *function) []write {
	if fn.sites != nil {
		return fn.sites
	}
	sites := []write{}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, lhs := range n.Lhs {
					sites = append(sites, write{at: n, expr: lhs})
				}
			}
		case *ast.IncDecStmt:
			sites = append(sites, write{at: n, expr: n.X})
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if e != nil {
						sites = append(sites, write{at: e, expr: e})
					}
				}
			}
		case *ast.CallExpr:
			sites = append(sites, u.writesByCall(n)...)
		}
		return true
	})
	fn.sites = sites
	return sites
}

func (u *unit) writesByCall(call *ast.CallExpr) []write {
	var sites []write
	switch obj := u.callee(call).(type) {
	case *types.Builtin:
		switch obj.Name() {
		case "copy", "delete", "clear":
			sites = append(sites, write{at: call, expr: call.Args[0], base: true})
		}
	case *types.Func:
		if obj.Pkg() == nil {
			break
		}
		if standard(obj.Pkg().Path()) {
			return u.writesByStandard(call)
		}
		obj = obj.Origin()
		list := u.summaryOf(obj).Writes
		if fn := u.byObj[obj]; fn != nil {
			list = u.writesOf(fn)
		}
		for _, i := range list {
			if arg, _ := u.argument(call, i); arg != nil {
				sites = append(sites, write{at: call, expr: arg, base: true})
			}
		}
	}
	return sites
}

// writesByStandard takes a method of the standard library that needs the address of a variable to
// change it: a buffer, a builder, a number of arbitrary size.
func (u *unit) writesByStandard(call *ast.CallExpr) []write {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	s := u.info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return nil
	}
	_, byPointer := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
	if _, given := s.Recv().Underlying().(*types.Pointer); byPointer && !given {
		return []write{{at: call, expr: sel.X, base: true}}
	}
	return nil
}

// outer gives the variable that an expression leads to, through local variables that only stand for
// another, and whether the way goes through a reference.
func (u *unit) outer(fn *function, w write) (p place, reference bool) {
	e, reference := w.expr, w.base
	for range tooDeep {
		if un, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && un.Op == token.AND {
			e = un.X
		}
		if !reference {
			reference = u.throughReference(e)
		}
		var ok bool
		if p, ok = u.placeOf(e); !ok {
			return place{}, false
		}
		from := u.standsFor(fn, p.root)
		if from == nil || !reference {
			return p, reference
		}
		e = from
	}
	return place{}, false
}

// standsFor gives the expression that a local pointer, slice or map was made from, if that was once
// and for all.
func (u *unit) standsFor(fn *function, obj types.Object) ast.Expr {
	flow := u.flowOf(fn)
	if _, param := flow.params[obj]; param || u.isGlobal(obj) || !sharing(obj.Type()) {
		return nil
	}
	var from ast.Expr
	for _, a := range flow.given[obj] {
		if a.itself && (from != nil || a.from == nil || a.path != "") {
			return nil
		} else if a.itself {
			from = a.from
		}
	}
	return from
}

// throughReference tells whether naming a place means following a pointer, slice or map.
func (u *unit) throughReference(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.StarExpr:
			return true
		case *ast.IndexExpr:
			if sharing(u.info.TypeOf(x.X)) {
				return true
			}
			e = x.X
		case *ast.SelectorExpr:
			sel := u.info.Selections[x]
			if sel == nil {
				return false
			}
			if sel.Indirect() || sharing(u.info.TypeOf(x.X)) {
				return true
			}
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return false
		}
	}
}

// isGlobal tells whether a variable belongs to a package and not to a function.
func (u *unit) isGlobal(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}
