package crowd

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Draw draws a frame of the square around the player, or around its middle.
func Draw(s *draw.Surface, f *game.Frame) {
	w := f.World
	side := world.StateOf[Plaza](w).Side
	eye := det.Vec2{X: side / 2, Y: side / 2}
	for id, a := range world.All[Avatar](w) {
		if f.Me != world.Nobody && w.Owner(id) == f.Me {
			eye = a.Pos.MulAdd(a.Vel, f.Ahead(id))
		}
	}
	s.Clear(draw.RGB(0x0a0d14))
	s.Camera(draw.Camera{X: eye.X, Y: eye.Y, Width: 64, Height: 36, Up: true, Cover: true})
	s.Rect(0, 0, side, side, draw.RGB(0x18202b))
	const tile = 8
	for x := tile * float64(int(max(0, eye.X-48)/tile)); x <= min(side, eye.X+48); x += tile {
		s.Line(x, max(0, eye.Y-48), x, min(side, eye.Y+48), 0.08, draw.RGB(0x243040))
	}
	for y := tile * float64(int(max(0, eye.Y-48)/tile)); y <= min(side, eye.Y+48); y += tile {
		s.Line(max(0, eye.X-48), y, min(side, eye.X+48), y, 0.08, draw.RGB(0x243040))
	}
	for _, g := range world.All[Gem](w) {
		s.Box(g.Pos.X, g.Pos.Y, 0.7, 0.7, 0.785, draw.RGB(0x6ff0b0))
	}
	for id, a := range world.All[Avatar](w) {
		drawAvatar(s, f, id, a)
	}
	for id, b := range world.All[Bolt](w) {
		at := b.Pos.MulAdd(b.Vel, f.Ahead(id))
		tail := at.MulAdd(b.Vel, -0.03)
		s.Line(tail.X, tail.Y, at.X, at.Y, 0.3, draw.RGB(0xffe08a))
	}
	for range game.Events[Shot](f) {
		s.Tone(draw.Tone{Wave: draw.Noise, From: 900, To: 200, Seconds: 0.07}, 0.08, 0)
	}
	for range game.Events[Taken](f) {
		s.Tone(draw.Tone{Wave: draw.Sine, From: 880, To: 1320, Seconds: 0.08}, 0.1, 0)
	}
}

func drawAvatar(s *draw.Surface, f *game.Frame, id world.ID, a *Avatar) {
	if a.Health == 0 {
		return
	}
	at := a.Pos.MulAdd(a.Vel, f.Ahead(id))
	owner := f.World.Owner(id)
	c := draw.RGB(0x7f9bd1)
	if owner != world.Nobody && owner == f.Me {
		c = draw.RGB(0xffb35c)
	}
	nose := at.MulAdd(a.Aim.Vec(), 1.2)
	s.Line(at.X, at.Y, nose.X, nose.Y, 0.35, c.Mix(draw.White, 0.3))
	s.Circle(at.X, at.Y, Girth, c)
	if a.Health < whole {
		s.Rect(at.X-1, at.Y+1.1, 2, 0.2, draw.RGB(0x402020))
		s.Rect(at.X-1, at.Y+1.1, 2*float64(a.Health)/whole, 0.2, draw.RGB(0xff6a5a))
	}
	if name := f.Name(owner); name != "" {
		s.Text(at.X, at.Y+1.9, 0.9, name, draw.White.Alpha(0.7), draw.Center)
	}
}

// scores lists who has gathered the most.
func scores(w *world.World) (list []game.Score) {
	for id, a := range world.All[Avatar](w) {
		if p := w.Owner(id); p != world.Nobody {
			list = append(list, game.Score{Player: p, Points: a.Gems})
		}
	}
	slices.SortStableFunc(list,
		func(a, b game.Score) int { return cmp.Compare(b.Points, a.Points) })
	return list
}

// A pad makes commands of what a player does: it aims at the pointer, or where one last went.
type pad struct{ aim det.Angle }

func (p *pad) walk(in *game.Input) Walk {
	c := Walk{Fire: in.Fire}
	if in.Right != in.Left {
		if c.X = 1; in.Left {
			c.X = -1
		}
	}
	if in.Up != in.Down {
		if c.Y = 1; in.Down {
			c.Y = -1
		}
	}
	switch way := (det.Vec2{X: float64(c.X), Y: float64(c.Y)}); {
	case in.Aim != (det.Vec2{}):
		p.aim = in.Aim.Angle()
	case in.Pointer.There && in.Pointer.Offset != (det.Vec2{}):
		p.aim = in.Pointer.Offset.Angle()
	case way != (det.Vec2{}):
		p.aim = way.Angle()
	}
	c.Aim = p.aim
	return c
}
