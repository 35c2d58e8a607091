// Package fix has products that the suggested edits round.
package fix

import "example.com/world"

type Angle float64

type Ball struct {
	X, V float64
	A    Angle
	F    float32
}

func (b *Ball) Step(w *world.World, me world.ID) {
	b.X = b.X*b.X + b.V*b.V // want `\[fuse\]`
	b.A += b.A * 3          // want `Angle\(b.A \* 3\)`
	b.F = 1 - (b.F * b.F)   // want `float32`
	b.V *= 1.5 + b.X        // want `b.V = float64\(b.V \* \(1.5 \+ b.X\)\)`
	b.X += b.V
}
