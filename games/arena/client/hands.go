package client

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
)

// A Screen is where the game is played: a page in a browser, or a window.
type Screen interface {
	// Input is what the player does now. What was pressed stays so until Given.
	Input() *game.Input
	// Given says that a command was made of it.
	Given()
	// Pressed says whether a key went down since the last frame that Input was never asked for, and
	// Held whether one is down.
	Pressed(k game.Key) bool
	Held(k game.Key) bool
}

// A Moment is what a screen tells about a frame: its size in its own pixels, and whether the player
// has fingers on it.
type Moment struct {
	Width, Height float64
	Fingers       bool
}

// What the player points with: what was used last.
type pointer uint8

const (
	byMouse pointer = iota
	byTouch
	byPad
)

// hands make controls of what the player does.
type hands struct {
	pointing pointer
	offset   det.Vec2 // of the mouse, from the middle of the screen
	there    bool
	second   bool
	bar      [3]box // where the weapons are on the screen
}

// A box is a rectangle of the screen.
type box struct{ x, y, w, h float64 }

func (b box) has(x, y float64) bool { return x >= b.x && x < b.x+b.w && y >= b.y && y < b.y+b.h }

// read gives what the player does now.
func (h *hands) read(in *game.Input, fingers bool, l *lens, me *scene.Body) (c scene.Controls) {
	held := func(a, b game.Key) bool {
		return in.Held(a) || in.Held(b) || in.Pressed(a) || in.Pressed(b)
	}
	c.Left, c.Right = held(game.KeyA, game.KeyLeft), held(game.KeyD, game.KeyRight)
	c.Up, c.Down = held(game.KeyW, game.KeyUp), held(game.KeyS, game.KeyDown)
	c.Stick = det.Vec2{X: in.Stick.X, Y: -in.Stick.Y}
	c.Fire = in.Fire
	for i, k := range [...]game.Key{game.Key1, game.Key2, game.Key3} {
		if in.Pressed(k) {
			c.Weapon = arena.Blaster + arena.Weapon(i)
		}
	}
	if in.Pressed(game.KeyE) || in.Pressed(game.KeyPadRight) {
		c.Next = 1
	}
	if in.Pressed(game.KeyQ) || in.Pressed(game.KeyPadLeft) {
		c.Next = -1
	}
	if in.Pointer.Second && !h.second {
		c.Next = 1
	}
	h.second = in.Pointer.Second
	h.point(&c, in, fingers, l, me)
	return c
}

// point finds where the player aims.
func (h *hands) point(c *scene.Controls, in *game.Input, fingers bool, l *lens, me *scene.Body) {
	p := &in.Pointer
	aim := det.Vec2{X: in.Aim.X, Y: -in.Aim.Y}
	switch {
	case fingers:
		h.pointing = byTouch
	case p.There && (p.Offset.Sub(h.offset).LenSq() > 1e-6 || p.Down):
		h.pointing = byMouse
	case aim.LenSq() > 0 || c.Stick.LenSq() > 0 && !c.Left && !c.Right && !c.Up && !c.Down:
		h.pointing = byPad
	}
	h.offset, h.there = p.Offset, p.There
	switch {
	case h.pointing == byMouse && p.There && me != nil:
		c.Point = p.Place.Sub(me.Pos)
	case h.pointing != byMouse && aim.Len() > 0.25:
		c.Point = aim
	}
	if h.pointing == byTouch && p.Down { // a tap on a weapon takes it
		x, y := h.cursor(l)
		for i, b := range h.bar {
			if b.has(x, y) {
				c.Weapon, c.Fire = arena.Blaster+arena.Weapon(i), false
			}
		}
	}
}

// cursor is where the pointer is on the screen.
func (h *hands) cursor(l *lens) (x, y float64) {
	return l.w/2 + h.offset.X*l.scale, l.h/2 + h.offset.Y*l.scale
}

// look is where the player looks, from the middle of the screen: a vector of length one for its
// edge.
func (h *hands) look(l *lens, me *scene.Body) det.Vec2 {
	if half := l.half(); h.pointing == byMouse && h.there && half.X > 0 {
		return det.Vec2{X: h.offset.X / half.X, Y: h.offset.Y / half.Y}
	}
	if me != nil && h.pointing != byMouse {
		return me.Aim.Vec().Mul(0.6)
	}
	return det.Vec2{}
}
