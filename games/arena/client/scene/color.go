package scene

import (
	"math"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/world"
)

// Color is light: red, green and blue from 0 to 1, more where it shines.
type Color struct{ R, G, B float32 }

// Mul makes it brighter or darker.
func (c Color) Mul(k float32) Color { return Color{c.R * k, c.G * k, c.B * k} }

// Mix goes from one color to another.
func (c Color) Mix(o Color, t float32) Color {
	return Color{c.R + (o.R-c.R)*t, c.G + (o.G-c.G)*t, c.B + (o.B-c.B)*t}
}

// The colors that things have.
var (
	Paper    = Color{0.90, 0.94, 1.00}
	Night    = Color{0.03, 0.045, 0.08} // what is behind texts
	Dim      = Color{0.55, 0.62, 0.75}
	Own      = Color{0.25, 0.85, 1.00}
	Fire     = Color{1.00, 0.55, 0.18}
	Ember    = Color{1.00, 0.32, 0.08}
	Plasma   = Color{0.45, 1.00, 0.55}
	Rail     = Color{0.75, 0.45, 1.00}
	Healing  = Color{0.35, 1.00, 0.60}
	Steel    = Color{0.62, 0.70, 0.85}
	Danger   = Color{1.00, 0.30, 0.28}
	Good     = Color{0.45, 0.95, 0.55}
	Warning  = Color{1.00, 0.80, 0.30}
	teamRed  = Color{1.00, 0.35, 0.32}
	teamBlue = Color{0.35, 0.60, 1.00}
)

// PlayerColor is the color of a player: one's own, the team's, or one of many that are easy to tell
// apart.
func PlayerColor(p, me world.Player, team int) Color {
	switch {
	case team == 1:
		return teamRed
	case team == 2:
		return teamBlue
	case p == me && p != world.Nobody:
		return Own
	}
	// Hues a golden section apart never come close; those near one's own are left out.
	h := math.Mod(float64(p)*0.61803398875, 1)*0.78 + 0.64
	return hue(h)
}

// hue gives a bright color of the wheel.
func hue(h float64) Color {
	ch := func(shift float64) float32 {
		x := math.Abs(math.Mod(h+shift, 1)*6 - 3)
		return float32(0.28 + 0.72*math.Min(1, math.Max(0, x-1)))
	}
	return Color{ch(0), ch(2.0 / 3), ch(1.0 / 3)}
}

// WeaponColor is the color of what a weapon fires.
func WeaponColor(w arena.Weapon) Color {
	switch w {
	case arena.Launcher:
		return Fire
	case arena.Rail:
		return Rail
	}
	return Plasma
}

// KindColor is the color of what can be picked up.
func KindColor(k arena.Kind) Color {
	switch k {
	case arena.SmallPack, arena.LargePack:
		return Healing
	case arena.RocketBox, arena.RocketGun:
		return Fire
	}
	return Rail
}
