package raster_test

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
)

// TestTheDocsShowTheCalls draws the picture of docs/drawing.md, and compares it with the file. With
// -update it writes the file.
func TestTheDocsShowTheCalls(t *testing.T) {
	const columns, rows, w, h = 4, 4, 240, 150
	var s draw.Surface
	s.Begin(columns*w, rows*h)
	for i, c := range sheet {
		x, y := float64(i%columns*w), float64(i/columns*h)
		look := func() { // the middle of a part of the picture is the origin
			s.Camera(draw.Camera{X: columns*w/2 - x - w/2, Y: rows*h/2 - y - h/2 + 10,
				Width: columns * w, Height: rows * h})
		}
		look()
		back := draw.RGB(0x151b24)
		if (i+i/columns)%2 == 0 {
			back = draw.RGB(0x1a212c)
		}
		s.Rect(-w/2, -h/2+10, w, h, back)
		c.draw(&s)
		s.Blend(draw.Over)
		s.Clip()
		look()
		s.Text(0, 50, 15, c.name, draw.RGB(0xaebdcc), draw.Center)
	}
	img := image.NewRGBA(image.Rect(0, 0, columns*w, rows*h))
	r := raster.Raster{Images: grid}
	if err := r.Draw(img, s.Library(), s.List()); err != nil {
		t.Fatal(err)
	}
	keep(t, "docs", img)
	const name = "../../docs/drawing.png"
	if *update {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		e := png.Encoder{CompressionLevel: png.BestCompression}
		if err := e.Encode(f, coarse(img)); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	was, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	there := image.NewRGBA(was.Bounds())
	for y := range there.Rect.Dy() {
		for x := range there.Rect.Dx() {
			there.Set(x, y, was.At(x, y))
		}
	}
	if !alike(means(coarse(img), 32, 20), means(there, 32, 20)) {
		t.Error("the picture of docs/drawing.md is another: look at it with -look DIR, and use " +
			"-update")
	}
}

// coarse leaves fewer colors, which makes a small file.
func coarse(img *image.RGBA) *image.RGBA {
	out := image.NewRGBA(img.Rect)
	for i, x := range img.Pix {
		out.Pix[i] = uint8(min(255, (int(x)+2)/5*5))
		if i%4 == 3 {
			out.Pix[i] = 255
		}
	}
	out.Set(0, 0, color.RGBA{out.Pix[0], out.Pix[1], out.Pix[2], 255})
	return out
}

var (
	red, green, blue = draw.RGB(0xff6b6b), draw.RGB(0x69db7c), draw.RGB(0x4dabf7)
	amber            = draw.RGB(0xffc078)
)

// sheet is each call, around the origin, in pixels.
var sheet = []struct {
	name string
	draw func(s *draw.Surface)
}{
	{"Rect", func(s *draw.Surface) { s.Rect(-50, -30, 100, 50, red) }},
	{"Box", func(s *draw.Surface) { s.Box(0, -5, 90, 45, 0.4, green) }},
	{"Circle", func(s *draw.Surface) { s.Circle(0, -5, 36, blue) }},
	{"Ring", func(s *draw.Surface) { s.Ring(0, -5, 32, 7, amber) }},
	{"Glow", func(s *draw.Surface) { s.Glow(0, -5, 55, amber) }},
	{"Line", func(s *draw.Surface) {
		s.Line(-50, 20, 50, -30, 10, blue)
		s.Line(-50, -30, 50, 20, 1.5, draw.White)
	}},
	{"Polygon", func(s *draw.Surface) {
		var points []float64
		for i := range 5 {
			sin, cos := math.Sincos(float64(i)*4*math.Pi/5 - math.Pi/2)
			points = append(points, 42*cos, 42*sin-2)
		}
		s.Polygon(red, points...)
	}},
	{"Picture, Image", func(s *draw.Surface) {
		s.Picture("tree", 4, 4, 24, func(s *draw.Surface) {
			s.Rect(1.7, 2.2, 0.6, 1.8, draw.RGB(0x8d6748))
			s.Circle(2, 1.4, 1.4, draw.RGB(0x2f9e44))
			s.Circle(1.6, 1.1, 0.5, draw.RGB(0x51cf66))
		})
		s.Image("tree", -50, -5, 70, 70, 0, draw.White)
		s.Image("tree", 20, -5, 70, 70, 0.5, amber)
		s.Image("tree", 75, 10, 30, 30, 0, draw.White)
	}},
	{"Image, missing",
		func(s *draw.Surface) { s.Image("lost.png", 0, -5, 90, 60, 0.1, draw.White) }},
	{"Pixels", func(s *draw.Surface) {
		var light []byte
		for i := range 64 {
			x, y := float64(i%8)-3.5, float64(i/8)-3.5
			a := uint8(255 * max(0, 1-math.Hypot(x+math.Sin(y), y)/4.5))
			light = append(light, 255, 230, 150, a)
		}
		s.Pixels(-70, -45, 140, 80, 8, light)
	}},
	{"Text", func(s *draw.Surface) {
		s.Text(0, -25, 34, "Grüße 3:2", draw.White, draw.Center)
		s.Text(-100, 10, 10, "Left, of size 10", green, draw.Left)
		s.Text(100, 10, 16, "Right, 16", amber, draw.Right)
	}},
	{"Alpha", func(s *draw.Surface) {
		s.Rect(-60, -30, 120, 18, draw.White)
		for i := range 5 {
			s.Rect(-60+float64(i)*25, -40, 20, 60, red.Alpha(float64(i+1)/5))
		}
	}},
	{"Blend(Over)", func(s *draw.Surface) { circles(s) }},
	{"Blend(Add)", func(s *draw.Surface) {
		s.Blend(draw.Add)
		circles(s)
	}},
	{"Blend(Multiply)", func(s *draw.Surface) {
		s.Rect(-65, -48, 130, 86, draw.RGB(0xf1f3f5))
		s.Blend(draw.Multiply)
		circles(s)
	}},
	{"Clip", func(s *draw.Surface) {
		s.Clip(-70, 30, 0, -50, 70, 30, 0, 5)
		for i := range 14 {
			s.Rect(-70+float64(i)*10, -60, 5, 100, blue)
		}
		s.Circle(0, -10, 22, amber)
	}},
}

func circles(s *draw.Surface) {
	s.Circle(-16, -18, 24, draw.RGB(0xe03131))
	s.Circle(16, -18, 24, draw.RGB(0x2f9e44))
	s.Circle(0, 8, 24, draw.RGB(0x1971c2))
}
