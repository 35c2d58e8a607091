//go:build desktop && !js

package window

import (
	"io/fs"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/inpututil"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
)

// Options say what a window is like. Run needs Server, or plays alone.
type Options struct {
	// Title is what stands above the window, and Assets are the images and sounds that calls name.
	// Run takes both from the game.
	Title  string
	Assets fs.FS
	// Mute begins without sound. M turns it off and on, where the game has no use for the key.
	Mute bool
	// HideCursor is for a game that draws its own.
	HideCursor bool
	// Say, if set, is given a line that the player has typed, between two presses of Enter.
	Say func(line string)

	// Server is where one answers over HTTP, such as localhost:8080. Name is what others read, and
	// Style how the game is predicted, by its name. These are for Run.
	Server, Name, Style string
}

// A Screen is what a game draws a frame on, and what the player does.
type Screen struct {
	// Surface is what the frame is drawn on. It is empty when the frame begins.
	Surface draw.Surface
	// Width and Height are the size of the window, in pixels of the desktop, and Ratio is how many
	// of the display's one of them has.
	Width, Height, Ratio float64
	// Touched says that the player has fingers on the glass.
	Touched bool

	o       Options
	frame   func(*Screen)
	replay  *replayer
	sound   *speaker
	devices devices
	typing  bool
	typed   []rune
}

// Open shows a window until it is closed, and calls frame for each of its frames. What that has
// drawn on the Surface is shown.
func Open(o Options, frame func(s *Screen)) error {
	s := &Screen{o: o, frame: frame}
	lib := newLibrary(o.Assets)
	s.sound = newSpeaker(lib, o.Mute)
	s.replay = &replayer{lib: lib, sound: s.sound}
	ebiten.SetWindowTitle(o.Title)
	ebiten.SetWindowSize(1280, 720)
	ebiten.SetWindowResizingMode(ebiten.WindowResizingModeEnabled)
	ebiten.SetRunnableOnUnfocused(true)
	ebiten.SetTPS(ebiten.SyncWithFPS)
	if o.HideCursor {
		ebiten.SetCursorMode(ebiten.CursorModeHidden)
	}
	return ebiten.RunGame((*loop)(s))
}

// loop is a Screen as Ebitengine sees it.
type loop Screen

// Layout gives the picture as many pixels as the display has.
func (l *loop) Layout(w, h int) (int, int) {
	l.Ratio = 1
	if m := ebiten.Monitor(); m != nil {
		l.Ratio = m.DeviceScaleFactor()
	}
	l.Width, l.Height = float64(w), float64(h)
	return max(1, int(l.Width*l.Ratio)), max(1, int(l.Height*l.Ratio))
}

// Update reads the devices and has the game draw, once a frame and before Draw.
func (l *loop) Update() error {
	s := (*Screen)(l)
	s.line()
	s.devices.read(s)
	s.Touched = s.devices.touched
	s.Surface.Begin(s.Width, s.Height)
	s.frame(s)
	s.keys()
	if s.typing {
		s.Surface.Overlay()
		s.Surface.Rect(18, s.Surface.Height()-110, 460, 26, draw.Black.Alpha(0.7))
		s.Surface.Text(26, s.Surface.Height()-97, 15, "say: "+string(s.typed)+"_", draw.White,
			draw.Left)
	}
	return nil
}

// Draw shows what the game has drawn.
func (l *loop) Draw(screen *ebiten.Image) {
	s := (*Screen)(l)
	s.replay.frame(screen, s.Surface.Library(), s.Surface.List(), s.Surface.Width(),
		s.Surface.Height())
}

// keys does what keys do that the game has no use for.
func (s *Screen) keys() {
	if s.Pressed(game.KeyF) {
		ebiten.SetFullscreen(!ebiten.IsFullscreen())
	}
	if s.Pressed(game.KeyM) {
		s.sound.setMute(!s.sound.mute)
	}
}

// line takes what the player types.
func (s *Screen) line() {
	enter := inpututil.IsKeyJustPressed(ebiten.KeyEnter) && s.o.Say != nil
	switch {
	case !s.typing && enter && s.free(game.KeyEnter):
		s.typing, s.typed = true, s.typed[:0]
		return
	case !s.typing:
		return
	case enter:
		s.o.Say(string(s.typed))
		s.typing = false
	case inpututil.IsKeyJustPressed(ebiten.KeyEscape):
		s.typing = false
	case inpututil.IsKeyJustPressed(ebiten.KeyBackspace) && len(s.typed) > 0:
		s.typed = s.typed[:len(s.typed)-1]
	default:
		if s.typed = ebiten.AppendInputChars(s.typed); len(s.typed) > 120 {
			s.typed = s.typed[:120]
		}
	}
}

// Input is what the player does now. What was pressed stays so until Given.
func (s *Screen) Input() *game.Input { return s.devices.now() }

// Given says that a command was made of the input.
func (s *Screen) Given() { s.devices.given() }

// Pressed says whether a key went down since the last frame that is not one of the game's own.
func (s *Screen) Pressed(k game.Key) bool { return s.free(k) && s.devices.fresh[k] }

// Held says whether a key is down that is not one of the game's own.
func (s *Screen) Held(k game.Key) bool { return s.free(k) && s.devices.down[k] }

func (s *Screen) free(k game.Key) bool { return s.devices.input.Asked()[k>>6]>>(k&63)&1 == 0 }
