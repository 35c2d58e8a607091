package raster_test

import (
	"fmt"
	"image"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
)

// A frame becomes a picture, of which a test can say what it shows.
func Example() {
	var s draw.Surface
	s.Begin(64, 36)
	s.Clear(draw.RGB(0x101418))
	s.Camera(draw.Camera{X: 32, Y: 18, Width: 64, Height: 36, Up: true})
	s.Circle(10, 30, 3, draw.RGB(0x40d9ff))
	s.Image("tank.png", 50, 10, 4, 4, 0, draw.White)

	var r raster.Raster
	picture := image.NewRGBA(image.Rect(0, 0, 64, 36))
	if err := r.Draw(picture, s.Library(), s.List()); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%x\n", picture.RGBAAt(10, 6).B)
	fmt.Println(r.Missing())
	// Output:
	// ff
	// [tank.png]
}
