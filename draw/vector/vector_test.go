package vector_test

import (
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/vector"
)

// everything draws each call there is.
func everything(s *draw.Surface) {
	s.Clear(draw.RGB(0x101418))
	s.Camera(draw.Camera{X: 8, Y: 4.5, Width: 16, Height: 9, Up: true})
	s.Rect(1, 1, -2, 3, draw.RGB(0xff0000))
	s.Box(4, 4, 2, 1, 0.5, draw.RGB(0x00ff00).Alpha(0.5))
	s.Circle(8, 4, 1, draw.RGB(0x0000ff))
	s.Ring(8, 4, 2, 0.2, draw.White)
	s.Blend(draw.Add)
	s.Glow(12, 4, 2, draw.RGB(0xffc078))
	s.Blend(draw.Multiply)
	s.Line(0, 0, 16, 9, 0.1, draw.White)
	s.Blend(draw.Over)
	s.Clip(0, 0, 8, 0, 8, 9)
	s.Polygon(draw.RGB(0x888888), 1, 1, 2, 1, 2, 2)
	s.Picture("tree", 4, 4, 24, func(s *draw.Surface) { s.Circle(2, 2, 2, draw.RGB(0x2f9e44)) })
	s.Image("tree", 3, 3, 2, 2, 0.3, draw.RGB(0xffc078).Alpha(0.7))
	s.Clip()
	s.Image("dot.png", 5, 5, -1, 1, 0, draw.White)
	s.Image("lost.png", 6, 6, 1, 1, 0, draw.White)
	s.Pixels(9, 5, 2, 2, 1, []byte{255, 0, 0, 255, 0, 255, 0, 128})
	s.Overlay()
	s.Text(s.Width()/2, 40, 32, `3 < 4 & "five"`, draw.White, draw.Center)
	s.Tone(draw.Tone{From: 440, To: 220, Seconds: 0.1}, 1, 0)
	s.Circle(1, 1, 1, draw.White.Alpha(0)) // nothing at all
}

func dot(name string) image.Image {
	if name != "dot.png" {
		return nil
	}
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.White)
	return img
}

var (
	names      = regexp.MustCompile(`id="([^"]+)"`)
	references = regexp.MustCompile(`(?:url\(#|href="#)([^)"]+)`)
)

// wellFormed reads a page as XML, and finds what refers to nothing.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, page)
		}
	}
	there := map[string]bool{}
	for _, m := range names.FindAllStringSubmatch(page, -1) {
		if there[m[1]] {
			t.Errorf("%s is there twice", m[1])
		}
		there[m[1]] = true
	}
	for _, m := range references.FindAllStringSubmatch(page, -1) {
		if !there[m[1]] {
			t.Errorf("something refers to %s, which is not there", m[1])
		}
	}
}

// TestEveryCall: each call becomes something, and all of it is well-formed.
func TestEveryCall(t *testing.T) {
	var s draw.Surface
	s.Begin(480, 270)
	everything(&s)
	sheet := vector.Sheet{Width: 480, Height: 270, Images: dot}
	screen := sheet.Screen()
	f, err := screen.Frame(s.Library(), s.List())
	if err != nil {
		t.Fatal(err)
	}
	page := "<div>" + sheet.Defs() + sheet.SVG(f) + "</div>"
	wellFormed(t, page)
	for _, want := range []string{`viewBox="0 0 480 270"`, `matrix(30 0 0 -30 0 270)`,
		`<rect x="-1" y="1" width="2" height="3" fill="#ff0000"/>`, `fill-opacity="0.5`,
		`<circle cx="8" cy="4" r="1" fill="#0000ff"/>`, `plus-lighter`, `mix-blend-mode:multiply`,
		`<clipPath`, `<symbol`, `feColorMatrix`, `data:image/png;base64,`, `scale(1 -1)`,
		`3 &lt; 4 &amp; &#34;five&#34;`, `#400032`} {
		if !strings.Contains(page, want) {
			t.Errorf("it has no %q", want)
		}
	}
	if n := strings.Count(page, "<circle"); n != 4 { // one of them in the picture, one a glow
		t.Errorf("there are %d circles in it", n)
	}
	if m := screen.Missing(); len(m) != 1 || m[0] != "lost.png" {
		t.Errorf("missing are %v", m)
	}
}

