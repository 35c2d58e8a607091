package raster_test

import (
	"image"
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
)

// scene makes every call, some in several ways, at 640 by 360.
func scene(s *draw.Surface) {
	s.Clear(draw.RGB(0x101418))
	s.Camera(draw.Camera{X: 32, Y: 18, Width: 64, Height: 36, Up: true})
	s.Rect(1, 28, 8, 6, draw.RGB(0xc0504d))
	s.Rect(10.03, 28.03, 0.05, 6, draw.White)
	s.Box(16, 31, 8, 4, 0.4, draw.RGB(0x9bbb59))
	s.Circle(26, 31, 3, draw.RGB(0x4f81bd))
	s.Circle(30, 31, 0.02, draw.White)
	s.Ring(36, 31, 3, 0.5, draw.RGB(0xf79646))
	s.Glow(44, 31, 4, draw.RGB(0xffe08a))
	s.Line(50, 28, 62, 34, 1.5, draw.RGB(0x8064a2))
	s.Line(50, 34, 62, 28, 0.05, draw.White)
	s.Polygon(draw.RGB(0x6fd3ff), 5, 26, 7.3, 18.9, 1.2, 23.3, 8.8, 23.3, 2.7, 18.9)
	s.Polygon(draw.RGB(0xc78bff).Alpha(0.6), 11, 19, 18, 26, 18, 19, 11, 26)
	s.Picture("tree", 4, 4, 32, func(s *draw.Surface) {
		s.Circle(2, 1.5, 1.5, draw.RGB(0x2f9e44))
		s.Rect(1.7, 2.5, 0.6, 1.5, draw.RGB(0x7f5539))
		s.Image("leaf", 2, 1.5, 1, 1, 0, draw.White)
	})
	s.Picture("leaf", 1, 1, 16, func(s *draw.Surface) { s.Circle(0.5, 0.5, 0.5, draw.RGB(0xd8f5a2)) })
	s.Image("tree", 23, 22.5, 7, 7, 0, draw.White)
	s.Image("tree", 31, 22.5, 7, 7, 0.5, draw.RGB(0xffc078).Alpha(0.8))
	s.Image("tree", 37, 22.5, 1, 1, 0, draw.White)
	s.Image("grid.png", 42, 22.5, 6, 6, 0.2, draw.White)
	s.Image("lost.png", 51, 22.5, 6, 6, 0.1, draw.White)
	s.Blend(draw.Add)
	s.Circle(58, 24, 2.5, draw.RGB(0x800000))
	s.Circle(60, 24, 2.5, draw.RGB(0x008000))
	s.Circle(59, 22, 2.5, draw.RGB(0x0000ff))
	s.Blend(draw.Over)
	s.Rect(1, 9, 14, 8, draw.RGB(0xe9ecef))
	s.Blend(draw.Multiply)
	s.Circle(5, 13, 3, draw.RGB(0xffff00))
	s.Circle(8, 13, 3, draw.RGB(0x00ffff))
	s.Image("tree", 12, 13, 5, 5, 0, draw.White)
	s.Blend(draw.Over)
	s.Clip(16, 9, 23, 17, 30, 9, 23, 12)
	s.Rect(0, 0, 64, 36, draw.RGB(0x845ef7))
	s.Text(23, 11, 3, "clipped", draw.White, draw.Center)
	s.Clip()
	s.Text(31, 15, 2.4, "left", draw.White, draw.Left)
	s.Text(45, 15, 2.4, "middle", draw.RGB(0xffd43b), draw.Center)
	s.Text(62, 15, 2.4, "right", draw.RGB(0x69db7c), draw.Right)
	s.Text(31, 11, 4, "Grüße 世", draw.White.Alpha(0.7), draw.Left)
	s.Overlay()
	s.Text(10, s.Height()-70, 14, "overlay: round trip 40 ms, 3 : 2, player 7", draw.White, draw.Left)
	s.Rect(10, s.Height()-40, 300, 20, draw.RGB(0x343a40))
	s.Rect(10, s.Height()-40, 210, 20, draw.RGB(0xff6b6b))
	s.Tone(draw.Tone{Wave: draw.Square, From: 440, Seconds: 0.1}, 0.5, 0)
}

// grid is a file of the scene.
func grid(name string) image.Image {
	if name != "grid.png" {
		return nil
	}
	img := image.NewNRGBA(image.Rect(3, 4, 11, 12))
	for i := range 64 {
		c := [4]uint8{255, 255, 255, 255}
		if (i+i/8)%2 == 0 {
			c = [4]uint8{0, 80, 200, 255}
		}
		copy(img.Pix[4*i:], c[:])
	}
	return img
}

func TestScene(t *testing.T) {
	for _, size := range []image.Point{{640, 360}, {1280, 720}, {100, 58}, {320, 400}} {
		var s draw.Surface
		s.Begin(float64(size.X), float64(size.Y))
		scene(&s)
		img := image.NewRGBA(image.Rectangle{Max: size})
		r := raster.Raster{Images: grid}
		if err := r.Draw(img, s.Library(), s.List()); err != nil {
			t.Fatal(err)
		}
		keep(t, "scene"+size.String(), img)
	}
}

func BenchmarkScene(b *testing.B) {
	for _, size := range []image.Point{{1280, 720}, {100, 58}} {
		b.Run(size.String(), func(b *testing.B) {
			var s draw.Surface
			s.Begin(float64(size.X), float64(size.Y))
			scene(&s)
			img := image.NewRGBA(image.Rectangle{Max: size})
			r := raster.Raster{Images: grid}
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Draw(img, s.Library(), s.List()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
