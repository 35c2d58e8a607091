// Package fused has one shape of product and sum in each function. A test compares what the analyser says of each with what the compiler
// makes of it.
package fused

import (
	"example.com/det"
	"example.com/world"
)

type vec struct{ X, Y float64 }

func (v vec) add(w vec) vec            { return vec{v.X + w.X, v.Y + w.Y} }
func (v *vec) move(w vec)              { v.X += w.X; v.Y += w.Y }
func (v vec) scale(k float64) vec      { return vec{v.X * k, v.Y * k} }
func (v vec) round(k float64) vec      { return vec{float64(v.X * k), float64(v.Y * k)} }
func (v vec) only(k float64) vec       { return vec{v.X * k, v.Y} }
func (v vec) x() float64               { return v.X }
func (v vec) y() float64               { return v.Y }
func mul(x, y float64) float64         { return x * y }
func add(x, y float64) float64         { return x + y }
func two(x, y float64) (p, q float64)  { return x * y, y }
func part(x, y float64) (p, q float64) { p = x * y; q = y; return }

type ball struct{ Pos, Vel vec }
type outer struct{ ball }
type angle float64

//go:noinline
func direct(x, y, z float64) float64 { return x*y + z }

//go:noinline
func wrapped(x, y, z float64) float64 { return float64(x*y) + z }

//go:noinline
func minus(x, y, z float64) float64 { return z - x*y }

//go:noinline
func negated(x, y, z float64) float64 { return -(x * y) + z }

//go:noinline
func single(x, y, z float32) float32 { return x*y + z }

//go:noinline
func singleWrapped(x, y, z float32) float32 { return float32(x*y) + z }

//go:noinline
func named(x, y, z angle) angle { return x*y + z }

//go:noinline
func namedWrapped(x, y, z angle) angle { return angle(x*y) + z }

//go:noinline
func generic[T float64 | float32](x, y, z T) T { return x*y + z }

//go:noinline
func genericWrapped[T float64 | float32](x, y, z T) T { return T(x*y) + z }

//go:noinline
func compound(x, y, z float64) float64 { z += x * y; return z }

//go:noinline
func variable(x, y, z float64) float64 { p := x * y; return p + z }

//go:noinline
func variableWrapped(x, y, z float64) float64 { p := float64(x * y); return p + z }

//go:noinline
func overwritten(x, y, z float64) (float64, bool) { p := x * y; b := p > z; p = z; return p + x, b }

//go:noinline
func multiplied(x, y, z float64) float64 { x *= y; return x + z }

//go:noinline
func incremented(x, y float64) float64 { p := x * y; p++; return p }

//go:noinline
func field(b *ball, k float64) { b.Vel.X *= k; b.Pos.X += b.Vel.X }

//go:noinline
func otherField(b *ball, k float64) { b.Vel.X *= k; b.Pos.Y += b.Vel.Y }

//go:noinline
func embedded(o *outer, k float64) { o.Vel.X *= k; o.ball.Pos.X += o.ball.Vel.X }

//go:noinline
func pointer(p *float64, x, y, z float64) float64 { *p = x * y; return *p + z }

//go:noinline
func branch(x, y, z float64, c bool) float64 {
	p := z
	if c {
		p = x * y
	}
	return min(p, z)
}

//go:noinline
func loop(x, y, z float64) float64 {
	for range 10 {
		z += x
		x *= y
	}
	return z
}

//go:noinline
func array(x, y, z float64) float64 { a := [2]float64{x * y, 1}; return a[0] + z }

//go:noinline
func result(x, y, z float64) float64 { return mul(x, y) + z }

//go:noinline
func resultWrapped(x, y, z float64) float64 { return float64(mul(x, y)) + z }

//go:noinline
func firstResult(x, y, z float64) float64 { p, _ := two(x, y); return p + z }

//go:noinline
func otherResult(x, y, z float64) (float64, float64) { p, q := two(x, y); return q + z, p }

//go:noinline
func namedResult(x, y, z float64) float64 { p, q := part(x, y); return p + q }

//go:noinline
func argument(x, y, z float64) float64 { return add(z, x*y) }

//go:noinline
func literal(x, y, z float64) float64 {
	f := func(a, b float64) float64 { return a * b }
	return f(x, y) + z
}

//go:noinline
func methods(a, b vec, k float64) vec { return a.add(b.scale(k)) }

//go:noinline
func methodsRounded(a, b vec, k float64) vec { return a.add(b.round(k)) }

//go:noinline
func byPointer(a *vec, b vec, k float64) { a.move(b.scale(k)) }

//go:noinline
func structure(a, b vec, k float64) vec { return a.add(vec{b.X * k, b.Y * k}) }

//go:noinline
func structureVariable(a, b vec, k float64) vec { v := vec{Y: b.Y * k}; v.X = b.X; return v.add(a) }

//go:noinline
func passed(a vec, k, z float64) float64 { return a.only(k).x() + z }

//go:noinline
func passedOther(a vec, k, z float64) float64 { return a.only(k).y() + z }

//go:noinline
func toolkit(a det.Vec2, x, y float64) det.Vec2 { return a.Add(det.Vec2{X: x * y, Y: y}) }

//go:noinline
func toolkitNegated(a det.Vec2, x, y float64) det.Vec2 { return a.Add(det.Vec2{X: x * y, Y: y}.Neg()) }

//go:noinline
func toolkitScale(a, b det.Vec2, k float64) det.Vec2 { return a.Add(b.Scale(k)) }

//go:noinline
func limited(x, y, z float64) float64 { return min(x*y, 3) + z }

//go:noinline
func compared(x, y, z float64) bool { return x*y < z }

//go:noinline
func divided(x, y, z float64) float64 { return x/y + z }

//go:noinline
func whole(x, y, z int) int { return x*y + z }

//go:noinline
func complexes(x, y complex128) complex128 { return x * y }

//go:noinline
func complexSum(x, y complex128) complex128 { return x + y }

type Ball struct{ b ball }

func (b *Ball) Step(w *world.World, me world.ID) {
	x, v := b.b.Pos.X, b.b.Pos
	var d det.Vec2
	direct(x, x, x)
	wrapped(x, x, x)
	minus(x, x, x)
	negated(x, x, x)
	single(1, 2, 3)
	singleWrapped(1, 2, 3)
	named(1, 2, 3)
	namedWrapped(1, 2, 3)
	generic(x, x, x)
	genericWrapped(x, x, x)
	compound(x, x, x)
	variable(x, x, x)
	variableWrapped(x, x, x)
	overwritten(x, x, x)
	multiplied(x, x, x)
	incremented(x, x)
	field(&b.b, x)
	otherField(&b.b, x)
	embedded(&outer{}, x)
	pointer(&x, x, x, x)
	branch(x, x, x, true)
	loop(x, x, x)
	array(x, x, x)
	result(x, x, x)
	resultWrapped(x, x, x)
	firstResult(x, x, x)
	otherResult(x, x, x)
	namedResult(x, x, x)
	argument(x, x, x)
	literal(x, x, x)
	methods(v, v, x)
	methodsRounded(v, v, x)
	byPointer(&v, v, x)
	structure(v, v, x)
	structureVariable(v, v, x)
	passed(v, x, x)
	passedOther(v, x, x)
	toolkit(d, x, x)
	toolkitNegated(d, x, x)
	toolkitScale(d, d, x)
	limited(x, x, x)
	compared(x, x, x)
	divided(x, x, x)
	whole(1, 2, 3)
	complexes(1, 2)
	complexSum(1, 2)
}