// TestPiecesAreShared: what stands still is in the page once, however the camera moves, and another
// surface shares it.
func TestPiecesAreShared(t *testing.T) {
	sheet := vector.Sheet{Width: 480, Height: 270}
	var before int
	for range 2 {
		var s draw.Surface
		screen := sheet.Screen()
		for i := range 20 {
			s.Begin(480, 270)
			s.Clear(draw.Black)
			s.Camera(draw.Camera{X: float64(i), Y: 4, Width: 16, Height: 9})
			for k := range 50 {
				s.Circle(float64(k), 3, 0.5, draw.White)
			}
			if _, err := screen.Frame(s.Library(), s.List()); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(sheet.Pieces()); before == 0 {
			before = n
			if n != 1+20+50+1 { // the ground, cameras, circles, the end of a group
				t.Errorf("20 frames are made of %d pieces", n)
			}
		} else if n != before {
			t.Errorf("a second surface has added %d pieces", n-before)
		}
	}
}

// TestLoops: squares that are one shape, with a way there and back, are drawn each by itself, and
// other shapes that come back to where they began are what they are.
func TestLoops(t *testing.T) {
	for _, x := range []struct {
		want   string
		points []float64
	}{
		{"M1 0L1 1L0 1L0 0ZM5 5L6 5L6 6L5 6Z",
			[]float64{0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 5, 5, 6, 5, 6, 6, 5, 6, 5, 5, 0, 0}},
		{"M1 0L1 1L0 0ZM-1 0L-1 -1L0 0Z", []float64{0, 0, 1, 0, 1, 1, 0, 0, -1, 0, -1, -1}},
		{"M1 0L1 1L0 0Z", []float64{0, 0, 1, 0, 1, 0, 1, 1}},
	} {
		var s draw.Surface
		s.Begin(480, 270)
		s.Camera(draw.Camera{Width: 16, Height: 9})
		s.Polygon(draw.White, x.points...)
		sheet := vector.Sheet{Width: 480, Height: 270}
		f, err := sheet.Screen().Frame(s.Library(), s.List())
		if err != nil || !strings.Contains(sheet.SVG(f), `"`+x.want+`"`) {
			t.Errorf("%v: %v, want %s in %s", x.points, err, x.want, sheet.SVG(f))
		}
	}
}

// TestFull: frames that are too much are an error that says so.
func TestFull(t *testing.T) {
	sheet := vector.Sheet{Width: 480, Height: 270, Most: 2000}
	screen := sheet.Screen()
	var s draw.Surface
	for i := range 100 {
		s.Begin(480, 270)
		s.Circle(float64(i), 3, 0.5, draw.White)
		if _, err := screen.Frame(s.Library(), s.List()); err != nil {
			if !errors.Is(err, vector.ErrFull) {
				t.Error(err)
			}
			return
		}
	}
	t.Error("it never was too much")
}

// FuzzFrame: whatever a list is, what comes of it is well-formed.
func FuzzFrame(f *testing.F) {
	var s draw.Surface
	s.Begin(480, 270)
	everything(&s)
	f.Add(s.Library(), s.List())
	f.Add(s.Library()[:len(s.Library())/2], s.List()[:len(s.List())/2])
	f.Add([]byte{}, []byte{6, 255, 255, 217, 64})
	f.Fuzz(func(t *testing.T, library, list []byte) {
		sheet := vector.Sheet{Width: 480, Height: 270, Most: 1 << 20}
		frame, _ := sheet.Screen().Frame(library, list)
		wellFormed(t, "<div>"+sheet.Defs()+sheet.SVG(frame)+"</div>")
		if strings.Contains(sheet.Inner(frame), "NaN") {
			t.Error("a number that is none")
		}
	})
}
