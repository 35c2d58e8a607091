//go:build desktop && !js

package window

import (
	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/inpututil"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
)

// devices are what the player holds: keys, a mouse, fingers and gamepads.
type devices struct {
	input       game.Input
	down, fresh [game.Keyboard]bool
	stick, aim  det.Vec2
	fire        bool
	left, right bool // the mouse's buttons, since the last command
	touched     bool
	thumbs      [2]thumb // the left one walks, the right one aims
	touches     []ebiten.TouchID
	pads        []ebiten.GamepadID
}

// A thumb on glass is a stick wherever it was put down.
type thumb struct {
	id       ebiten.TouchID
	on       bool
	from, at det.Vec2
}

// How far a thumb pushes a stick to its end, and what of a stick counts as rest.
const reach, dead = 64, 0.15

func (t *thumb) push() det.Vec2 {
	if !t.on {
		return det.Vec2{}
	}
	v := t.at.Sub(t.from).Mul(1.0 / reach).ClampLen(1)
	return det.Vec2{X: v.X, Y: -v.Y}
}

// read looks at everything, once a frame.
func (d *devices) read(s *Screen) {
	for k, list := range keyboard {
		down := false
		for _, e := range list {
			down = down || ebiten.IsKeyPressed(e)
		}
		d.set(k, down && !s.typing)
	}
	d.stick, d.aim, d.fire = det.Vec2{}, det.Vec2{}, false
	d.mouse(s)
	d.glass(s)
	d.gamepads()
	if !ebiten.IsFocused() {
		d.input.Release()
	}
}

func (d *devices) set(k game.Key, down bool) {
	d.fresh[k] = down && !d.down[k]
	d.down[k] = down
	d.input.Set(k, down)
}

func (d *devices) mouse(s *Screen) {
	x, y := ebiten.CursorPosition()
	camera := s.Surface.LastCamera() // of the last frame
	l := camera.Lens(s.Width, s.Height)
	px, py := l.Place(float64(x)/s.Ratio, float64(y)/s.Ratio)
	mx, my := l.Place(s.Width/2, s.Height/2)
	left := ebiten.IsMouseButtonPressed(ebiten.MouseButtonLeft)
	right := ebiten.IsMouseButtonPressed(ebiten.MouseButtonRight)
	d.left, d.right = d.left || left, d.right || right
	if left || right {
		d.touched = false
	}
	d.input.Pointer = game.Pointer{
		Place: det.Vec2{X: px, Y: py}, Offset: det.Vec2{X: px - mx, Y: py - my},
		There: x >= 0 && y >= 0 && float64(x) < s.Width*s.Ratio && float64(y) < s.Height*s.Ratio,
		Down:  left, Second: right,
	}
}

// glass reads two thumbs.
func (d *devices) glass(s *Screen) {
	place := func(id ebiten.TouchID) det.Vec2 {
		x, y := ebiten.TouchPosition(id)
		return det.Vec2{X: float64(x) / s.Ratio, Y: float64(y) / s.Ratio}
	}
	d.touches = inpututil.AppendJustPressedTouchIDs(d.touches[:0])
	for _, id := range d.touches {
		d.touched = true
		at, side := place(id), 0
		if at.X > s.Width/2 {
			side = 1
		}
		if t := &d.thumbs[side]; !t.on {
			*t = thumb{id, true, at, at}
		}
	}
	for i := range d.thumbs {
		if t := &d.thumbs[i]; t.on {
			if t.on = !inpututil.IsTouchJustReleased(t.id); t.on {
				t.at = place(t.id)
			}
		}
	}
	d.stick, d.aim, d.fire = d.thumbs[0].push(), d.thumbs[1].push(), d.thumbs[1].on
}

// gamepads adds the first one whose layout is known.
func (d *devices) gamepads() {
	d.pads = ebiten.AppendGamepadIDs(d.pads[:0])
	for _, id := range d.pads {
		if !ebiten.IsStandardGamepadLayoutAvailable(id) {
			continue
		}
		axis := func(x, y ebiten.StandardGamepadAxis) det.Vec2 {
			return det.Vec2{X: ebiten.StandardGamepadAxisValue(id, x),
				Y: -ebiten.StandardGamepadAxisValue(id, y)}
		}
		if v := axis(ebiten.StandardGamepadAxisLeftStickHorizontal,
			ebiten.StandardGamepadAxisLeftStickVertical); v.Len() > dead {
			d.stick = v
		}
		if v := axis(ebiten.StandardGamepadAxisRightStickHorizontal,
			ebiten.StandardGamepadAxisRightStickVertical); v.Len() > dead {
			d.aim = v
		}
		on := func(b ebiten.StandardGamepadButton) bool {
			return ebiten.IsStandardGamepadButtonPressed(id, b)
		}
		for k, b := range buttons {
			d.set(k, on(b) || k == game.KeyPadA && on(ebiten.StandardGamepadButtonFrontBottomRight))
		}
		return
	}
}

// now is what the player does.
func (d *devices) now() *game.Input {
	p := &d.input.Pointer
	p.Down, p.Second = p.Down || d.left, p.Second || d.right
	d.input.Aim = d.aim.ClampLen(1)
	d.input.Direct(d.stick, d.fire || p.Down)
	return &d.input
}

func (d *devices) given() {
	d.input.Given()
	d.left, d.right = false, false
}

var buttons = map[game.Key]ebiten.StandardGamepadButton{
	game.KeyPadA:     ebiten.StandardGamepadButtonRightBottom,
	game.KeyPadB:     ebiten.StandardGamepadButtonRightRight,
	game.KeyPadX:     ebiten.StandardGamepadButtonRightLeft,
	game.KeyPadY:     ebiten.StandardGamepadButtonRightTop,
	game.KeyPadLeft:  ebiten.StandardGamepadButtonFrontTopLeft,
	game.KeyPadRight: ebiten.StandardGamepadButtonFrontTopRight,
}

// keyboard is what each key is called here.
var keyboard = func() map[game.Key][]ebiten.Key {
	m := map[game.Key][]ebiten.Key{
		game.KeyUp: {ebiten.KeyArrowUp}, game.KeyDown: {ebiten.KeyArrowDown},
		game.KeyLeft: {ebiten.KeyArrowLeft}, game.KeyRight: {ebiten.KeyArrowRight},
		game.KeySpace: {ebiten.KeySpace}, game.KeyEnter: {ebiten.KeyEnter},
		game.KeyShift:   {ebiten.KeyShiftLeft, ebiten.KeyShiftRight},
		game.KeyControl: {ebiten.KeyControlLeft, ebiten.KeyControlRight},
		game.KeyAlt:     {ebiten.KeyAltLeft}, game.KeyTab: {ebiten.KeyTab},
		game.KeyBackspace: {ebiten.KeyBackspace}, game.KeyComma: {ebiten.KeyComma},
		game.KeyPeriod: {ebiten.KeyPeriod}, game.KeySlash: {ebiten.KeySlash},
	}
	for i := range 26 {
		m[game.KeyA+game.Key(i)] = []ebiten.Key{ebiten.KeyA + ebiten.Key(i)}
	}
	for i := range 10 {
		m[game.Key0+game.Key(i)] = []ebiten.Key{ebiten.KeyDigit0 + ebiten.Key(i)}
	}
	return m
}()
