package draw_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/draw"
)

// scene makes every call once.
func scene(s *draw.Surface) {
	s.Clear(draw.RGB(0x101418))
	s.Camera(draw.Camera{X: 32, Y: 18, Width: 64, Height: 36, Up: true, Cover: true})
	s.Rect(1, 2, 3, 4, draw.White)
	s.Box(1, 2, 3, 4, 0.5, draw.White)
	s.Circle(1, 2, 3, draw.White)
	s.Ring(1, 2, 3, 0.5, draw.White)
	s.Glow(1, 2, 3, draw.White)
	s.Line(1, 2, 3, 4, 0.25, draw.White)
	s.Polygon(draw.Black, 0, 0, 1, 0, 1, 1)
	s.Picture("tree", 2, 2, 32, func(s *draw.Surface) { s.Circle(1, 1, 1, draw.RGB(0x00ff00)) })
	s.Image("tree", 5, 6, 2, 2, 0, draw.White)
	s.Image("tank.png", 5, 6, 2, 2, 1, draw.White.Alpha(0.5))
	s.Overlay()
	s.Text(10, 20, 30, "Grüße", draw.White, draw.Center)
	s.Samples("click", 8000, func() []float32 { return []float32{0, 1, -1, 2} })
	s.Sound("click", 1, -0.5)
	s.Tone(draw.Tone{Wave: draw.Square, From: 440, Seconds: 0.1}, 0.5, 0)
	s.Blend(draw.Add)
	s.Clip(0, 0, 1, 0, 1, 1)
	s.Clip()
	s.Pixels(1, 2, 3, 4, 2, make([]byte, 24))
}

