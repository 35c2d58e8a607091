package stepvet

import (
	"go/ast"
	"go/types"
)

// viaInterface follows a call through an interface to every type in sight that implements it: those
// of this package and of the packages it imports. Packages that import this one look among their
// own types when they call the function.
func (u *unit) viaInterface(fn *function, at *ast.Ident, method *types.Func, recv types.Type) {
	known := false
	if named, ok := types.Unalias(recv).(*types.Named); ok && named.Obj().Pkg() != nil {
		d := dynamic{named.Obj().Pkg().Path(), named.Obj().Name(), method.Name()}
		fn.dynamic = append(fn.dynamic, d)
		for _, m := range u.implementers(d) {
			u.follow(fn, at, m)
			known = true
		}
	}
	if !known && u.verbose {
		u.found(fn, at, Unchecked,
			"no type that implements %s is known here, so this call cannot be checked; see to it "+
				"that all of them are deterministic", method.Name())
	}
}

// implementers lists the methods that a call of an interface's method can reach.
func (u *unit) implementers(d dynamic) []*types.Func {
	if list, ok := u.impls[d]; ok {
		return list
	}
	u.impls[d] = nil
	iface := u.interfaceOf(d)
	if iface == nil {
		return nil
	}
	var list []*types.Func
	for _, pkg := range append([]*types.Package{u.pass.Pkg}, u.pass.Pkg.Imports()...) {
		if standard(pkg.Path()) {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || tn.IsAlias() || types.IsInterface(tn.Type()) {
				continue
			}
			if named, ok := tn.Type().(*types.Named); !ok || named.TypeParams().Len() > 0 {
				continue
			}
			ptr := types.NewPointer(tn.Type())
			if !types.Implements(ptr, iface) {
				continue
			}
			obj, _, _ := types.LookupFieldOrMethod(ptr, false, u.pass.Pkg, d.Method)
			if m, ok := obj.(*types.Func); ok && m.Pkg() != nil && !standard(m.Pkg().Path()) &&
				!types.IsInterface(m.Signature().Recv().Type()) {
				list = append(list, m.Origin())
			}
		}
	}
	u.impls[d] = list
	return list
}

// interfaceOf finds an interface by name in the packages that can be reached from here.
func (u *unit) interfaceOf(d dynamic) *types.Interface {
	seen := map[*types.Package]bool{}
	var find func(pkg *types.Package) *types.Interface
	find = func(pkg *types.Package) *types.Interface {
		if seen[pkg] || standard(pkg.Path()) {
			return nil
		}
		seen[pkg] = true
		if pkg.Path() == d.Pkg {
			if tn, ok := pkg.Scope().Lookup(d.Type).(*types.TypeName); ok {
				iface, _ := tn.Type().Underlying().(*types.Interface)
				return iface
			}
			return nil
		}
		for _, imp := range pkg.Imports() {
			if iface := find(imp); iface != nil {
				return iface
			}
		}
		return nil
	}
	return find(u.pass.Pkg)
}
