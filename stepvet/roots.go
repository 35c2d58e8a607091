package stepvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// isRoot tells whether the toolkit calls a method while it steps or encodes a world. It goes by
// shape and not by import path, so that a copy of the toolkit under another name is checked as
// well.
func isRoot(fn *types.Func) bool {
	sig := fn.Signature()
	if sig.Recv() == nil {
		return false
	}
	switch fn.Name() {
	case "Step", "Gather":
		return takesWorld(sig)
	case "Sync":
		return takesSync(sig)
	case "Derive", "CopyFrom": // these belong to what is synced
		obj, _, _ := types.LookupFieldOrMethod(sig.Recv().Type(), true, fn.Pkg(), "Sync")
		sync, ok := obj.(*types.Func)
		return ok && takesSync(sync.Signature())
	}
	return false
}

func takesWorld(sig *types.Signature) bool {
	return sig.Params().Len() > 0 && pointsTo(sig.Params().At(0).Type(), "/world", "World")
}

func takesSync(sig *types.Signature) bool {
	return sig.Params().Len() > 0 && pointsTo(sig.Params().At(0).Type(), "/bits", "Sync")
}

// pointsTo tells whether a type is a pointer to the named type of a package whose path ends so.
func pointsTo(t types.Type, suffix, name string) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	named, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	return named.Obj().Name() == name && isPackage(named.Obj().Pkg(), suffix)
}

func isPackage(pkg *types.Package, suffix string) bool {
	return strings.HasSuffix("/"+pkg.Path(), suffix)
}

// addHooks takes in the functions that are handed to the toolkit to be called with the world:
// world.OnJoin(func(w *world.World, ...)).
func (u *unit) addHooks(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		to, ok := u.callee(call).(*types.Func)
		if !ok || to.Pkg() == nil || to.Pkg() == u.pass.Pkg || !isPackage(to.Pkg(), "/world") {
			return true
		}
		for _, arg := range call.Args {
			sig, ok := u.info.TypeOf(arg).(*types.Signature)
			if !ok || !takesWorld(sig) {
				continue
			}
			fn := &function{
				name: "the function given to " + to.Pkg().Name() + "." + to.Name(), decl: arg,
				body: arg, root: true}
			if lit, ok := ast.Unparen(arg).(*ast.FuncLit); ok {
				fn.typ, fn.body = lit.Type, lit.Body
				fn.params = slices.Collect(sig.Params().Variables())
			}
			u.funcs = append(u.funcs, fn)
		}
		return true
	})
}
