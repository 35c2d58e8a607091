package entry

import (
	"fmt"
	"io/fs"
	"math"
	"syscall/js"
	"unsafe"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
)

// A Screen is the canvas of the page, and what the player holds in their hands. A frame takes one
// call: the page writes what the player does to a few words that it shares with the program, calls
// the program, and replays the list that it has drawn; see web/assets/screen.js.
type Screen struct {
	// Surface is what the frame is drawn on. It is empty when the frame begins.
	Surface draw.Surface
	// Width and Height are the size of the page, in its pixels, and Ratio is how many pixels of the
	// canvas one of them has.
	Width, Height, Ratio float64
	// Interval is from one frame to the next, Program is how long the program worked on one, and
	// Replay the page, in milliseconds, each smoothed.
	Interval, Program, Replay float64
	Hands

	words  *[words]uint32
	assets fs.FS
}

// The shared words, from which the page reads, and to which it writes from moment on. Numbers are
// float32.
const (
	wordList    = 0  // address and length
	wordLibrary = 2  // the same
	wordSize    = 4  // of the overlay, as numbers
	wordAsked   = 6  // keys that the game wants, a bit each
	wordFingers = 10 // what they are for
	wordPads    = 11 // the first key of a gamepad
	wordMoment  = 16 // width, height, interval, program, replay and ratio, as numbers
	wordHands   = 24 // HandWords of them
	words       = 64
)

// OpenScreen has the page call frame for each of its frames. What frame has drawn on the Surface
// when it returns is shown. Assets are the images and sounds that calls name, or nil.
func OpenScreen(assets fs.FS, frame func(s *Screen)) *Screen {
	s := &Screen{words: new([words]uint32), assets: assets}
	s.words[wordPads] = uint32(game.KeyPadA)
	global := js.Global()
	global.Get("coevalScreen").Call("open", uintptr(unsafe.Pointer(s.words)),
		js.FuncOf(func(js.Value, []js.Value) any {
			s.begin()
			frame(s)
			s.end()
			return nil
		}),
		js.FuncOf(func(_ js.Value, args []js.Value) any { return s.file(args[0].String()) }),
		js.FuncOf(func(_ js.Value, args []js.Value) any {
			return int(game.KeyCode(args[0].String()))
		}),
		js.FuncOf(func(_ js.Value, args []js.Value) any {
			s.missing(args[0].String(), args[1].String(), args[2].String())
			return nil
		}))
	return s
}

// file gives the page the bytes of an asset, or nothing.
func (s *Screen) file(name string) any {
	if s.assets == nil {
		return nil
	}
	b, err := fs.ReadFile(s.assets, name)
	if err != nil {
		return nil
	}
	a := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(a, b)
	return a
}

// missing says which asset is not there, once.
func (s *Screen) missing(name, kind, why string) {
	text := fmt.Sprintf("the %s %q cannot be used: %s", kind, name, why)
	switch {
	case why != "":
	case s.assets == nil:
		text = fmt.Sprintf("the %s %q was not found: the title's Screen.Assets is not set, "+
			"and no Picture or Samples has that name", kind, name)
	default:
		text = fmt.Sprintf("the %s %q was not found in the title's Screen.Assets%s", kind, name,
			s.listed())
	}
	Warn(text)
}

// listed says what there is.
func (s *Screen) listed() string {
	text, n := "", 0
	_ = fs.WalkDir(s.assets, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if n++; n <= 5 {
			text += " " + path
		}
		return nil
	})
	switch {
	case n == 0:
		return ", which holds no files: embed them, with //go:embed"
	case n > 5:
		return fmt.Sprintf(", which has%s and %d more", text, n-5)
	}
	return ", which has" + text
}

// Warn has the page say something that the player, or more often the author, should know. The game
// goes on.
func Warn(text string) {
	js.Global().Get("console").Call("warn", text)
	js.Global().Call("coevalWarn", text)
}

func (s *Screen) number(word int) float64 { return float64(math.Float32frombits(s.words[word])) }

// begin reads what the page has written.
func (s *Screen) begin() {
	s.Width, s.Height = s.number(wordMoment), s.number(wordMoment+1)
	s.Interval, s.Program, s.Replay = s.number(wordMoment+2), s.number(wordMoment+3),
		s.number(wordMoment+4)
	s.Ratio = s.number(wordMoment + 5)
	s.Read((*[HandWords]uint32)(s.words[wordHands:]), s.Surface.LastCamera(), s.Width, s.Height)
	s.Surface.Begin(s.Width, s.Height)
}

// end gives the page what was drawn.
func (s *Screen) end() {
	list, library := s.Surface.List(), s.Surface.Library()
	w := s.words
	w[wordList] = uint32(uintptr(unsafe.Pointer(unsafe.SliceData(list))))
	w[wordList+1] = uint32(len(list))
	w[wordLibrary] = uint32(uintptr(unsafe.Pointer(unsafe.SliceData(library))))
	w[wordLibrary+1] = uint32(len(library))
	w[wordSize] = math.Float32bits(float32(s.Surface.Width()))
	w[wordSize+1] = math.Float32bits(float32(s.Surface.Height()))
	asked := s.Asked()
	copy(s.words[wordAsked:], asked[:])
}

// Fingers says what fingers are for.
func (s *Screen) Fingers(t game.Touch) { s.words[wordFingers] = uint32(t) }

// Tell adds how the screen keeps up to what a page's panel shows.
func (s *Screen) Tell(out map[string]any) {
	out["rate"], out["ratio"] = 1000/max(1, s.Interval), s.Ratio
	out["program"], out["replay"] = s.Program, s.Replay
	out["work"] = s.Program + s.Replay
}

// HideCursor has the pointer not shown: the game draws its own.
func (s *Screen) HideCursor() {
	js.Global().Get("document").Call("getElementById", "screen").Get("style").Set("cursor", "none")
}
