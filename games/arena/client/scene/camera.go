package scene

import (
	"math"

	"github.com/coeval-dev/coeval/det"
)

// A Camera looks down at a place. It stands exactly above the player, so that what one does is seen
// in the same frame, and leans towards where one aims, smoothly.
type Camera struct {
	Pos    det.Vec2 // what is in the middle of the picture
	target det.Vec2
	lean   det.Vec2
	trauma float64
	shake  det.Vec2
	time   float64
	placed bool
}

const (
	leanFar   = 2.5  // units that the camera leans at most
	leanSpeed = 6.0  // of what is missing, a second
	catchUp   = 7.0  // the same, for a camera without a player to stand above
	calm      = 1.6  // trauma that goes away in a second
	shakeFar  = 0.55 // units that the picture is thrown at most
)

// Stand puts the camera above a player who looks in a direction: a vector of length one for the
// edge of the screen.
func (c *Camera) Stand(at, look det.Vec2, dt float64) {
	c.target, c.placed = at, true
	want := look.ClampLen(1).Mul(leanFar)
	c.lean = c.lean.Lerp(want, 1-math.Exp(-leanSpeed*dt))
	c.calm(dt)
	c.Pos = at.Add(c.lean).Add(c.shake)
}

// Drift moves the camera to a place in its own time: when one is dead, or watches.
func (c *Camera) Drift(to det.Vec2, dt float64) {
	if !c.placed {
		c.target, c.placed = to, true
	}
	c.target = c.target.Lerp(to, 1-math.Exp(-catchUp*dt))
	c.lean = c.lean.Lerp(det.Vec2{}, 1-math.Exp(-leanSpeed*dt))
	c.calm(dt)
	c.Pos = c.target.Add(c.lean).Add(c.shake)
}

// Keep holds the camera above the map, so that little is wasted on what lies outside: view is how
// much of the map the screen shows.
func (c *Camera) Keep(width, height float64, view det.Vec2) {
	c.Pos.X, c.Pos.Y = keep(c.Pos.X, width, view.X), keep(c.Pos.Y, height, view.Y)
}

// margin is how many units of what lies outside are shown at most.
const margin = 2.5

func keep(x, size, view float64) float64 {
	if low, high := view/2-margin, size-view/2+margin; low < high {
		return min(max(x, low), high)
	}
	return size / 2
}

// Jump forgets where the camera was: the player has appeared somewhere else.
func (c *Camera) Jump() { c.lean, c.placed = det.Vec2{}, false }

// Shake throws the picture about, from 0 to 1; several blows add up.
func (c *Camera) Shake(by float64) { c.trauma = min(1, c.trauma+max(0, by)) }

func (c *Camera) calm(dt float64) {
	c.time += dt
	c.trauma = max(0, c.trauma-calm*dt)
	// The square makes small blows gentle. Sums of sines are smoother than dice, and the same at
	// any frame rate.
	k := c.trauma * c.trauma * shakeFar
	c.shake = det.Vec2{
		X: k * (0.6*math.Sin(c.time*61) + 0.4*math.Sin(c.time*97+1)),
		Y: k * (0.6*math.Sin(c.time*67+2) + 0.4*math.Sin(c.time*89+3)),
	}
}
