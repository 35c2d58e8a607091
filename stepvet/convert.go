package stepvet

import (
	"fmt"
	"go/ast"
	"go/types"
)

// conversion reports a float that becomes an integer and may not fit: what comes out then is left
// to the processor.
func (u *unit) conversion(fn *function, call *ast.CallExpr, to types.Type, arg ast.Expr) {
	lo, hi, ok := integerRange(to)
	from := u.info.Types[arg]
	if !ok || from.Value != nil || !isFloat(from.Type) || hasInfo(from.Type, types.IsInteger) {
		return
	}
	if u.bounds(fn, arg, 0).fits(lo, hi) {
		return
	}
	name := u.typeName(to)
	instead, text := "", types.ExprString(arg)
	switch to.Underlying().(*types.Basic).Kind() {
	case types.Int:
		instead = fmt.Sprintf("int(det.Int32(%s))", text)
	case types.Uint, types.Uintptr:
		instead = fmt.Sprintf("%s(det.Uint32(%s))", name, text)
	default:
		basic := to.Underlying().(*types.Basic).Name()
		instead = fmt.Sprintf("det.%s(%s)", upper(basic), text)
		if basic != name && !(basic == "uint8" && name == "byte") &&
			!(basic == "int32" && name == "rune") {
			instead = fmt.Sprintf("%s(%s)", name, instead)
		}
	}
	u.found(fn, call, Convert,
		"%s may not fit %s, and then each kind of processor gives another number; write %s, "+
			"or clamp it first", text, name, instead)
}

func upper(basic string) string {
	switch basic { // byte and rune are names for these
	case "byte":
		basic = "uint8"
	case "rune":
		basic = "int32"
	}
	return string(basic[0]-'a'+'A') + basic[1:]
}
