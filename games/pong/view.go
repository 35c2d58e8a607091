package pong

import "github.com/coeval-dev/coeval/world"

// Draw shows the game on anything that can put a character at a place of the court, whose origin is
// at the bottom left.
func Draw(w *world.World, put func(x, y float64, c rune)) {
	for y := 0; y < Height; y += 3 {
		put(Width/2, float64(y), ':')
	}
	score := world.StateOf[Score](w)
	digits(put, Width/2-8, score.Left)
	digits(put, Width/2+8, score.Right)
	for _, p := range world.All[Paddle](w) {
		for y := -Reach; y <= Reach; y++ {
			put(p.X, p.Y+float64(y), '#')
		}
	}
	for _, b := range world.All[Ball](w) {
		put(b.Pos.X, b.Pos.Y, 'O')
	}
}

func digits(put func(x, y float64, c rune), x float64, n int) {
	put(x, Height-2, rune('0'+n/10))
	put(x+1, Height-2, rune('0'+n%10))
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
