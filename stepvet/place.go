package stepvet

import (
	"go/ast"
	"go/types"
	"strings"
)

// A place is a variable, or a part of what is reachable from it: the variable p and ".Pos.X".
// Pointers are seen through, and all elements of an array, slice or map are one: "[]".
type place struct {
	root types.Object
	path string
}

// placeOf gives the place that an expression names, if it names one.
func (u *unit) placeOf(e ast.Expr) (place, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := u.info.ObjectOf(e).(*types.Var); ok {
			return place{v, ""}, true
		}
	case *ast.SelectorExpr:
		sel := u.info.Selections[e]
		if sel == nil { // a variable of another package
			if v, ok := u.info.Uses[e.Sel].(*types.Var); ok {
				return place{v, ""}, true
			}
			return place{}, false
		}
		if sel.Kind() != types.FieldVal {
			return place{}, false
		}
		p, ok := u.placeOf(e.X)
		p.path += fieldPath(sel.Recv(), sel.Index())
		return p, ok
	case *ast.StarExpr:
		return u.placeOf(e.X)
	case *ast.IndexExpr:
		if isSignature(u.info.TypeOf(e.X)) {
			return place{}, false
		}
		p, ok := u.placeOf(e.X)
		p.path += "[]"
		return p, ok
	case *ast.SliceExpr:
		return u.placeOf(e.X)
	}
	return place{}, false
}

// fieldPath spells out a selection, embedded fields and all.
func fieldPath(t types.Type, index []int) string {
	var path strings.Builder
	for _, i := range index {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		s, ok := coreOf(t).(*types.Struct)
		if !ok || i >= s.NumFields() {
			return path.String() + ".?"
		}
		path.WriteString("." + s.Field(i).Name())
		t = s.Field(i).Type()
	}
	return path.String()
}

// coreOf is the underlying type, of a type parameter that of the first type it allows.
func coreOf(t types.Type) types.Type {
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		if term := firstTerm(tp); term != nil {
			return term.Underlying()
		}
	}
	return t.Underlying()
}

func firstTerm(tp *types.TypeParam) types.Type {
	iface, ok := tp.Constraint().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	for t := range iface.EmbeddedTypes() {
		switch t := t.Underlying().(type) {
		case *types.Union:
			if t.Len() > 0 {
				return t.Term(0).Type()
			}
		case *types.Interface:
			for e := range t.EmbeddedTypes() {
				if un, ok := e.(*types.Union); ok && un.Len() > 0 {
					return un.Term(0).Type()
				}
			}
		default:
			return t
		}
	}
	return nil
}

// within tells whether a path lies inside another or is the same, and what is left of it.
func within(inner, outer string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(inner, outer)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// isFloat tells whether values of a type are floats, or for a type parameter can be.
func isFloat(t types.Type) bool { return hasInfo(t, types.IsFloat) }

func isComplex(t types.Type) bool { return hasInfo(t, types.IsComplex) }

func hasInfo(t types.Type, want types.BasicInfo) bool {
	if t == nil {
		return false
	}
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		return typeSetHas(tp.Constraint().Underlying(), want)
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&want != 0
}

// typeSetHas looks for a type in what a constraint allows. Looking at unions alone is enough: a
// type that can be multiplied is named in one.
func typeSetHas(t types.Type, want types.BasicInfo) bool {
	switch t := t.(type) {
	case *types.Interface:
		for e := range t.EmbeddedTypes() {
			if typeSetHas(e.Underlying(), want) {
				return true
			}
		}
	case *types.Union:
		for term := range t.Terms() {
			if typeSetHas(term.Type().Underlying(), want) {
				return true
			}
		}
	case *types.Basic:
		return t.Info()&want != 0
	}
	return false
}
