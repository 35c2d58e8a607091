package draw

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
)

// A Surface is what a game draws a frame on. Its zero value is ready; a screen calls Begin before
// each frame, and replays List.
//
// Calls with numbers that are not finite draw nothing. A frame that grows beyond MaxList ends
// there; Err says so.
type Surface struct {
	list    []byte
	library library
	camera  Camera
	width   float64 // of the overlay
	height  float64
	full    bool
	depth   int // of pictures within pictures
}

// Limits of what is drawn.
const (
	MaxList    = 4 << 20 // bytes of one frame
	MaxLibrary = 64 << 20
	MaxPoints  = 4096 // of a polygon
	MaxText    = 1024 // bytes of one text
	MaxPixels  = 512  // columns of what Pixels draws, or rows
)

// Begin empties the surface for a frame on a screen of so many pixels, each of which is one of the
// page's own where a display has several.
func (s *Surface) Begin(width, height float64) {
	s.list, s.full, s.depth = s.list[:0], false, 0
	unit := math.Max(leastUnit, math.Min(height/720, width/960))
	s.width, s.height = math.Max(1, width/unit), math.Max(1, height/unit)
	s.camera = Camera{X: s.width / 2, Y: s.height / 2, Width: s.width, Height: s.height}
}

// leastUnit keeps what is written large enough to be read, however small the screen.
const leastUnit = 0.55

// List is the frame, until the next Begin.
func (s *Surface) List() []byte { return s.list }

// Width and Height are the size of the screen in units of the overlay.
func (s *Surface) Width() float64 { return s.width }

// Height is the height of the screen in units of the overlay.
func (s *Surface) Height() float64 { return s.height }

// LastCamera is the one that was set last, by which a pointer on the screen is somewhere in the
// game.
func (s *Surface) LastCamera() Camera { return s.camera }

// Clear fills the screen.
func (s *Surface) Clear(c Color) { s.call(OpClear, c) }

// Camera has what follows drawn in the game's own units.
func (s *Surface) Camera(c Camera) {
	if !(c.Width > 0 && c.Height > 0) {
		return
	}
	flags := byte(0)
	if c.Up {
		flags |= cameraUp
	}
	if c.Cover {
		flags |= cameraCover
	}
	if s.numbers(OpCamera, flags, c.X, c.Y, c.Width, c.Height) && s.depth == 0 {
		s.camera = c
	}
}

// Overlay has what follows drawn in units of the screen, from its top left.
func (s *Surface) Overlay() {
	if s.room(9) {
		s.list = append(s.list, byte(OpOverlay))
		s.floats(s.width, s.height)
	}
}

// Zoom is Overlay with units that are some times as large, so that as many fewer fit on the screen:
// for what must be read on a small one.
func (s *Surface) Zoom(times float64) {
	if times > 0 && finite(s.width/times, s.height/times) && s.room(9) {
		s.list = append(s.list, byte(OpOverlay))
		s.floats(s.width/times, s.height/times)
	}
}

// Rect fills a rectangle from a corner.
func (s *Surface) Rect(x, y, w, h float64, c Color) { s.call(OpRect, c, x, y, w, h) }

// Box fills a rectangle around its middle, turned by an angle.
func (s *Surface) Box(x, y, w, h, angle float64, c Color) { s.call(OpBox, c, x, y, w, h, angle) }

// Circle fills a circle.
func (s *Surface) Circle(x, y, radius float64, c Color) { s.call(OpCircle, c, x, y, radius) }

// Ring draws the line of a circle.
func (s *Surface) Ring(x, y, radius, width float64, c Color) {
	s.call(OpRing, c, x, y, radius, width)
}

// Glow draws light that is strongest in the middle and nothing at the radius.
func (s *Surface) Glow(x, y, radius float64, c Color) { s.call(OpGlow, c, x, y, radius) }

// Line draws a straight line, with round ends.
func (s *Surface) Line(x0, y0, x1, y1, width float64, c Color) {
	s.call(OpLine, c, x0, y0, x1, y1, width)
}

// Polygon fills the shape between points, given as x and y in turn. Where its lines cross, what is
// inside is by the rule of winding.
func (s *Surface) Polygon(c Color, points ...float64) {
	if len(points) >= 6 && s.points(OpPolygon, points, 4) {
		s.color(c)
		s.outline(points)
	}
}

// Image draws an image around its middle, turned by an angle and multiplied by a color. It is a
// file of the title's Assets, or a Picture.
func (s *Surface) Image(name string, x, y, w, h, angle float64, tint Color) {
	if id, ok := s.library.name(name); ok && finite(x, y, w, h, angle) && s.room(27) {
		s.list = append(s.list, byte(OpImage))
		s.color(tint)
		s.list = binary.LittleEndian.AppendUint16(s.list, id)
		s.floats(x, y, w, h, angle)
	}
}

// Pixels draws a small image that may be another one in each frame, such as light, fog or a map of
// heat: rows of so many columns from the top left, of red, green, blue and opacity for each pixel.
// It is spread smoothly over a rectangle from a corner. One that stays as it is belongs in a
// Picture.
func (s *Surface) Pixels(x, y, w, h float64, columns int, rgba []byte) {
	if pixels(columns, len(rgba)) && finite(x, y, w, h) && s.room(23+len(rgba)) {
		s.list = append(s.list, byte(OpPixels))
		s.list = binary.LittleEndian.AppendUint16(s.list, uint16(columns))
		s.floats(x, y, w, h)
		s.list = binary.LittleEndian.AppendUint32(s.list, uint32(len(rgba)))
		s.list = append(s.list, rgba...)
	}
}

