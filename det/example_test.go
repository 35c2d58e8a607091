package det_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/det"
)

// One tick of a shell that flies, spins and scatters the same way on every machine.
func Example() {
	const dt = 1.0 / 60
	pos, vel := det.Vec3{}, det.AxisAngle(det.Vec3{Y: 1}, det.Degrees(-30)).Rotate(det.Vec3{X: 100})
	spin := det.Identity.Integrate(det.Vec3{Z: 2 * det.Pi}, dt)

	const seed, entity, tick = 42, 7, 1000
	r := det.At(seed, entity, tick)
	vel = vel.MulAdd(r.Unit3(), 0.5).MulAdd(det.Vec3{Z: -9.81}, dt)
	pos = pos.MulAdd(vel, dt)

	fmt.Printf("%.17g %.17g %.17g\n", pos.X, pos.Y, pos.Z)
	fmt.Printf("%.17g\n", spin.Z)
	fmt.Println(r.IntN(6)+1, "on the die")
	// Output:
	// 1.4438685109677476 0.0075512952321108171 0.82711841994272794
	// 0.052335956242943835
	// 5 on the die
}

// A turret turns towards its target by the shortest way, at a limited speed.
func ExampleAngle_Toward() {
	turret, target := det.Degrees(170), det.Degrees(-170)
	for range 3 {
		turret = turret.Toward(target, det.Degrees(8))
		fmt.Printf("%.0f ", turret.Degrees())
	}
	// Output: 178 -174 -170
}

// Draws do not depend on each other's order, so a client that sees few entities draws the same
// numbers for them.
func ExampleDraw() {
	const seed, tick = 1, 500
	server := [3]uint64{}
	for entity := range server {
		server[entity] = det.Draw(seed, uint64(entity), tick, 0)
	}
	fmt.Println(det.Draw(seed, 2, tick, 0) == server[2])
	// Output: true
}
