package stepvet

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

// scan finds what can be seen in one place of a function, and which functions it mentions. A
// function that is mentioned without being called counts as called: someone will.
func (u *unit) scan(fn *function) {
	if fn.body == nil {
		if u.verbose {
			u.found(fn, fn.decl, Unchecked, "%s has no body in Go, so it cannot be checked",
				fn.name)
		}
		return
	}
	ast.PreorderStack(fn.body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			u.mention(fn, n, stack)
		case *ast.CallExpr:
			u.call(fn, n)
		case *ast.RangeStmt:
			u.ranging(fn, n, stack)
		case *ast.GoStmt:
			u.found(fn, n, Concurrent,
				"a goroutine runs at no particular tick, in no particular order; do the work "+
					"here, or outside the rules")
		case *ast.SelectStmt:
			u.found(fn, n, Concurrent,
				"select takes whichever channel is ready, which differs from run to run; read "+
					"commands and entities instead")
		case *ast.SendStmt:
			u.channel(fn, n, stack)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				u.channel(fn, n, stack)
			}
		case *ast.BinaryExpr:
			u.complexProduct(fn, n, n.Op, n.X)
		case *ast.AssignStmt:
			u.complexProduct(fn, n, n.Tok, n.Lhs[0])
		}
		return true
	})
}

// found notes a finding. One line is told once of each category, unless there is something to do in
// each place.
func (u *unit) found(fn *function, at ast.Node, c Category, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	u.add(fn, finding{pos: at.Pos(), end: at.End(), category: c, message: message})
}

func (u *unit) add(fn *function, f finding) {
	line := u.line(f.pos)
	for i := range fn.found {
		old := &fn.found[i]
		if old.category == f.category && u.line(old.pos) == line &&
			(old.message == f.message || f.category != Convert && f.category != Math) {
			return
		}
	}
	fn.found = append(fn.found, f)
}

func (u *unit) line(pos token.Pos) int { return u.pass.Fset.Position(pos).Line }

// channel reports the use of a channel, except in a select, which was reported as a whole.
func (u *unit) channel(fn *function, n ast.Node, stack []ast.Node) {
	for _, s := range stack {
		if s, ok := s.(*ast.CommClause); ok && s.Comm != nil && s.Comm.Pos() <= n.Pos() &&
			n.End() <= s.Comm.End() {
			return
		}
	}
	u.found(fn, n, Concurrent,
		"a channel hands over whatever has come by now, which differs from run to run; read "+
			"commands and entities instead")
}

// mention follows an identifier to what it names.
func (u *unit) mention(fn *function, id *ast.Ident, stack []ast.Node) {
	obj := u.info.Uses[id]
	if obj == nil || obj.Pkg() == nil {
		return
	}
	if standard(obj.Pkg().Path()) {
		if c, message := judge(obj); c == MapIter {
			u.mapFunction(fn, id, message, stack)
		} else if c != "" {
			u.found(fn, id, c, "%s", message)
		}
		return
	}
	switch obj := obj.(type) {
	case *types.Func:
		if pkg := obj.Pkg().Path(); pkg == "golang.org/x/exp/maps" &&
			(obj.Name() == "Keys" || obj.Name() == "Values") {
			u.mapFunction(fn, id, pkg+"."+obj.Name()+mapAdvice, stack)
			return
		}
		if recv := obj.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			u.viaInterface(fn, id, obj, recv.Type())
			return
		}
		u.follow(fn, id, obj.Origin())
	case *types.Var:
		if obj.Parent() == obj.Pkg().Scope() {
			u.follow(fn, id, obj)
		}
	}
}

// follow notes that a function leads to another, or brings over what another package's function is
// known to do.
func (u *unit) follow(fn *function, at ast.Node, obj types.Object) {
	if obj.Pkg() == u.pass.Pkg {
		if to := u.byObj[obj]; to != nil {
			fn.calls = append(fn.calls, edge{to, at.Pos()})
		}
		return
	}
	s := u.summaryOf(obj)
	for i := range s.Troubles {
		t := &s.Troubles[i]
		u.add(fn, finding{pos: at.Pos(), end: at.End(), category: t.Category, inner: t,
			message: fmt.Sprintf("%s.%s leads to %s: %s", obj.Pkg().Name(), obj.Name(), t.Where,
				t.What)})
	}
	for _, d := range s.Dynamic {
		// an implementation that calls its own interface would lead here again and again
		if slices.Contains(fn.dynamic, d) {
			continue
		}
		fn.dynamic = append(fn.dynamic, d)
		for _, m := range u.implementers(d) {
			u.follow(fn, at, m)
		}
	}
}