// pixels says whether so many bytes fill rows of so many columns.
func pixels(columns, bytes int) bool {
	return columns > 0 && columns <= MaxPixels && bytes > 0 && bytes%(4*columns) == 0 &&
		bytes/(4*columns) <= MaxPixels
}

// Align says where a text stands.
type Align uint8

// A text begins at its place, has it in the middle, or ends there.
const (
	Left Align = iota
	Center
	Right
)

// Text writes a line of a height, whose middle is at y. It stands upright whatever the camera does.
func (s *Surface) Text(x, y, size float64, text string, c Color, a Align) {
	text = readable(text)
	if text != "" && a <= Right && finite(x, y, size) && s.room(20+len(text)) {
		s.list = append(s.list, byte(OpText))
		s.color(c)
		s.list = append(s.list, byte(a))
		s.floats(x, y, size)
		s.list = binary.LittleEndian.AppendUint16(s.list, uint16(len(text)))
		s.list = append(s.list, text...)
	}
}

// readable is a text that fits, and that is one.
func readable(text string) string {
	if len(text) > MaxText || !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text[:min(len(text), MaxText)], "")
	}
	return text
}

// Sound plays a file of the title's Assets, or Samples, once: at a volume from 0 to 1, and from the
// left at -1 to the right at 1.
func (s *Surface) Sound(name string, volume, pan float64) {
	if id, ok := s.library.name(name); ok && s.depth == 0 && finite(volume, pan) && s.room(11) {
		s.list = append(s.list, byte(OpSound))
		s.list = binary.LittleEndian.AppendUint16(s.list, id)
		s.floats(volume, pan)
	}
}

// A Tone is a sound without a file: a wave that goes from one pitch to another and fades.
type Tone struct {
	Wave     Wave
	From, To float64 // Hertz; To is From if it is zero
	Seconds  float64
}

// Wave is the shape of a tone.
type Wave uint8

// Waves, from soft to harsh.
const (
	Sine Wave = iota
	Triangle
	Square
	Noise
)

// Tone plays a tone once, as Sound plays a file.
func (s *Surface) Tone(t Tone, volume, pan float64) {
	if t.To == 0 {
		t.To = t.From
	}
	if t.Wave <= Noise && s.depth == 0 {
		s.numbers(OpTone, byte(t.Wave), t.From, t.To, t.Seconds, volume, pan)
	}
}

// Blend is how what is drawn is put on what is there.
type Blend uint8

// Over covers what is there, Add adds to it as light does, and Multiply darkens it as shade does.
const (
	Over Blend = iota
	Add
	Multiply
)

// Blend has what follows put on what is there in another way, until the next frame.
func (s *Surface) Blend(b Blend) {
	if b <= Multiply && s.room(2) {
		s.list = append(s.list, byte(OpBlend), byte(b))
	}
}

// Clip has what follows drawn only within a shape, in place of an earlier one; without points, on
// the whole screen again.
func (s *Surface) Clip(points ...float64) {
	if len(points) >= 6 {
		if s.points(OpClip, points, 0) {
			s.outline(points)
		}
	} else if s.room(1) {
		s.list = append(s.list, byte(OpUnclip))
	}
}

// room says whether so many bytes more fit in the frame.
func (s *Surface) room(n int) bool {
	if s.full || len(s.list)+n > MaxList {
		s.full = true
		return false
	}
	return true
}

// call adds a call of a color and numbers.
func (s *Surface) call(o Op, c Color, numbers ...float64) {
	if finite(numbers...) && s.room(5+4*len(numbers)) {
		s.list = append(s.list, byte(o))
		s.color(c)
		s.floats(numbers...)
	}
}

// numbers adds a call of a byte and numbers, and says whether it could.
func (s *Surface) numbers(o Op, flags byte, numbers ...float64) bool {
	if !finite(numbers...) || !s.room(2+4*len(numbers)) {
		return false
	}
	s.list = append(s.list, byte(o), flags)
	s.floats(numbers...)
	return true
}

// points begins a call of a shape, if it can be drawn.
func (s *Surface) points(o Op, points []float64, more int) bool {
	n := len(points)
	if n%2 != 0 || n > 2*MaxPoints || !finite(points...) || !s.room(3+more+4*n) {
		return false
	}
	s.list = append(s.list, byte(o))
	return true
}

func (s *Surface) outline(points []float64) {
	s.list = binary.LittleEndian.AppendUint16(s.list, uint16(len(points)/2))
	s.floats(points...)
}

func (s *Surface) color(c Color) { s.list = binary.LittleEndian.AppendUint32(s.list, uint32(c)) }

func (s *Surface) floats(numbers ...float64) {
	for _, x := range numbers {
		s.list = binary.LittleEndian.AppendUint32(s.list, math.Float32bits(float32(x)))
	}
}

// finite says whether all numbers can be drawn with.
func finite(numbers ...float64) bool {
	for _, x := range numbers {
		if !(math.Abs(x) < 1e30) { // nor NaN
			return false
		}
	}
	return true
}
