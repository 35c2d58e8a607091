package game

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/world"
)

// A Screen draws a title with characters, for terminals and for pages without a renderer of their
// own.
type Screen struct {
	// Width and Height are the part of the world that is drawn, in its own units. The origin is at
	// the bottom left.
	Width, Height float64
	// Draw shows the world as a player sees it, or world.Nobody for someone who watches, by putting
	// characters at places.
	Draw func(w *world.World, me world.Player, put func(x, y float64, c rune))
}

// Drawn says whether there is anything to draw with.
func (s *Screen) Drawn() bool { return s.Draw != nil }

func (s *Screen) check(t *Title) (wrong []error) {
	switch {
	case s.Draw == nil && (s.Width != 0 || s.Height != 0):
		wrong = append(wrong,
			errors.New("Screen has a size but no Draw; set it, or leave the size out"))
	case s.Draw != nil && !(s.Width > 0 && s.Height > 0):
		wrong = append(wrong,
			fmt.Errorf("Screen is %v by %v; give the size of what Draw shows", s.Width, s.Height))
	}
	if s.Draw != nil && t.Control == nil && t.Game.Commands() != nil {
		wrong = append(wrong,
			errors.New("it can be drawn but not controlled: set Control, with game.Controls"))
	}
	if t.Control != nil && t.Game.Commands() == nil {
		wrong = append(wrong,
			errors.New("Control is set, but the rules have no commands: declare them with "+
				"world.Commands"))
	}
	return wrong
}

// Keys are what a player holds down, on whatever there is to hold.
type Keys struct{ Up, Down, Left, Right, Fire bool }

// A Control makes a player's command of what they hold down. It may remember, such as where one
// last went; so each player has one of their own.
type Control func(k Keys, me world.Player, in *world.Inputs) error

// Controls makes a Title's Control of what an author writes: a function that makes commands of
// keys.
//
//	Control: game.Controls(func() func(game.Keys) Move { return keys }),
func Controls[C any](make func() func(k Keys) C) func() Control {
	return func() Control {
		command := make()
		return func(k Keys, me world.Player, in *world.Inputs) error {
			return world.Give(in, me, command(k))
		}
	}
}
