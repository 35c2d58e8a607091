package stepvet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"
)

// An interval holds every value that an expression can have. Bounds that are not numbers known here
// but that the author took care of, as in Clamp(x, lo, hi), are taken on trust.
type interval struct {
	lo, hi  float64
	trusted bool
}

var anything = interval{lo: math.Inf(-1), hi: math.Inf(1)}

func (i interval) bounded() bool {
	return i.trusted || !math.IsInf(i.lo, 0) && !math.IsInf(i.hi, 0)
}

// fits tells whether all the values survive a conversion to an integer between two bounds, which
// cuts the fraction off.
func (i interval) fits(lo, hi float64) bool {
	return i.trusted || i.lo >= lo && i.hi <= hi || i.lo > lo-1 && i.hi < hi+1
}

func (i interval) union(j interval) interval {
	return interval{
		math.Min(i.lo, j.lo), math.Max(i.hi, j.hi), i.trusted && j.bounded() || j.trusted &&
			i.bounded()}
}

// span makes an interval that is surely wide enough: results of operations on the bounds are
// rounded, so it is a little wider.
func span(values ...float64) interval {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v != v {
			return anything
		}
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	if lo != math.Trunc(lo) || math.Abs(lo) > 1<<52 {
		lo = math.Nextafter(lo, math.Inf(-1))
	}
	if hi != math.Trunc(hi) || math.Abs(hi) > 1<<52 {
		hi = math.Nextafter(hi, math.Inf(1))
	}
	return interval{lo: lo, hi: hi}
}

// combine applies an operator to two intervals.
func combine(op token.Token, a, b interval) interval {
	if a.trusted && b.bounded() || b.trusted && a.bounded() {
		if op == token.ADD || op == token.SUB || op == token.MUL || op == token.QUO && !b.trusted &&
			!b.contains(0) {
			return interval{trusted: true}
		}
	}
	if !a.bounded() || !b.bounded() || a.trusted || b.trusted {
		return anything // infinities and their differences are not worth knowing
	}
	switch op {
	case token.ADD:
		return span(a.lo+b.lo, a.hi+b.hi)
	case token.SUB:
		return span(a.lo-b.hi, a.hi-b.lo)
	case token.MUL:
		return span(a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi)
	case token.QUO:
		if !b.contains(0) {
			return span(a.lo/b.lo, a.lo/b.hi, a.hi/b.lo, a.hi/b.hi)
		}
	}
	return anything
}

func (i interval) contains(x float64) bool { return i.lo <= x && x <= i.hi }

// integerRange is the range of an integer type. An int is taken as 64 bits, as on every platform
// that players have.
func integerRange(t types.Type) (lo, hi float64, ok bool) {
	b, isBasic := t.Underlying().(*types.Basic)
	if !isBasic || b.Info()&types.IsInteger == 0 {
		return 0, 0, false
	}
	bits := int(8 * types.SizesFor("gc", "amd64").Sizeof(b))
	below := func(n int) float64 { // the largest float that is not above 2^n - 1
		if n <= 53 {
			return math.Ldexp(1, n) - 1
		}
		return math.Nextafter(math.Ldexp(1, n), 0)
	}
	if b.Info()&types.IsUnsigned != 0 {
		return 0, below(bits), true
	}
	return -math.Ldexp(1, bits-1), below(bits - 1), true
}

// bounds gives an interval that holds an expression's value.
func (u *unit) bounds(fn *function, e ast.Expr, depth int) interval {
	if depth > tooDeep {
		return anything
	}
	if v := u.info.Types[e].Value; v != nil {
		if v = constant.ToFloat(v); v.Kind() == constant.Float {
			x, _ := constant.Float64Val(v)
			return span(x)
		}
		return anything
	}
	if lo, hi, ok := integerRange(u.info.TypeOf(e)); ok {
		return interval{lo: lo, hi: hi}
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		switch x := u.bounds(fn, e.X, depth+1); e.Op {
		case token.SUB:
			return interval{-x.hi, -x.lo, x.trusted}
		case token.ADD:
			return x
		}
	case *ast.BinaryExpr:
		return combine(e.Op, u.bounds(fn, e.X, depth+1), u.bounds(fn, e.Y, depth+1))
	case *ast.CallExpr:
		return u.boundsOfCall(fn, e, depth)
	default:
		return u.boundsOfPlace(fn, e, depth)
	}
	return anything
}