// call looks at what only the call shows: built-in functions, format strings, conversions, and
// calls that lead nowhere in particular.
func (u *unit) call(fn *function, call *ast.CallExpr) {
	fun := ast.Unparen(call.Fun)
	if tv := u.info.Types[fun]; tv.IsType() {
		if len(call.Args) == 1 {
			u.conversion(fn, call, tv.Type, call.Args[0])
		}
		return
	}
	switch obj := u.callee(call).(type) {
	case *types.Builtin:
		u.builtin(fn, call, obj.Name())
	case *types.Func:
		if obj.Pkg() != nil && standard(obj.Pkg().Path()) {
			u.intoStandard(fn, call, obj)
		}
	case *types.Var:
		// A parameter or local variable got its function in code that is checked, where it is
		// mentioned.
		if u.verbose &&
			(obj.IsField() || obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() &&
				u.byObj[obj] == nil) {
			u.found(fn, call, Unchecked,
				"%s holds a function that is not known here, so this call cannot be checked; "+
					"see to it that all it can hold is deterministic", obj.Name())
		}
	case nil:
		if _, lit := fun.(*ast.FuncLit); !lit && u.verbose {
			u.found(fn, call, Unchecked,
				"the function called here is not known, so it cannot be checked; see to it that "+
					"all it can be is deterministic")
		}
	}
}

// calls tells whether a call is of a built-in function.
func (u *unit) calls(call *ast.CallExpr, name string) bool {
	b, ok := u.callee(call).(*types.Builtin)
	return ok && b.Name() == name
}

// callee is what a call names: a function, a built-in, a variable, or nil.
func (u *unit) callee(call *ast.CallExpr) types.Object {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr: // an instance of a generic function, or an element that is a function
		if u.info.Types[f.X].IsValue() && !isSignature(u.info.TypeOf(f.X)) {
			return nil
		}
		fun = ast.Unparen(f.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(f.X)
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return u.info.Uses[f]
	case *ast.SelectorExpr:
		return u.info.Uses[f.Sel]
	}
	return nil
}

// isSignature says whether a type is that of functions. Where the source does not compile there is
// no type.
func isSignature(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

func (u *unit) builtin(fn *function, call *ast.CallExpr, name string) {
	switch name {
	case "print", "println":
		u.found(fn, call, IO,
			"%s writes to the console each time a tick is stepped, also when it is stepped "+
				"again; emit an event, or print outside the rules", name)
	case "close":
		u.found(fn, call, Concurrent,
			"closing a channel wakes goroutines at no particular tick; read commands and "+
				"entities instead")
	case "make":
		if _, ok := u.info.TypeOf(call).Underlying().(*types.Chan); ok {
			u.found(fn, call, Concurrent,
				"a channel has no place in a world that is copied and stepped again; use a slice")
		}
	}
}

// printsAddress matches a verb that prints a pointer as a number.
var printsAddress = regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)

// intoStandard looks at what is handed to the standard library: formats that print addresses, and
// values whose methods it will call.
func (u *unit) intoStandard(fn *function, call *ast.CallExpr, obj *types.Func) {
	if obj.Pkg().Path() == "fmt" {
		for _, arg := range call.Args {
			if v := u.info.Types[arg].Value; v != nil && v.Kind() == constant.String &&
				printsAddress.MatchString(constant.StringVal(v)) {
				u.found(fn, arg, Address,
					"%%p prints an address, which differs from run to run; print the entity's "+
						"identifier")
			}
		}
	}
	sig := obj.Signature()
	for i, arg := range call.Args {
		if i >= sig.Params().Len() {
			break
		}
		iface, ok := sig.Params().At(i).Type().Underlying().(*types.Interface)
		if !ok || iface.NumMethods() == 0 {
			continue
		}
		given := u.info.TypeOf(arg)
		if given == nil || types.IsInterface(given) {
			continue
		}
		for m := range iface.Methods() {
			if to, _, _ := types.LookupFieldOrMethod(given, true, u.pass.Pkg, m.Name()); to != nil {
				if to, ok := to.(*types.Func); ok && to.Pkg() != nil && !standard(to.Pkg().Path()) {
					u.follow(fn, arg, to.Origin())
				}
			}
		}
	}
}
