package draw_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/draw"
)

// A game draws on a surface; whoever has the list can say what it shows.
func Example() {
	var s draw.Surface
	s.Begin(1280, 720)
	s.Clear(draw.RGB(0x101418))
	s.Camera(draw.Camera{X: 32, Y: 18, Width: 64, Height: 36, Up: true})
	s.Circle(10, 20, 0.5, draw.White)
	s.Overlay()
	s.Text(s.Width()/2, 40, 32, "3 : 2", draw.White, draw.Center)

	var r draw.Reader
	var lens draw.Lens
	r.Read(s.List())
	for c := range r.Calls() {
		switch c.Op {
		case draw.OpCamera, draw.OpOverlay:
			lens = c.Lens(640, 360) // a smaller screen
		case draw.OpCircle:
			x, y := lens.At(c.N[0], c.N[1])
			fmt.Printf("a ball at pixel %.0f, %.0f\n", x, y)
		case draw.OpText:
			x, y := lens.At(c.N[0], c.N[1])
			fmt.Printf("%s at pixel %.0f, %.0f\n", c.Bytes, x, y)
		}
	}
	// Output:
	// a ball at pixel 100, 160
	// 3 : 2 at pixel 320, 20
}
