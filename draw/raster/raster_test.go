package raster_test

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
)

var update = flag.Bool("update", false, "write testdata anew")

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
	s.Picture("leaf", 1, 1, 16,
		func(s *draw.Surface) { s.Circle(0.5, 0.5, 0.5, draw.RGB(0xd8f5a2)) })
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
	s.Text(10, s.Height()-70, 14, "overlay: round trip 40 ms, 3 : 2, player 7", draw.White,
		draw.Left)
	s.Rect(10, s.Height()-40, 300, 20, draw.RGB(0x343a40))
	s.Rect(10, s.Height()-40, 210, 20, draw.RGB(0xff6b6b))
	s.Pixels(330, s.Height()-50, 100, 40, 2,
		[]byte{255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 0, 0})
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

// TestScene draws every call, and compares the means of 16 by 9 parts of the picture with those of
// one that was looked at.
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
		if missing := r.Missing(); len(missing) != 1 || missing[0] != "lost.png" {
			t.Errorf("%v are missing", missing)
		}
		keep(t, "scene"+size.String(), img)
		if size.X != 640 {
			continue
		}
		got := means(img, 16, 9)
		if *update {
			if err := os.WriteFile("testdata/scene.txt", []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/scene.txt")
		if err != nil {
			t.Fatal(err)
		}
		if !alike(got, string(want)) {
			t.Errorf("the scene is not as it was; look at it with -look DIR, and if it is good, "+
				"use -update\n%s", got)
		}
	}
}

