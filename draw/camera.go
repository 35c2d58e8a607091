package draw

import "math"

// A Camera says which part of the game is on the screen.
type Camera struct {
	// X and Y are in the middle of the screen.
	X, Y float64
	// Width and Height are the rectangle around it that is shown, as large as fits. Around it the
	// screen shows what else there is.
	Width, Height float64
	// Up has the second axis point up. Without, it points down, as on a screen.
	Up bool
	// Cover fills the screen with the rectangle, so that a part of it may be outside.
	Cover bool
}

// A Lens turns places of the game into places of a screen in pixels, and back.
type Lens struct {
	Scale, ScaleY float64 // pixels a unit, along each axis; ScaleY is negative where y points up
	X, Y          float64 // pixels of the game's origin
}

// Lens is how a screen of a size in pixels shows what the camera sees.
func (c *Camera) Lens(width, height float64) Lens {
	sx, sy := width/c.Width, height/c.Height
	scale := min(sx, sy)
	if c.Cover {
		scale = max(sx, sy)
	}
	if !(scale > 0) || math.IsInf(scale, 1) {
		scale = 1
	}
	l := Lens{Scale: scale, ScaleY: scale}
	if c.Up {
		l.ScaleY = -scale
	}
	l.X, l.Y = width/2-c.X*l.Scale, height/2-c.Y*l.ScaleY
	return l
}

// overlay is how a screen shows a list's overlay, which was drawn for another size.
func overlay(w, h, width, height float64) Lens {
	scale := min(width/w, height/h)
	if !(scale > 0) || math.IsInf(scale, 1) {
		scale = 1
	}
	return Lens{Scale: scale, ScaleY: scale, X: (width - w*scale) / 2, Y: (height - h*scale) / 2}
}

// At is where a place is on the screen.
func (l *Lens) At(x, y float64) (px, py float64) { return l.X + x*l.Scale, l.Y + y*l.ScaleY }

// Place is what is at a pixel of the screen.
func (l *Lens) Place(px, py float64) (x, y float64) {
	return (px - l.X) / l.Scale, (py - l.Y) / l.ScaleY
}
