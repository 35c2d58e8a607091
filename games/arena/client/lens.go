//go:build (js && wasm) || desktop

package client

import (
	"math"

	"github.com/coeval-dev/coeval/det"
)

// How much of the map the screen shows, in units, and how much nearer to the viewer the tops of
// walls are.
const (
	viewWidth, viewHeight = 32.0, 18.0
	rise                  = 1.085
)

// A lens turns places on the map into places on the screen.
type lens struct {
	eye   det.Vec2 // what is in the middle
	scale float64  // pixels a unit
	w, h  float64  // of the screen, in pixels
}

func newLens(eye det.Vec2, w, h float64) lens {
	return lens{eye, max(w/viewWidth, h/viewHeight), w, h}
}

func (l *lens) at(p det.Vec2) (x, y float64) {
	return (p.X-l.eye.X)*l.scale + l.w/2, (p.Y-l.eye.Y)*l.scale + l.h/2
}

func (l *lens) point(p det.Vec2) point {
	x, y := l.at(p)
	return point{float32(x), float32(y)}
}

// top is where a place is seen that is as high as a wall.
func (l *lens) top(p det.Vec2) point {
	return point{
		float32((p.X-l.eye.X)*l.scale*rise + l.w/2), float32((p.Y-l.eye.Y)*l.scale*rise + l.h/2)}
}

// cells is the part of the map that may be on the screen, with a margin.
func (l *lens) cells(margin float64, width, height int) (x0, y0, x1, y1 int) {
	hw, hh := l.w/l.scale/2+margin, l.h/l.scale/2+margin
	return max(0, int(math.Floor(l.eye.X-hw))), max(0, int(math.Floor(l.eye.Y-hh))),
		min(width, int(math.Ceil(l.eye.X+hw))), min(height, int(math.Ceil(l.eye.Y+hh)))
}

// shows says whether something so large at a place may be on the screen.
func (l *lens) shows(p det.Vec2, radius float64) bool {
	return math.Abs(p.X-l.eye.X) < l.w/l.scale/2+radius && math.Abs(p.Y-l.eye.Y) < l.h/l.scale/2+
		radius
}
