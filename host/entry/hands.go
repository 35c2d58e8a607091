package entry

import (
	"math"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
)

// HandWords are how many words a page writes of what a player does; see web/assets/devices.js.
const HandWords = 17

// Where things are among those words. Numbers are float32.
const (
	wordPointer = 0  // x and y as numbers, flags
	wordStick   = 3  // x and y, and those of the second one, as numbers
	wordFire    = 7  // flags
	wordHeld    = 8  // keys
	wordPressed = 12 // keys that went down since the last frame
	wordPresses = 16 // how many so far
)

// What the pointer's flags say, and those of fingers.
const (
	pointerThere, pointerDown, pointerSecond = 1, 2, 4
	pointerPressed, secondPressed, touched   = 8, 16, 32
	fireHeld, fireTapped                     = 1, 2
)

// Hands are what a player does in a page, with keys, a pointer, fingers or a gamepad, as the page
// tells it once a frame. Nothing is lost between two commands.
type Hands struct {
	// Presses counts what the player has pressed so far, and Touched says that they have fingers on
	// the glass.
	Presses uint32
	Touched bool

	input       game.Input
	pointer     det.Vec2 // in pixels of the page
	flags       uint32   // of the pointer
	stick, aim  det.Vec2
	fire        bool
	down, other bool      // the pointer's buttons, since the last command
	held        [2]uint64 // keys that are down
	fresh       [2]uint64 // keys that went down since the last frame
}

// Read takes what the page has written, for a screen of so many pixels on which was last drawn with
// a camera.
func (h *Hands) Read(w *[HandWords]uint32, camera draw.Camera, width, height float64) {
	vector := func(at int) det.Vec2 {
		return det.Vec2{X: finite(w[at]), Y: finite(w[at+1])}
	}
	keys := func(at int) [2]uint64 {
		return [2]uint64{uint64(w[at]) | uint64(w[at+1])<<32,
			uint64(w[at+2]) | uint64(w[at+3])<<32}
	}
	h.held, h.fresh = keys(wordHeld), keys(wordPressed)
	for k := range game.Keyboard {
		on := h.held[k>>6]>>(k&63)&1 != 0
		if h.fresh[k>>6]>>(k&63)&1 != 0 {
			h.input.Set(k, false) // it went up in between, if it was down
			h.input.Set(k, true)
		}
		h.input.Set(k, on)
	}
	h.pointer, h.flags = vector(wordPointer), w[wordPointer+2]
	h.stick, h.aim = vector(wordStick), vector(wordStick+2)
	h.fire = w[wordFire]&fireHeld != 0
	h.down = h.down || h.flags&pointerPressed != 0 || w[wordFire]&fireTapped != 0
	h.other = h.other || h.flags&secondPressed != 0
	h.Touched, h.Presses = h.flags&touched != 0, w[wordPresses]
	l := camera.Lens(width, height)
	x, y := l.Place(h.pointer.X, h.pointer.Y)
	mx, my := l.Place(width/2, height/2)
	h.input.Pointer = game.Pointer{
		Place: det.Vec2{X: x, Y: y}, Offset: det.Vec2{X: x - mx, Y: y - my},
		There: h.flags&pointerThere != 0,
	}
}

// finite is a number of a page, which may be any.
func finite(word uint32) float64 {
	x := float64(math.Float32frombits(word))
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// Input is what the player does now. What was pressed stays so until Given.
func (h *Hands) Input() *game.Input {
	p := &h.input.Pointer
	p.Down = h.down || h.flags&pointerDown != 0
	p.Second = h.other || h.flags&pointerSecond != 0
	h.input.Aim = h.aim.ClampLen(1)
	h.input.Direct(h.stick, h.fire || p.Down)
	return &h.input
}

// Given says that a command was made of the input.
func (h *Hands) Given() {
	h.input.Given()
	h.down, h.other = false, false
}

// Asked are the keys that the game wants, a bit each, as the page reads them.
func (h *Hands) Asked() (words [4]uint32) {
	for i, a := range h.input.Asked() {
		words[2*i], words[2*i+1] = uint32(a), uint32(a>>32)
	}
	return words
}

// Pressed says whether a key went down since the last frame that is not one of the game's own.
func (h *Hands) Pressed(k game.Key) bool { return h.free(k) && h.Struck(k) }

// Held says whether a key is down that is not one of the game's own.
func (h *Hands) Held(k game.Key) bool { return h.free(k) && h.held[k>>6]>>(k&63)&1 != 0 }

// Struck says whether a key went down since the last frame, whoever it belongs to.
func (h *Hands) Struck(k game.Key) bool { return h.fresh[k>>6]>>(k&63)&1 != 0 }

func (h *Hands) free(k game.Key) bool { return h.input.Asked()[k>>6]>>(k&63)&1 == 0 }
