package client

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
)

// How much of the map the screen shows, in units, and how much nearer to the viewer the tops of
// walls are.
const (
	viewWidth, viewHeight = 32.0, 18.0
	rise                  = 1.085
)

// A lens turns places on the map into places on the screen, in units of its overlay.
type lens struct {
	eye   det.Vec2 // what is in the middle
	scale float64  // units of the screen for one of the map
	w, h  float64  // of the screen
}

func newLens(eye det.Vec2, w, h float64) lens {
	return lens{eye, max(w/viewWidth, h/viewHeight), w, h}
}

// camera is the same for a surface.
func (l *lens) camera() draw.Camera {
	return draw.Camera{X: l.eye.X, Y: l.eye.Y, Width: viewWidth, Height: viewHeight, Cover: true}
}

func (l *lens) at(p det.Vec2) (x, y float64) {
	return (p.X-l.eye.X)*l.scale + l.w/2, (p.Y-l.eye.Y)*l.scale + l.h/2
}

// half is how far from the middle the screen shows the map.
func (l *lens) half() det.Vec2 { return det.Vec2{X: l.w / l.scale / 2, Y: l.h / l.scale / 2} }

// up is where on the ground a place is seen that is as high above it as a part of a wall: 1 is its
// top.
func (l *lens) up(p det.Vec2, part float64) det.Vec2 {
	return l.eye.MulAdd(p.Sub(l.eye), 1+(rise-1)*part)
}

// top is where a place is seen that is as high as a wall.
func (l *lens) top(p det.Vec2) det.Vec2 { return l.eye.MulAdd(p.Sub(l.eye), rise) }

// cells is the part of the map that may be on the screen, with a margin.
func (l *lens) cells(margin float64, width, height int) (x0, y0, x1, y1 int) {
	h := l.half()
	return max(0, int(math.Floor(l.eye.X-h.X-margin))), max(0, int(math.Floor(l.eye.Y-h.Y-margin))),
		min(width, int(math.Ceil(l.eye.X+h.X+margin))),
		min(height, int(math.Ceil(l.eye.Y+h.Y+margin)))
}

// shows says whether something so large at a place may be on the screen.
func (l *lens) shows(p det.Vec2, radius float64) bool {
	h := l.half()
	return math.Abs(p.X-l.eye.X) < h.X+radius && math.Abs(p.Y-l.eye.Y) < h.Y+radius
}
