//go:build (js && wasm) || desktop

package client

import (
	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/inpututil"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

// What the player points with: what was used last.
type pointer uint8

const (
	byMouse pointer = iota
	byTouch
	byPad
)

// hands read what the player holds.
type hands struct {
	pointing pointer
	cursor   det.Vec2 // of the mouse, in pixels
	touches  []ebiten.TouchID
	move     thumb
	aim      thumb
	pads     []ebiten.GamepadID
	wheel    float64
}

// A thumb on glass is a stick wherever it was put down.
type thumb struct {
	id       ebiten.TouchID
	on       bool
	from, at det.Vec2
}

func (t *thumb) stick(reach float64) det.Vec2 {
	if !t.on {
		return det.Vec2{}
	}
	return t.at.Sub(t.from).Mul(1 / reach).ClampLen(1)
}

// read gives what the player does now. Me is where the player's fighter is on the screen, and unit
// how many pixels a unit of the screen is.
func (h *hands) read(me det.Vec2, unit, w float64, keys bool) scene.Controls {
	var c scene.Controls
	x, y := ebiten.CursorPosition()
	if at := (det.Vec2{X: float64(x), Y: float64(y)}); at != h.cursor {
		h.cursor, h.pointing = at, byMouse
	}
	if keys {
		held := func(list ...ebiten.Key) bool {
			for _, k := range list {
				if ebiten.IsKeyPressed(k) {
					return true
				}
			}
			return false
		}
		c.Left, c.Right = held(ebiten.KeyA, ebiten.KeyArrowLeft),
			held(ebiten.KeyD, ebiten.KeyArrowRight)
		c.Up, c.Down = held(ebiten.KeyW, ebiten.KeyArrowUp), held(ebiten.KeyS, ebiten.KeyArrowDown)
		c.Fire = held(ebiten.KeySpace, ebiten.KeyControlRight)
		for i, k := range []ebiten.Key{ebiten.KeyDigit1, ebiten.KeyDigit2, ebiten.KeyDigit3} {
			if inpututil.IsKeyJustPressed(k) {
				c.Weapon = arena.Blaster + arena.Weapon(i)
			}
		}
		if inpututil.IsKeyJustPressed(ebiten.KeyE) {
			c.Next = 1
		}
		if inpututil.IsKeyJustPressed(ebiten.KeyQ) {
			c.Next = -1
		}
	}
	if ebiten.IsMouseButtonPressed(ebiten.MouseButtonLeft) {
		c.Fire, h.pointing = true, byMouse
	}
	_, wy := ebiten.Wheel()
	if h.wheel += wy; h.wheel >= 1 {
		c.Next, h.wheel = -1, 0
	} else if h.wheel <= -1 {
		c.Next, h.wheel = 1, 0
	}
	h.glass(&c, unit, w)
	h.gamepad(&c)
	if h.pointing == byMouse {
		c.Point = h.cursor.Sub(me)
	}
	return c
}

// glass reads two thumbs: the left one walks, the right one aims and fires.
func (h *hands) glass(c *scene.Controls, unit, w float64) {
	h.touches = inpututil.AppendJustPressedTouchIDs(h.touches[:0])
	for _, id := range h.touches {
		x, y := ebiten.TouchPosition(id)
		at := det.Vec2{X: float64(x), Y: float64(y)}
		t := &h.move
		if at.X > w/2 {
			t = &h.aim
		}
		if !t.on {
			*t = thumb{id, true, at, at}
		}
		h.pointing = byTouch
	}
	for _, t := range []*thumb{&h.move, &h.aim} {
		if !t.on {
			continue
		}
		if inpututil.IsTouchJustReleased(t.id) {
			if t == &h.aim && t.at.Sub(t.from).Len() < 10*unit { // a tap goes to the next weapon
				c.Next = 1
			}
			t.on = false
			continue
		}
		x, y := ebiten.TouchPosition(t.id)
		t.at = det.Vec2{X: float64(x), Y: float64(y)}
	}
	reach := 60 * unit
	if s := h.move.stick(reach); s.LenSq() > 0 {
		c.Stick = s
	}
	if s := h.aim.stick(reach); s.Len() > 0.25 {
		c.Point, c.Fire = s, s.Len() > 0.6
	}
}

func (h *hands) gamepad(c *scene.Controls) {
	h.pads = ebiten.AppendGamepadIDs(h.pads[:0])
	for _, id := range h.pads {
		if !ebiten.IsStandardGamepadLayoutAvailable(id) {
			continue
		}
		axis := func(a ebiten.StandardGamepadAxis) float64 {
			return ebiten.StandardGamepadAxisValue(id, a)
		}
		move := det.Vec2{
			X: axis(ebiten.StandardGamepadAxisLeftStickHorizontal),
			Y: axis(ebiten.StandardGamepadAxisLeftStickVertical)}
		aim := det.Vec2{
			X: axis(ebiten.StandardGamepadAxisRightStickHorizontal),
			Y: axis(ebiten.StandardGamepadAxisRightStickVertical)}
		if move.Len() > 0.2 {
			c.Stick, h.pointing = move, byPad
		}
		if aim.Len() > 0.3 {
			c.Point, h.pointing = aim, byPad
		}
		if ebiten.IsStandardGamepadButtonPressed(id,
			ebiten.StandardGamepadButtonFrontBottomRight) ||
			ebiten.IsStandardGamepadButtonPressed(id, ebiten.StandardGamepadButtonRightBottom) {
			c.Fire, h.pointing = true, byPad
		}
		if inpututil.IsStandardGamepadButtonJustPressed(id,
			ebiten.StandardGamepadButtonFrontTopRight) {
			c.Next = 1
		}
		if inpututil.IsStandardGamepadButtonJustPressed(id,
			ebiten.StandardGamepadButtonFrontTopLeft) {
			c.Next = -1
		}
	}
}

// thumbs draws the sticks on glass.
func (a *App) thumbs(dst *ebiten.Image) {
	if a.hands.pointing != byTouch {
		return
	}
	for _, t := range []*thumb{&a.hands.move, &a.hands.aim} {
		if t.on {
			s := t.stick(60 * a.unit).Mul(60 * a.unit)
			a.batch.sprite(sprite.Ring, t.from.X, t.from.Y, 150*a.unit, 150*a.unit, 0,
				ink(scene.Paper, 0.25))
			a.batch.sprite(sprite.Disc, t.from.X+s.X, t.from.Y+s.Y, 60*a.unit, 60*a.unit, 0,
				ink(scene.Paper, 0.3))
		}
	}
	a.batch.flush(dst, blendOver)
}
