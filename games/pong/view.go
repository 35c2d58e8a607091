package pong

import (
	"fmt"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Draw draws a frame of the game.
func Draw(s *draw.Surface, f *game.Frame) {
	court, chalk := draw.RGB(0x0b1f1a), draw.RGB(0xe8fff6)
	s.Clear(draw.RGB(0x06100d))
	s.Camera(draw.Camera{X: Width / 2, Y: Height / 2, Width: Width + 2, Height: Height + 2,
		Up: true})
	s.Rect(0, 0, Width, Height, court)
	for y := 1.0; y < Height; y += 3 {
		s.Rect(Width/2-0.15, y, 0.3, 1.2, chalk.Alpha(0.3))
	}
	score := world.StateOf[Score](f.World)
	s.Text(Width/2-8, Height-4, 5, fmt.Sprint(score.Left), chalk.Alpha(0.5), draw.Center)
	s.Text(Width/2+8, Height-4, 5, fmt.Sprint(score.Right), chalk.Alpha(0.5), draw.Center)
	for id, p := range world.All[Paddle](f.World) {
		c := chalk
		if f.Me != world.Nobody && f.World.Owner(id) == f.Me {
			c = draw.RGB(0x6ff0b0)
		}
		s.Rect(p.X-0.5, p.Y-Reach, 1, 2*Reach, c)
	}
	for id, b := range world.All[Ball](f.World) {
		at := b.Pos.MulAdd(b.Vel, f.Ahead(id))
		s.Glow(at.X, at.Y, 3, chalk.Alpha(0.25))
		s.Circle(at.X, at.Y, 0.75, chalk)
	}
	for range game.Events[Bounce](f) {
		s.Tone(draw.Tone{Wave: draw.Square, From: 440, Seconds: 0.06}, 0.3, 0)
	}
	for _, g := range game.Events[Goal](f) {
		tone := draw.Tone{Wave: draw.Triangle, From: 330, To: 165, Seconds: 0.4}
		if g.Won {
			tone.To = 660
		}
		s.Tone(tone, 0.5, 0)
	}
}

// Keys makes a command of the keys that are held.
func Keys(up, down bool) Move {
	switch {
	case up && !down:
		return Move{Y: 1}
	case down && !up:
		return Move{Y: -1}
	}
	return Move{}
}
