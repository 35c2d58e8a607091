package draw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"unicode/utf8"
)

// An Op says what a call does. It is the call's first byte.
type Op uint8

// What a call may be, with the numbers and fields that it has.
const (
	OpClear   Op = iota + 1 // the color
	OpCamera                // x y width height; Flags
	OpOverlay               // width height
	OpRect                  // x y width height
	OpBox                   // x y width height angle
	OpCircle                // x y radius
	OpRing                  // x y radius width
	OpGlow                  // x y radius
	OpLine                  // x y x y width
	OpPolygon               // Points
	OpImage                 // x y width height angle; ID
	OpText                  // x y size; Flags is the Align; Bytes
	OpSound                 // volume pan; ID
	OpTone                  // from to seconds volume pan; Flags is the Wave
	OpBlend                 // Flags is the Blend
	OpClip                  // Points
	OpUnclip
	OpName    // ID, Bytes
	OpPicture // width height density; ID; Bytes is a list
	OpSamples // ID; Rate; Bytes are 16-bit numbers
	OpPixels  // x y width height; ID is how many columns there are; Bytes are 4 a pixel
)

const cameraUp, cameraCover = 1, 2

// A Call is one call of a list. Which fields count depends on Op.
type Call struct {
	Op     Op
	Flags  uint8
	ID     uint16
	Rate   uint32
	Color  Color
	N      [5]float64
	Points []float64 // x and y in turn; valid until the next call
	Bytes  []byte    // a part of the list
}

// shape says how a call is laid out after its first byte, in this order: a color, flags, a number
// for a name, numbers, and then points or bytes behind their count.
var shapes = [...]struct {
	color, flags, id bool
	most             uint8 // of flags
	numbers          int
	points           bool
	bytes            int // of the count of bytes
	rate             bool
	defines          bool // it may stand in a library only
}{
	OpClear:   {color: true},
	OpCamera:  {flags: true, most: cameraUp | cameraCover, numbers: 4},
	OpOverlay: {numbers: 2},
	OpRect:    {color: true, numbers: 4},
	OpBox:     {color: true, numbers: 5},
	OpCircle:  {color: true, numbers: 3},
	OpRing:    {color: true, numbers: 4},
	OpGlow:    {color: true, numbers: 3},
	OpLine:    {color: true, numbers: 5},
	OpPolygon: {color: true, points: true},
	OpImage:   {color: true, id: true, numbers: 5},
	OpText:    {color: true, flags: true, most: uint8(Right), numbers: 3, bytes: 2},
	OpSound:   {id: true, numbers: 2},
	OpTone:    {flags: true, most: uint8(Noise), numbers: 5},
	OpBlend:   {flags: true, most: uint8(Multiply)},
	OpClip:    {points: true},
	OpUnclip:  {},
	OpName:    {id: true, bytes: 2, defines: true},
	OpPicture: {id: true, numbers: 3, bytes: 4, defines: true},
	OpSamples: {id: true, rate: true, bytes: 4, defines: true},
	OpPixels:  {id: true, numbers: 4, bytes: 4},
}

// A Reader reads the calls of a list, or of a library. What is wrong ends it; Err says what.
type Reader struct {
	rest   []byte
	size   int
	call   Call
	points []float64
	err    error
}

// ErrList is in every error about a list that makes no sense.
var ErrList = errors.New("this is not a list of drawing calls")

// Read begins to read a list, or a library.
func (r *Reader) Read(list []byte) { r.rest, r.size, r.err = list, len(list), nil }

// Err says what is wrong with the list, or nil.
func (r *Reader) Err() error { return r.err }

// Calls are those of the list, each valid until the next.
func (r *Reader) Calls() iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for r.next(&r.call) && yield(&r.call) {
		}
	}
}

func (r *Reader) fail(why string) bool {
	r.err = fmt.Errorf("%w: %s at byte %d of %d", ErrList, why, r.size-len(r.rest), r.size)
	return false
}

