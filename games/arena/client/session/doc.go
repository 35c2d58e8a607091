// Package session brings a player into an arena and keeps them there: over a
// network, with everything predicted, or alone against bots.
//
//	s := session.New(session.Options{Join: ..., Name: "ann"})
//	for each frame {
//		s.Frame(now, pilot)        // takes in what came, computes what is due, sends commands
//		v := s.View()              // what to draw
//	}
//
// A Session is that of topology/client, with what is the arena's own: a pilot who
// makes commands, names that are asked for by command, and what was taken back as
// the arena's events. Commands are made when the predicted world takes a step, are
// shown in the same frame, and go to the server with the next packet. When the
// connection is lost it is sought again, first by the ticket of the lost one, then
// by a new token. Where the server is one of several mirrors the player goes on at
// another in the same body, and what a mirror takes back is told as Undone. It has
// no goroutines but the one that asks for a token, and runs the same in a browser,
// on a desktop, and over a simulated network in virtual time.
package session

import (
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/world"
)

// A Pilot makes the player's command for one tick. It is told the player's own fighter, or nil if
// there is none.
type Pilot func(me *arena.Fighter) arena.Command

// A View is what there is to show in one frame.
type View struct {
	World *world.World // nil as long as there is nothing to show; good until the next frame
	Me    world.Player // whose eyes these are
	// Truth is what the server last said of everything in view, or nil where there is no server.
	Truth *world.World
	// Lead is how many seconds the present is past the world's tick for what is one's own, and
	// Others for what is not.
	Lead, Others float64
	// Fresh says that the events of World are to be shown now.
	Fresh bool
	// Undone lists what was shown and did not happen after all, since the last View.
	Undone []Undone
	// Status says what the player waits for. It is empty while the game goes on.
	Status string
}

// A Play is a game under way with one player in front of it.
type Play interface {
	// Frame goes on to a time, which never goes back. The pilot is asked once for each tick that is
	// due.
	Frame(now time.Duration, pilot Pilot)
	// View gives what is to be shown.
	View() View
}

// Fighter is the body of the player who looks on, or nil.
func (v *View) Fighter() *arena.Fighter { return fighterOf(v.World, v.Me) }

// fighterOf finds a player's fighter.
func fighterOf(w *world.World, p world.Player) *arena.Fighter {
	if w == nil || p == world.Nobody {
		return nil
	}
	for id, f := range world.All[arena.Fighter](w) {
		if w.Owner(id) == p {
			return f
		}
	}
	return nil
}