func (u *unit) boundsOfCall(fn *function, call *ast.CallExpr, depth int) interval {
	of := func(i int) interval { return u.bounds(fn, call.Args[i], depth+1) }
	if u.info.Types[ast.Unparen(call.Fun)].IsType() && len(call.Args) == 1 {
		return of(0)
	}
	obj := u.callee(call)
	if obj == nil {
		return anything
	}
	if b, ok := obj.(*types.Builtin); ok && len(call.Args) > 0 &&
		(b.Name() == "min" || b.Name() == "max") {
		out := of(0)
		for i := 1; i < len(call.Args); i++ {
			out = pick(b.Name(), out, of(i))
		}
		return out
	}
	if strings.EqualFold(obj.Name(), "clamp") && len(call.Args) == 3 {
		if lo, hi := of(1), of(2); !math.IsInf(lo.lo, 0) && !math.IsInf(hi.hi, 0) {
			return lo.union(hi)
		}
		return interval{trusted: true}
	}
	pkg := ""
	if obj.Pkg() != nil {
		pkg = obj.Pkg().Path()
	}
	if pkg != "math" && !isDet(pkg) {
		return anything
	}
	switch obj.Name() {
	case "Floor", "Ceil", "Trunc", "Round", "RoundToEven", "Canon":
		if x := of(0); x.bounded() && len(call.Args) == 1 {
			return interval{math.Floor(x.lo), math.Ceil(x.hi), x.trusted}
		}
	case "Abs":
		if x := of(0); x.bounded() {
			return interval{0, math.Max(-x.lo, x.hi), x.trusted}
		}
	case "Sqrt":
		if x := of(0); x.bounded() && x.lo >= 0 {
			r := span(math.Sqrt(x.lo), math.Sqrt(x.hi))
			r.trusted = x.trusted
			return r
		}
	case "Sin", "Cos":
		return interval{lo: -1, hi: 1}
	case "Float64", "Float32": // of a random stream
		return interval{lo: 0, hi: 1}
	case "Min", "Max":
		if len(call.Args) == 2 {
			return pick(strings.ToLower(obj.Name()), of(0), of(1))
		}
	}
	return anything
}

// pick is the interval of min or max. A NaN passes through both, which only an if or a Clamp keeps
// out; it is let pass here.
func pick(name string, a, b interval) interval {
	if a.trusted || b.trusted {
		return interval{trusted: a.bounded() && b.bounded()}
	}
	if name == "min" {
		return interval{lo: math.Min(a.lo, b.lo), hi: math.Min(a.hi, b.hi)}
	}
	return interval{lo: math.Max(a.lo, b.lo), hi: math.Max(a.hi, b.hi)}
}

// boundsOfPlace looks at the last thing a variable was given, if nothing could come between.
func (u *unit) boundsOfPlace(fn *function, e ast.Expr, depth int) interval {
	p, ok := u.placeOf(e)
	if !ok {
		return anything
	}
	if u.guarded(fn, e) {
		return interval{trusted: true}
	}
	for _, a := range slices.Backward(u.flowOf(fn).given[p.root]) {
		if a.pos > e.Pos() || a.to != p.path || a.apart(e.Pos()) {
			continue
		}
		if a.from == nil || a.path != "" || a.block == nil || !holds(a.block, e.Pos()) {
			return anything
		}
		if _, isCall := ast.Unparen(a.from).(*ast.CallExpr); a.result > 0 && isCall {
			return anything
		}
		return u.bounds(fn, a.from, depth+1)
	}
	return anything
}