// next reads a call.
func (r *Reader) next(c *Call) bool {
	if len(r.rest) == 0 || r.err != nil {
		return false
	}
	o := Op(r.rest[0])
	if o == 0 || int(o) >= len(shapes) {
		return r.fail(fmt.Sprintf("no call has the number %d", o))
	}
	s := &shapes[o]
	*c = Call{Op: o}
	fixed := 1 + 4*s.numbers + s.bytes
	for _, part := range [...]struct {
		on bool
		n  int
	}{{s.color, 4}, {s.flags, 1}, {s.id, 2}, {s.rate, 4}, {s.points, 2}} {
		if part.on {
			fixed += part.n
		}
	}
	if len(r.rest) < fixed {
		return r.fail("a call is cut off")
	}
	p := r.rest[1:]
	if s.color {
		c.Color, p = Color(binary.LittleEndian.Uint32(p)), p[4:]
	}
	if s.flags {
		if c.Flags, p = p[0], p[1:]; c.Flags > s.most {
			return r.fail("flags that do not exist")
		}
	}
	if s.id {
		c.ID, p = binary.LittleEndian.Uint16(p), p[2:]
	}
	if s.rate {
		c.Rate, p = binary.LittleEndian.Uint32(p), p[4:]
	}
	for i := range s.numbers {
		c.N[i], p = float(p), p[4:]
		if !finite(c.N[i]) {
			return r.fail("a number that is not one")
		}
	}
	switch {
	case s.points:
		return r.shape(c, p)
	case s.bytes > 0:
		return r.bytes(c, p, s.bytes)
	}
	r.rest = p
	return true
}

// shape reads the points of a call.
func (r *Reader) shape(c *Call, p []byte) bool {
	n := int(binary.LittleEndian.Uint16(p))
	if p = p[2:]; n < 3 || n > MaxPoints || len(p) < 8*n {
		return r.fail("a shape without its points")
	}
	r.points = r.points[:0]
	for range 2 * n {
		x := float(p)
		if !finite(x) {
			return r.fail("a number that is not one")
		}
		r.points, p = append(r.points, x), p[4:]
	}
	c.Points, r.rest = r.points, p
	return true
}

// bytes reads a text, a name, a picture or a sound.
func (r *Reader) bytes(c *Call, p []byte, width int) bool {
	n := uint64(binary.LittleEndian.Uint16(p))
	if width == 4 {
		n = uint64(binary.LittleEndian.Uint32(p))
	}
	if c.Op == OpSamples {
		n *= 2
	}
	if p = p[width:]; n > uint64(len(p)) {
		return r.fail("a call is cut off")
	}
	c.Bytes, r.rest = p[:n:n], p[n:]
	switch {
	case width == 2 && (n > MaxText || !utf8.Valid(c.Bytes)):
		return r.fail("a text that is none")
	case c.Op == OpPicture && !(c.N[0] > 0 && c.N[1] > 0 && c.N[2] > 0 &&
		c.N[0]*c.N[2] <= MaxSide && c.N[1]*c.N[2] <= MaxSide):
		return r.fail("a picture without a size")
	case c.Op == OpSamples && (c.Rate < 1000 || c.Rate > 192000):
		return r.fail("a sound without a rate")
	case c.Op == OpPixels && !pixels(int(c.ID), len(c.Bytes)):
		return r.fail("pixels that fill no rectangle")
	}
	return true
}

// Defines says whether a call belongs in a library, rather than in a frame.
func (c *Call) Defines() bool { return shapes[c.Op].defines }

// Camera is what a call of OpCamera sets.
func (c *Call) Camera() Camera {
	return Camera{X: c.N[0], Y: c.N[1], Width: c.N[2], Height: c.N[3],
		Up: c.Flags&cameraUp != 0, Cover: c.Flags&cameraCover != 0}
}

// Lens is how a screen of a size in pixels shows what follows a call of OpCamera or OpOverlay.
func (c *Call) Lens(width, height float64) Lens {
	if c.Op == OpOverlay {
		return overlay(c.N[0], c.N[1], width, height)
	}
	camera := c.Camera()
	return camera.Lens(width, height)
}

func float(p []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(p)))
}

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
}