// means are the mean colors of parts of a picture, as text.
func means(img *image.RGBA, columns, rows int) string {
	var b strings.Builder
	w, h := img.Rect.Dx()/columns, img.Rect.Dy()/rows
	for row := range rows {
		for column := range columns {
			var sum [3]int
			for i := range w * h {
				q := img.Pix[img.PixOffset(column*w+i%w, row*h+i/w):]
				for c := range sum {
					sum[c] += int(q[c])
				}
			}
			fmt.Fprintf(&b, "%02x%02x%02x ", sum[0]/(w*h), sum[1]/(w*h), sum[2]/(w*h))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// alike says whether two pictures have the same means, but for rounding.
func alike(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	return len(x) == len(y) && !slices.ContainsFunc(x, func(got string) bool {
		var m, n [3]int
		_, _ = fmt.Sscanf(got, "%2x%2x%2x", &m[0], &m[1], &m[2])
		_, _ = fmt.Sscanf(y[0], "%2x%2x%2x", &n[0], &n[1], &n[2])
		y = y[1:]
		for c := range m {
			if d := m[c] - n[c]; d < -1 || d > 1 {
				return true
			}
		}
		return false
	})
}

// drawn draws in units of pixels.
func drawn(t testing.TB, w, h int, f func(s *draw.Surface)) *image.RGBA {
	t.Helper()
	var s draw.Surface
	s.Begin(float64(w), float64(h))
	s.Camera(draw.Camera{X: float64(w) / 2, Y: float64(h) / 2, Width: float64(w),
		Height: float64(h)})
	f(&s)
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	r := raster.Raster{Images: grid}
	if err := r.Draw(img, s.Library(), s.List()); err != nil {
		t.Fatal(err)
	}
	return img
}

// TestAreas: a shape covers as much as it should, wherever its edges are.
func TestAreas(t *testing.T) {
	turned := func(x, y, angle float64, points ...float64) (out []float64) {
		sin, cos := math.Sincos(angle)
		for i := 0; i < len(points); i += 2 {
			out = append(out, x+cos*points[i]-sin*points[i+1], y+sin*points[i]+cos*points[i+1])
		}
		return out
	}
	for i := range 20 {
		x, y := 50+float64(i)*0.137, 50-float64(i)*0.091
		angle, r := float64(i)*0.3, 3+float64(i)*1.4
		for _, shape := range []struct {
			name string
			area float64
			draw func(s *draw.Surface)
		}{
			{"rect", r * 7.3, func(s *draw.Surface) { s.Rect(x, y, r, 7.3, draw.White) }},
			{"backwards", r * 7.3, func(s *draw.Surface) { s.Rect(x, y, -r, -7.3, draw.White) }},
			{"hair", 20 * 0.13, func(s *draw.Surface) { s.Rect(x, y, 20, 0.13, draw.White) }},
			{"box", r * 9.1, func(s *draw.Surface) { s.Box(x, y, r, 9.1, angle, draw.White) }},
			{"circle", math.Pi * r * r, func(s *draw.Surface) { s.Circle(x, y, r, draw.White) }},
			{"ring", math.Pi * 2 * r * 1.5,
				func(s *draw.Surface) { s.Ring(x, y, r, 1.5, draw.White) }},
			{"thin ring", math.Pi * 2 * r * 0.3,
				func(s *draw.Surface) { s.Ring(x, y, r, 0.3, draw.White) }},
			{"line", 3*r + math.Pi*2.25, func(s *draw.Surface) {
				s.Line(x, y, x+r*math.Cos(angle), y+r*math.Sin(angle), 3, draw.White)
			}},
			{"glow", math.Pi * r * r / 6, func(s *draw.Surface) { s.Glow(x, y, r, draw.White) }},
			{"triangle", 8 * r / 2, func(s *draw.Surface) {
				s.Polygon(draw.White, turned(x, y, angle, 0, 0, r, 0, 1, 8)...)
			}},
			{"twice", 144, func(s *draw.Surface) { // a square, twice around
				s.Polygon(draw.White, turned(x, y, angle, 0, 0, 12, 0, 12, 12, 0, 12,
					0, 0, 12, 0, 12, 12, 0, 12)...)
			}},
			// the inner one goes the other way
			{"ring of squares", 100 - 36, func(s *draw.Surface) {
				s.Polygon(draw.White, turned(x, y, angle, 0, 0, 10, 0, 10, 10, 0, 10, 0, 0,
					2, 2, 2, 8, 8, 8, 8, 2, 2, 2)...)
			}},
		} {
			img, sum := drawn(t, 120, 120, shape.draw), 0.0
			for j := 0; j < len(img.Pix); j += 4 {
				sum += float64(img.Pix[j]) / 255
			}
			if off := math.Abs(sum - shape.area); off > 0.03*shape.area+0.8 &&
				!(shape.name == "twice" && sum > 144 && off < 0.3*48) { // there, edges count twice
				t.Errorf("%s %d covers %.2f pixels, not %.2f", shape.name, i, sum, shape.area)
			}
		}
	}
}

// TestEdgesOfThePage: what is partly outside is drawn as far as it is inside, and what is far
// outside not at all.
func TestEdgesOfThePage(t *testing.T) {
	for _, x := range []struct {
		name string
		part float64 // of the page
		draw func(s *draw.Surface)
	}{
		{"all", 1, func(s *draw.Surface) { s.Rect(-1e9, -1e9, 2e9, 2e9, draw.White) }},
		{"all, turned", 1, func(s *draw.Surface) { s.Box(20, 20, 1e6, 1e6, 0.7, draw.White) }},
		{"all, round", 1, func(s *draw.Surface) { s.Circle(20, 20, 1e7, draw.White) }},
		{"all, a line", 1, func(s *draw.Surface) { s.Line(-1e3, -1e3, 1e3, 1e3, 1e3, draw.White) }},
		{"left half", 0.5, func(s *draw.Surface) {
			s.Polygon(draw.White, -1e6, -1e6, 20, -1e6, 20, 1e6, -1e6, 1e6)
		}},
		{"right half", 0.5, func(s *draw.Surface) {
			s.Polygon(draw.White, 20, -1e6, 1e6, -1e6, 1e6, 1e6, 20, 1e6)
		}},
		{"below", 0.5,
			func(s *draw.Surface) { s.Polygon(draw.White, -100, -60, 140, 100, -100, 100) }},
		{"above", 0.5,
			func(s *draw.Surface) { s.Polygon(draw.White, -100, -100, 140, -100, 140, 140) }},
		{"away", 0, func(s *draw.Surface) {
			s.Circle(-50, 20, 49, draw.White)
			s.Line(1e20, 0, 1e20, 40, 1, draw.White)
			s.Polygon(draw.White, 41, 0, 60, 0, 60, 40)
			s.Ring(20, 20, 1e8, 3, draw.White)
			s.Text(1e12, 20, 10, "far", draw.White, draw.Left)
			s.Text(20, 20, 1e-3, "small", draw.White, draw.Left)
			s.Image("grid.png", 20, -30, 40, 40, 0.2, draw.White)
		}},
		{"of no size", 0, func(s *draw.Surface) {
			s.Rect(20, 10, 0, 10, draw.White) // a bar of which nothing is left
			s.Rect(20, 10, 10, 0, draw.White)
			s.Rect(0, 0, 0, 40, draw.White)
			s.Box(20, 20, 0, 9, 0, draw.White)
		}},
	} {
		img, sum := drawn(t, 40, 40, x.draw), 0.0
		for j := 0; j < len(img.Pix); j += 4 {
			sum += float64(img.Pix[j]) / 255 / 1600
		}
		if math.Abs(sum-x.part) > 0.01 {
			t.Errorf("%s: %.3f of the page is drawn, not %.3f", x.name, sum, x.part)
		}
	}
}

// TestPixels looks at pixels of which one knows what they are.
func TestPixels(t *testing.T) {
	gray := draw.RGB(0x808080)
	camera := func(s *draw.Surface, up bool) {
		s.Camera(draw.Camera{X: 10, Y: 10, Width: 20, Height: 20, Up: up})
	}
	arrow := func(s *draw.Surface) { // red at the top left, green right, blue at the bottom
		s.Picture("arrow", 2, 2, 4, func(s *draw.Surface) {
			s.Rect(0, 0, 1, 1, draw.RGB(0xff0000))
			s.Rect(1, 0, 1, 1, draw.RGB(0x00ff00))
			s.Rect(0, 1, 2, 1, draw.RGB(0x0000ff))
		})
	}
	for _, x := range []struct {
		name string
		at   image.Point
		want uint32
		draw func(s *draw.Surface)
	}{
		{"nothing", image.Pt(5, 5), 0x000000, func(*draw.Surface) {}},
		{"clear", image.Pt(0, 19), 0x123456, func(s *draw.Surface) { s.Clear(draw.RGB(0x123456)) }},
		{"half", image.Pt(5, 5), 0xc04080, func(s *draw.Surface) {
			s.Clear(draw.RGB(0x804000))
			s.Rect(0, 0, 20, 20, draw.RGB(0xff40ff).Alpha(0.502))
		}},
		{"add", image.Pt(5, 5), 0xff8090, func(s *draw.Surface) {
			s.Clear(draw.RGB(0x808010))
			s.Blend(draw.Add)
			s.Rect(0, 0, 20, 20, draw.RGB(0xa00080))
		}},
		{"multiply", image.Pt(5, 5), 0x804000, func(s *draw.Surface) {
			s.Clear(draw.RGB(0x8080ff))
			s.Blend(draw.Multiply)
			s.Rect(0, 0, 20, 20, draw.RGB(0xff8000))
		}},
		{"down", image.Pt(10, 15), 0xffffff, func(s *draw.Surface) {
			camera(s, false)
			s.Rect(0, 10, 20, 10, draw.White)
		}},
		{"up", image.Pt(10, 15), 0x000000, func(s *draw.Surface) {
			camera(s, true)
			s.Rect(0, 10, 20, 10, draw.White)
		}},
		{"inside", image.Pt(12, 12), 0xffffff, func(s *draw.Surface) {
			s.Clip(10, 10, 15, 10, 15, 15, 10, 15)
			s.Clear(draw.White)
		}},
		{"outside", image.Pt(12, 16), 0x000000, func(s *draw.Surface) {
			s.Clip(10, 10, 15, 10, 15, 15, 10, 15)
			s.Clear(draw.White)
		}},
		{"a second clip", image.Pt(12, 12), 0x000000, func(s *draw.Surface) {
			s.Clip(10, 10, 15, 10, 15, 15, 10, 15)
			s.Clip(0, 0, 5, 0, 5, 5)
			s.Rect(0, 0, 20, 20, draw.White)
		}},
		{"no clip", image.Pt(12, 16), 0xffffff, func(s *draw.Surface) {
			s.Clip(10, 10, 15, 10, 15, 15, 10, 15)
			s.Clip()
			s.Rect(0, 0, 20, 20, draw.White)
		}},
		{"image", image.Pt(5, 5), 0xff0000, func(s *draw.Surface) {
			arrow(s)
			s.Image("arrow", 10, 10, 16, 16, 0, draw.White)
		}},
		{"image up", image.Pt(5, 5), 0xff0000, func(s *draw.Surface) {
			camera(s, true)
			arrow(s)
			s.Image("arrow", 10, 10, 16, 16, 0, draw.White)
		}},
		{"a quarter to the second axis", image.Pt(15, 5), 0xff0000, func(s *draw.Surface) {
			arrow(s)
			s.Image("arrow", 10, 10, 16, 16, math.Pi/2, draw.White)
		}},
		{"the same, up", image.Pt(5, 15), 0xff0000, func(s *draw.Surface) {
			camera(s, true)
			arrow(s)
			s.Image("arrow", 10, 10, 16, 16, math.Pi/2, draw.White)
		}},
		{"mirrored", image.Pt(15, 5), 0xff0000, func(s *draw.Surface) {
			arrow(s)
			s.Image("arrow", 10, 10, -16, 16, 0, draw.White)
		}},
		{"tinted", image.Pt(5, 15), 0x000040, func(s *draw.Surface) {
			arrow(s)
			s.Image("arrow", 10, 10, 16, 16, 0, gray.Alpha(0.5))
		}},
		{"the mean", image.Pt(10, 10), 0x202040, func(s *draw.Surface) {
			arrow(s)
			s.Image("arrow", 10.5, 10.5, 1, 1, 0, gray)
		}},
		{"missing", image.Pt(10, 10), 0xff00c8, func(s *draw.Surface) {
			s.Image("lost", 10.5, 10.5, 16, 16, 0, draw.White)
		}},
		{"pixels", image.Pt(15, 2), 0x800000, func(s *draw.Surface) {
			s.Pixels(0, 0, 20, 20, 2,
				[]byte{0, 0, 0, 0, 255, 0, 0, 128, 0, 0, 255, 255, 0, 255, 0, 255})
		}},
		{"pixels up", image.Pt(15, 2), 0x800000, func(s *draw.Surface) {
			camera(s, true)
			s.Pixels(0, 0, 20, 20, 2,
				[]byte{0, 0, 0, 0, 255, 0, 0, 128, 0, 0, 255, 255, 0, 255, 0, 255})
		}},
	} {
		q := drawn(t, 20, 20, x.draw)
		p := q.Pix[q.PixOffset(x.at.X, x.at.Y):]
		for c, got := range []uint8{p[0], p[1], p[2]} {
			want := int(x.want >> (16 - 8*c) & 255)
			if d := int(got) - want; d < -2 || d > 2 {
				t.Errorf("%s: %02x%02x%02x, want %06x", x.name, p[0], p[1], p[2], x.want)
				break
			}
		}
		if p[3] != 255 {
			t.Errorf("%s: the picture has a hole", x.name)
		}
	}
}

// TestNothingIsBetween: what covers a pixel in parts covers it whole, if it is one shape.
func TestNothingIsBetween(t *testing.T) {
	img := drawn(t, 40, 40, func(s *draw.Surface) {
		s.Camera(draw.Camera{X: 5, Y: 5, Width: 10.3, Height: 10.3})
		var points []float64
		for i := range 100 {
			x, y := float64(i%10), float64(i/10)
			points = append(points, x, y, x+1, y, x+1, y+1, x, y+1, x, y, 0, 0)
		}
		s.Polygon(draw.White, points...)
	})
	for y := 5; y < 35; y++ {
		for x := 5; x < 35; x++ {
			if q := img.Pix[img.PixOffset(x, y)]; q != 255 {
				t.Fatalf("pixel %d, %d is %d", x, y, q)
			}
		}
	}
}

// TestText: what is written is where it should be, and every character of Latin-1 differs from all
// others, as far as they do.
func TestText(t *testing.T) {
	box := func(f func(s *draw.Surface)) (in image.Rectangle, hash string) {
		img := drawn(t, 120, 60, f)
		var b strings.Builder
		for y := range 60 {
			for x := range 120 {
				if img.Pix[img.PixOffset(x, y)] > 40 {
					in = in.Union(image.Rect(x, y, x+1, y+1))
					fmt.Fprint(&b, x, y, " ")
				}
			}
		}
		return in, b.String()
	}
	for _, size := range []float64{8, 11, 19, 24, 40} {
		for a, want := range map[draw.Align][2]int{
			draw.Left: {60, 0}, draw.Center: {0, 0}, draw.Right: {0, 60},
		} {
			in, _ := box(func(s *draw.Surface) { s.Text(60, 30, size, "HHH", draw.White, a) })
			if want[0] > 0 && (in.Min.X < want[0]-1 || in.Min.X > want[0]+3) ||
				want[1] > 0 && (in.Max.X > want[1]+1 || in.Max.X < want[1]-3) ||
				a == draw.Center && math.Abs(float64(in.Min.X+in.Max.X)/2-60) > 1.5 {
				t.Errorf("size %v, align %v: %v", size, a, in)
			}
			if middle := float64(in.Min.Y+in.Max.Y) / 2; math.Abs(middle-30) > 1 {
				t.Errorf("size %v: from %d to %d", size, in.Min.Y, in.Max.Y)
			}
			if high := float64(in.Dy()); math.Abs(high-0.72*size) > 1.5 {
				t.Errorf("size %v: %v high", size, high)
			}
		}
	}
	same := map[string]rune{}
	for r := rune(0x21); r <= 0xff; r++ {
		if r >= 0x7f && r <= 0xa0 || r == 0xad {
			continue
		}
		in, hash := box(func(s *draw.Surface) {
			s.Text(60, 30, 30, string(r), draw.White, draw.Left)
		})
		if other, ok := same[hash]; ok && !(other == '°' && r == 'º') || in.Empty() {
			t.Errorf("%c is drawn like %c", r, other)
		}
		same[hash] = r
	}
	_, a := box(func(s *draw.Surface) { s.Text(60, 30, 30, "世", draw.White, draw.Left) })
	_, b := box(func(s *draw.Surface) { s.Text(60, 30, 30, "\a", draw.White, draw.Left) })
	if a == "" || a != b {
		t.Error("what the font does not have is not a box")
	}
}

// TestTextHook: who writes texts themselves gets them with their places, and those of pictures not.
func TestTextHook(t *testing.T) {
	var s draw.Surface
	s.Begin(100, 100)
	s.Camera(draw.Camera{X: 5, Y: 5, Width: 10, Height: 10, Up: true})
	s.Clip(0, 0, 5, 0, 5, 10, 0, 10)
	s.Picture("sign", 1, 1, 10,
		func(s *draw.Surface) { s.Text(0, 0, 1, "inner", draw.White, draw.Left) })
	s.Image("sign", 5, 5, 1, 1, 0, draw.White)
	s.Text(2, 7, 1.5, "outer", draw.Black, draw.Right)
	var got []string
	var r raster.Raster
	r.Text = func(x, y, size float64, text []byte, c draw.Color, a draw.Align) bool {
		got = append(got,
			fmt.Sprint(x, y, size, string(text), c == draw.Black, a, r.Visible(10, 50),
				r.Visible(90, 50), r.Visible(-1, 0)))
		return true
	}
	if err := r.Draw(image.NewRGBA(image.Rect(0, 0, 100, 100)), s.Library(), s.List()); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != "20 30 15outertrue 2 true false false" {
		t.Errorf("%q", got)
	}
}

// TestLibrary: pictures that refer to each other and to themselves end, those that are too large
// are made with fewer pixels, and what is wrong is said.
func TestLibrary(t *testing.T) {
	var s draw.Surface
	s.Begin(100, 100)
	for i := range 10 {
		s.Picture(fmt.Sprint("p", i), 4, 4, 100, func(s *draw.Surface) {
			s.Rect(0, 0, 4, 4, draw.White)
			s.Image(fmt.Sprint("p", (i+1)%10), 2, 2, 2, 2, 0, draw.White)
		})
	}
	s.Image("p0", 50, 50, 50, 50, 0, draw.White)
	img := image.NewRGBA(image.Rect(0, 0, 100, 100))
	r := raster.Raster{Pixels: 200 << 10}
	if err := r.Draw(img, s.Library(), s.List()); err != nil {
		t.Fatal(err)
	}
	if img.Pix[img.PixOffset(30, 30)] != 255 || img.Pix[img.PixOffset(10, 10)] != 0 {
		t.Error("the picture is not there")
	}
	for _, x := range []struct {
		library, list []byte
	}{
		{s.List(), nil}, {nil, s.Library()}, {[]byte{99}, nil}, {nil, []byte{99}},
	} {
		var r raster.Raster
		if err := r.Draw(img, x.library, x.list); err == nil {
			t.Error("nothing is said")
		}
	}
	for _, size := range []image.Rectangle{{}, image.Rect(0, 0, 1, 1), image.Rect(0, 0, 0, 9)} {
		var s draw.Surface
		s.Begin(float64(size.Dx()), float64(size.Dy()))
		scene(&s)
		r := raster.Raster{Images: grid}
		if err := r.Draw(image.NewRGBA(size), s.Library(), s.List()); err != nil {
			t.Error(err)
		}
	}
}

func TestFiles(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, grid("grid.png")); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"a.png": {Data: b.Bytes()}, "b.png": {Data: []byte("no image")},
		"c.png": {Data: b.Bytes()[:60]}}
	for _, x := range []struct {
		name  string
		most  int
		there bool
	}{{"a.png", 64, true}, {"a.png", 63, false}, {"b.png", 64, false}, {"c.png", 64, false},
		{"d.png", 64, false}, {"../x", 64, false}} {
		if got := raster.Files(files, x.most)(x.name) != nil; got != x.there {
			t.Errorf("%s with %d pixels: %v", x.name, x.most, got)
		}
	}
	if raster.Files(nil, 64)("a.png") != nil {
		t.Error("a file of no files")
	}
}

// TestNothingIsAllocated, once all has been drawn.
func TestNothingIsAllocated(t *testing.T) {
	var s draw.Surface
	s.Begin(320, 180)
	scene(&s)
	img := image.NewRGBA(image.Rect(0, 0, 320, 180))
	r := raster.Raster{Images: grid}
	if n := testing.AllocsPerRun(5, func() {
		if err := r.Draw(img, s.Library(), s.List()); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestStrangeLists draws lists and libraries with bytes changed, in many ways.
func TestStrangeLists(t *testing.T) {
	var s draw.Surface
	s.Begin(100, 58)
	scene(&s)
	random := rand.New(rand.NewPCG(1, 2))
	n := 60
	if os.Getenv("COEVAL_SOAK") != "" {
		n = 100000
	}
	img := image.NewRGBA(image.Rect(0, 0, 100, 58))
	for range n {
		library, list := bytes.Clone(s.Library()), bytes.Clone(s.List())
		for range 1 + random.IntN(6) {
			b := list
			if random.IntN(4) == 0 {
				b = library
			}
			b[random.IntN(len(b))] = byte(random.Uint32())
		}
		r := raster.Raster{Images: grid, Pixels: 1 << 14}
		_ = r.Draw(img, library, list)
	}
}

func FuzzDraw(f *testing.F) {
	var s draw.Surface
	s.Begin(100, 58)
	scene(&s)
	f.Add(s.Library(), s.List(), uint8(100), uint8(58))
	f.Add([]byte{}, []byte{9, 1, 2, 3, 4}, uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, library, list []byte, w, h uint8) {
		if len(list) > 1<<12 || len(library) > 1<<12 {
			return // it takes too long for what it tells
		}
		img := image.NewRGBA(image.Rect(0, 0, int(w)%128, int(h)%128))
		r := raster.Raster{Images: grid, Pixels: 1 << 14}
		for range 2 {
			_ = r.Draw(img, library, list)
		}
		for i := 3; i < len(img.Pix); i += 4 {
			if img.Pix[i] != 255 {
				t.Fatal("the picture has a hole")
			}
		}
	})
}

func BenchmarkScene(b *testing.B) {
	for _, size := range []image.Point{{1280, 720}, {100, 58}} {
		b.Run(size.String(), func(b *testing.B) {
			var s draw.Surface
			s.Begin(float64(size.X), float64(size.Y))
			scene(&s)
			img := image.NewRGBA(image.Rectangle{Max: size})
			r := raster.Raster{Images: grid}
			_ = r.Draw(img, s.Library(), s.List()) // pictures are made once
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Draw(img, s.Library(), s.List()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
