// Package det stands in for the toolkit's package of that name.
package det

type Vec2 struct{ X, Y float64 }

func (v Vec2) Add(w Vec2) Vec2        { return Vec2{v.X + w.X, v.Y + w.Y} }
func (v Vec2) Scale(k float64) Vec2   { return Vec2{float64(v.X * k), float64(v.Y * k)} }
func (v Vec2) Neg() Vec2              { return Vec2{-v.X, -v.Y} }
func Clamp(x, lo, hi float64) float64 { return min(max(x, lo), hi) }
func Int32(x float64) int32           { return int32(Clamp(x, -1<<31, 1<<31-1)) }
func Sin(x float64) float64           { return x }

type Rand struct{ n uint64 }

func At(seed, entity, tick uint64) Rand { return Rand{seed ^ entity ^ tick} }
func (r *Rand) Float64() float64        { r.n++; return 0.5 }
