package game

import (
	"cmp"
	"errors"
	"io/fs"
	"iter"
	"slices"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/world"
)

// A Screen draws a title, in a browser, a window, a terminal or a file alike.
type Screen struct {
	// Draw draws a frame. What it needs is in the frame; it keeps nothing from one to the next.
	Draw func(s *draw.Surface, f *Frame)
	// New, in place of Draw, makes one for each screen, which may remember: where the camera was,
	// sparks that fly. It changes nothing in the world.
	New func() func(s *draw.Surface, f *Frame)
	// Assets are the images and sounds that the calls name, such as an embed.FS.
	Assets fs.FS
	// Scores, if set, lists the players with their points, best first, for the board.
	Scores func(w *world.World) []Score
	// Touch says what fingers are for. Default: two sticks.
	Touch Touch
	// Hint is one line that says how to play. Default: arrows or WASD move, space acts.
	Hint string
}

// Touch is what fingers on glass are for.
type Touch uint8

// With TouchSticks one thumb in the left half pushes Stick, and one in the right half Fire and Aim.
// With TouchStick a thumb anywhere pushes Stick, and a tap or a second finger is Fire. With
// TouchPoint fingers are the Pointer.
const (
	TouchSticks Touch = iota
	TouchStick
	TouchPoint
)

// A Frame is what there is to draw at a moment.
type Frame struct {
	// World is the game as the player sees it, and Me is who that is, or world.Nobody for someone
	// who watches.
	World *world.World
	Me    world.Player
	// Time is for how many seconds there has been a screen, and Seconds since the last frame.
	Time, Seconds float64
	// Lead is how many seconds the moment is past the world's tick, for what is the player's own,
	// and Others for what is not; see Ahead.
	Lead, Others float64
	// Fresh says that the events of the world have not been shown yet; see Events.
	Fresh bool
	// Names are what players call themselves.
	Names func(world.Player) string
}

// Ahead is how many seconds the moment is past the place where an entity is in the world. Between
// two ticks, what moves is drawn that far along its way:
//
//	at := ball.Pos.MulAdd(ball.Vel, f.Ahead(id))
func (f *Frame) Ahead(id world.ID) float64 {
	if f.Me != world.Nobody && f.World.Owner(id) == f.Me {
		return f.Lead
	}
	return f.Others
}

// Name is what a player is called.
func (f *Frame) Name(p world.Player) string {
	if f.Names == nil {
		return ""
	}
	return f.Names(p)
}

// Events are those of a type that are to be shown and heard in this frame. Each is there once.
func Events[E any](f *Frame) iter.Seq2[world.Emitted, *E] {
	return func(yield func(world.Emitted, *E) bool) {
		if !f.Fresh {
			return
		}
		for e, x := range world.Events[E](f.World) {
			if !yield(e, x) {
				return
			}
		}
	}
}

// A Score is a player's line on the board.
type Score struct {
	Player world.Player
	Points int
}

// Points makes a Screen's Scores of what an author writes: how many points the owner of an entity
// of a class has by it.
//
//	Scores: game.Points(func(s *Ship) int { return s.Hits }),
func Points[E any](points func(e *E) int) func(w *world.World) []Score {
	return func(w *world.World) (list []Score) {
		for id, e := range world.All[E](w) {
			if p := w.Owner(id); p != world.Nobody {
				list = append(list, Score{Player: p, Points: points(e)})
			}
		}
		slices.SortStableFunc(list, func(a, b Score) int { return cmp.Compare(b.Points, a.Points) })
		return list
	}
}

// Drawn says whether there is anything to draw with.
func (s *Screen) Drawn() bool { return s.Draw != nil || s.New != nil }

// Drawer makes what draws on one screen.
func (s *Screen) Drawer() func(*draw.Surface, *Frame) {
	if s.New != nil {
		return s.New()
	}
	return s.Draw
}

func (s *Screen) check(t *Title) (wrong []error) {
	if s.Draw != nil && s.New != nil {
		wrong = append(wrong, errors.New("Screen has both Draw and New; set one of them"))
	}
	if !s.Drawn() && (s.Assets != nil || s.Scores != nil) {
		wrong = append(wrong,
			errors.New("Screen has no Draw; set it, or leave the rest of it out"))
	}
	if s.Drawn() && t.Control == nil && t.Game.Commands() != nil {
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
