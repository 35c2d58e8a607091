package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// The part of a map that a terminal shows, around a player's fighter.
const ViewWidth, ViewHeight = 64, 36

// DrawFor shows the game to one of its players, on anything that can put a character at a place,
// whose origin is at the bottom left: what their fighter has in sight, and of the rest of the map
// only the walls. They are the @, and the others letters that are the same on everyone's screen.
func DrawFor(w *world.World, me world.Player, put func(x, y float64, c rune)) {
	var s Scene
	if !s.Look(w) {
		return
	}
	var eye det.Vec2
	for id, f := range world.All[Fighter](w) {
		if w.Owner(id) == me {
			eye = f.Pos
		}
	}
	left := det.Clamp(eye.X-ViewWidth/2, 0, max(0, float64(s.Map.Width-ViewWidth)))
	top := det.Clamp(eye.Y-ViewHeight/2, 0, max(0, float64(s.Map.Height-ViewHeight)))
	show := func(p det.Vec2, c rune) { put(p.X-left, ViewHeight-0.01-(p.Y-top), c) }
	sees := func(p det.Vec2) bool { return s.Clear(eye, p) }
	for y := range s.Map.Height {
		for x := range s.Map.Width {
			at := det.Vec2{X: float64(x) + 0.5, Y: float64(y) + 0.5}
			switch c := s.Map.Cell(x, y); {
			case c == Wall:
				show(at, '#')
			case c == Pit:
				show(at, '~')
			case c == Floor && sees(at):
				show(at, '.')
			}
		}
	}
	for _, d := range world.All[Door](w) {
		if d.Open < DoorOpen/2 {
			show(d.Pos, '+')
		}
	}
	for _, p := range world.All[Pickup](w) {
		if p.There(w) && sees(p.Pos) {
			show(p.Pos, rune(kindLetters[p.Kind]))
		}
	}
	for _, o := range world.All[Shot](w) {
		if sees(o.Pos) {
			show(o.Pos, [weapons]rune{' ', '\'', '*', ' '}[o.Weapon])
		}
	}
	for id, f := range world.All[Fighter](w) {
		switch {
		case !f.Alive():
		case w.Owner(id) == me:
			show(f.Pos, '@')
			show(f.Pos.MulAdd(f.Aim.Vec(), 1.2), '`')
		case sees(f.Pos):
			show(f.Pos, rune('A'+(int(w.Owner(id))+25)%26))
		}
	}
}

// A Pad makes commands of keys alone, where there is no mouse: it aims where one last went.
type Pad struct{ aim det.Angle }

// Keys makes a command of the keys that are held.
func (p *Pad) Keys(left, right, up, down, fire bool) Command {
	c := Keys(left, right, up, down)
	if c.X != 0 || c.Y != 0 {
		p.aim = det.Vec2{X: float64(c.X), Y: float64(c.Y)}.Angle()
	}
	c.Aim, c.Fire, c.Weapon = p.aim, fire, Launcher
	return c
}