// words writes the calls of a list as text.
func words(t testing.TB, list []byte) string {
	var b strings.Builder
	var r draw.Reader
	r.Read(list)
	for c := range r.Calls() {
		fmt.Fprintf(&b, "%d %08x %d %d %d %v %v %d\n", c.Op, uint32(c.Color), c.Flags, c.ID, c.Rate,
			c.N, c.Points, len(c.Bytes))
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return b.String()
}

func TestListIsReadBack(t *testing.T) {
	var s draw.Surface
	s.Begin(1280, 720)
	scene(&s)
	got := words(t, s.List()) + words(t, s.Library())
	const want = `1 101418ff 0 0 0 [0 0 0 0 0] [] 0
2 00000000 3 0 0 [32 18 64 36 0] [] 0
4 ffffffff 0 0 0 [1 2 3 4 0] [] 0
5 ffffffff 0 0 0 [1 2 3 4 0.5] [] 0
6 ffffffff 0 0 0 [1 2 3 0 0] [] 0
7 ffffffff 0 0 0 [1 2 3 0.5 0] [] 0
8 ffffffff 0 0 0 [1 2 3 0 0] [] 0
9 ffffffff 0 0 0 [1 2 3 4 0.25] [] 0
10 000000ff 0 0 0 [0 0 0 0 0] [0 0 1 0 1 1] 0
11 ffffffff 0 0 0 [5 6 2 2 0] [] 0
11 ffffff80 0 1 0 [5 6 2 2 1] [] 0
3 00000000 0 0 0 [1280 720 0 0 0] [] 0
12 ffffffff 1 0 0 [10 20 30 0 0] [] 7
13 00000000 0 2 0 [1 -0.5 0 0 0] [] 0
14 00000000 2 0 0 [440 440 0.10000000149011612 0.5 0] [] 0
15 00000000 1 0 0 [0 0 0 0 0] [] 0
16 00000000 0 0 0 [0 0 0 0 0] [0 0 1 0 1 1] 0
17 00000000 0 0 0 [0 0 0 0 0] [] 0
21 00000000 0 2 0 [1 2 3 4 0] [] 24
18 00000000 0 0 0 [0 0 0 0 0] [] 4
19 00000000 0 0 0 [2 2 32 0 0] [] 17
18 00000000 0 1 0 [0 0 0 0 0] [] 8
18 00000000 0 2 0 [0 0 0 0 0] [] 5
20 00000000 0 2 8000 [0 0 0 0 0] [] 8
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	// A second frame says nothing again that the library has.
	library := len(s.Library())
	s.Begin(1280, 720)
	scene(&s)
	if len(s.Library()) != library {
		t.Error("the library grew by a frame that is like the one before")
	}
}

// TestWhatCannotBeDrawn: bad numbers draw nothing, bad text is made readable, and too much ends.
func TestWhatCannotBeDrawn(t *testing.T) {
	var s draw.Surface
	s.Begin(640, 360)
	nan, inf := math.NaN(), math.Inf(1)
	s.Rect(nan, 0, 1, 1, draw.White)
	s.Circle(0, 0, inf, draw.White)
	s.Polygon(draw.White, 0, 0, 1, 1)          // two points
	s.Polygon(draw.White, 0, 0, 1, 1, 2, 2, 3) // half a point
	s.Polygon(draw.White, make([]float64, 2*draw.MaxPoints+2)...)
	s.Polygon(draw.White, 0, 0, 1, 1, 2, nan)
	s.Camera(draw.Camera{X: 1, Y: 1})
	s.Camera(draw.Camera{Width: nan, Height: 1})
	s.Image("x", nan, 0, 1, 1, 0, draw.White)
	s.Image("\xff", 0, 0, 1, 1, 0, draw.White)
	s.Text(0, 0, 10, "", draw.White, draw.Left)
	s.Text(0, 0, 10, "a", draw.White, 9)
	s.Blend(9)
	s.Tone(draw.Tone{Wave: 9}, 1, 0)
	s.Pixels(0, 0, 1, 1, 3, make([]byte, 16)) // a row and a third
	s.Pixels(0, 0, 1, 1, 0, nil)
	s.Pixels(0, 0, 1, 1, 1, make([]byte, 4*draw.MaxPixels+4))
	s.Pixels(0, 0, 1, nan, 1, make([]byte, 4))
	s.Picture("none", 0, 1, 1, func(*draw.Surface) { t.Error("it has no size") })
	s.Picture("vast", 1, 1, 1e9, func(*draw.Surface) { t.Error("it is too large") })
	s.Samples("mute", 1, func() []float32 { t.Error("it has no rate"); return nil })
	if len(s.List()) != 0 || s.Err() != nil {
		t.Errorf("%v, %v", words(t, s.List()), s.Err())
	}
	s.Text(0, 0, 10, "a\xffb"+strings.Repeat("ü", draw.MaxText), draw.White, draw.Left)
	words(t, s.List())
	for range draw.MaxList / 21 {
		s.Rect(0, 0, 1, 1, draw.White)
	}
	if len(s.List()) > draw.MaxList || s.Err() == nil {
		t.Errorf("a frame of %d bytes, %v", len(s.List()), s.Err())
	}
	words(t, s.List())
	if s.Begin(640, 360); s.Err() != nil {
		t.Error(s.Err())
	}
}

// TestPictureWithinAPicture: it is drawn in the one around it as nothing.
func TestPictureWithinAPicture(t *testing.T) {
	var s draw.Surface
	s.Begin(1, 1)
	s.Picture("outer", 1, 1, 1, func(s *draw.Surface) {
		s.Picture("inner", 1, 1, 1, func(*draw.Surface) { t.Error("it was drawn") })
		s.Camera(draw.Camera{X: 9, Y: 9, Width: 1, Height: 1})
	})
	if s.LastCamera().X == 9 {
		t.Error("a picture's camera is not the screen's")
	}
}

func TestCamera(t *testing.T) {
	for _, c := range []draw.Camera{
		{X: 32, Y: 18, Width: 64, Height: 36}, {X: 5, Y: -3, Width: 10, Height: 100, Up: true},
		{Width: 3, Height: 3, Cover: true}, {},
	} {
		l := c.Lens(800, 600)
		px, py := l.At(c.X, c.Y)
		if px != 400 || py != 300 {
			t.Errorf("%+v: the middle is at %v, %v", c, px, py)
		}
		x, y := l.Place(l.At(7, 11))
		if math.Abs(x-7) > 1e-9 || math.Abs(y-11) > 1e-9 {
			t.Errorf("%+v: 7, 11 became %v, %v", c, x, y)
		}
		if _, above := l.At(0, 1); c.Up && above > py+l.Y-300 && above >= l.Y {
			t.Errorf("%+v: up is down", c)
		}
	}
	fit := draw.Camera{Width: 64, Height: 36}
	if l := fit.Lens(640, 640); l.Scale != 10 {
		t.Errorf("fits at %v", l.Scale)
	}
	if fit.Cover = true; fit.Lens(640, 720).Scale != 20 {
		t.Error("does not cover")
	}
}

func TestColor(t *testing.T) {
	c := draw.RGB(0x336699)
	if c.Alpha(0.5) != 0x33669980 || c.Alpha(-1) != 0x33669900 || c.Alpha(7) != 0x336699ff {
		t.Error("alpha", c.Alpha(0.5))
	}
	if m := c.Mix(draw.White, 0.5); m != 0x99b3ccff {
		t.Errorf("mix %08x", uint32(m))
	}
	if c.Mix(draw.White, 0) != c || c.Mix(draw.White, 1) != draw.White || c.Alpha(math.NaN()) > c {
		t.Error("ends")
	}
}

func FuzzReader(f *testing.F) {
	var s draw.Surface
	s.Begin(1280, 720)
	scene(&s)
	f.Add(s.List())
	f.Add(s.Library())
	f.Add([]byte{10, 0, 0, 0, 0, 255, 255})
	f.Fuzz(func(t *testing.T, list []byte) {
		var r draw.Reader
		r.Read(list)
		n := 0
		for c := range r.Calls() {
			if n++; n > len(list) {
				t.Fatal("more calls than bytes")
			}
			if c.Op == draw.OpCamera || c.Op == draw.OpOverlay {
				if l := c.Lens(100, 100); !(l.Scale > 0) {
					t.Fatalf("%+v", l)
				}
			}
		}
		if err := r.Err(); err != nil && !errors.Is(err, draw.ErrList) {
			t.Fatal(err)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	var s draw.Surface
	b.ReportAllocs()
	for b.Loop() {
		s.Begin(1280, 720)
		s.Camera(draw.Camera{X: 32, Y: 18, Width: 64, Height: 36})
		for i := range 1000 {
			x := float64(i)
			s.Circle(x, x, 1, draw.White)
			s.Image("man", x, x, 1, 1, x, draw.White)
			s.Polygon(draw.White, x, x, x+1, x, x+1, x+1, x, x+1)
		}
	}
	b.SetBytes(int64(len(s.List())))
}

func BenchmarkRead(b *testing.B) {
	var s draw.Surface
	s.Begin(1280, 720)
	for range 100 {
		scene(&s)
	}
	var r draw.Reader
	b.ReportAllocs()
	b.SetBytes(int64(len(s.List())))
	for b.Loop() {
		r.Read(s.List())
		for c := range r.Calls() {
			_ = c
		}
	}
}
