package client

import (
	"slices"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A View is what there is to show in one frame, and what happened since the last. Its lists and
// worlds are good until the next frame, and are to be left as they are.
type View struct {
	// World is what to draw, or nil as long as there is nothing.
	World *world.World
	// Me is whose eyes these are.
	Me world.Player
	// Truth is what the server last said of everything in view, or nil where there is no server.
	Truth *world.World
	// Lead is how many seconds the present is past the world's tick for what is one's own, and
	// Others for what is not.
	Lead, Others float64
	// Fresh says that the events of World are to be shown now.
	Fresh bool
	// Notices are about the events of World, and about earlier ones.
	Notices []predict.Notice
	// Retracted are those of the notices that take back what was shown: an event that did not
	// happen after all, since another server knew better. Each can be read by Read, and knows for
	// how long it was believed.
	Retracted []predict.Notice

	// Phase is how far the player has come, and Status says what they wait for. It is empty while
	// the game goes on.
	Phase  Phase
	Status string
	// Began says that a new world has begun, that of Level.
	Began bool
	Level game.Level
	// Moved are the servers at which the player goes on, in the same world.
	Moved []wire.Server
	// Words are what the server or other players said, and pauses.
	Words []Word
	// Uploads are what became of data that was sent by Client.Upload.
	Uploads []Uploaded
	// Ended says that the game is over for this player, and Err why, or nil if they left.
	Ended bool
	Err   error
}

// A Word is something that is said to a player.
type Word struct {
	Kind   WordKind
	Player world.Player // who says it, for Chat
	Name   string       // the same, by name
	Text   string
	// To is for whom alone it was said, for Chat; empty if everyone heard it.
	To []world.Player
}

// WordKind says what a Word is.
type WordKind uint8

// What is said to players.
const (
	Chat    WordKind = iota + 1 // by another player
	Notice                      // by the server
	Pause                       // the game stands still; Text says who wanted it
	Proceed                     // it goes on
)

// screen is what was shown last, and what is to be told with the next View.
type screen struct {
	world *world.World // nil until a world has been shown
	began bool
	level game.Level
	moved []wire.Server
	words []Word

	// What the last View holds.
	gaveMoved []wire.Server
	gaveWords []Word
	retracted []predict.Notice
}

// begin starts with a new world.
func (s *screen) begin(l game.Level) { s.world, s.began, s.level = nil, true, l }

// news moves what happened into a view.
func (s *screen) news(v *View) {
	v.Began, v.Level, s.began = s.began, s.level, false
	s.gaveMoved, s.moved = s.moved, s.gaveMoved[:0]
	s.gaveWords, s.words = s.words, s.gaveWords[:0]
	v.Moved, v.Words = s.gaveMoved, s.gaveWords
}

// Show gives what is to be drawn at the time of the last Receive.
func (c *Client) Show() View {
	s := &c.screen
	v := View{Me: c.Player(), Phase: c.Phase(), Truth: c.Truth()}
	s.news(&v)
	u := &c.uploads
	u.gave, u.done = u.done, u.gave[:0]
	v.Uploads = u.gave
	if p := c.predict; p != nil {
		if v.Phase == Playing && p.Started() {
			s.world, v.Fresh = p.Show(c.now), true
			v.Notices = p.Notices()
			s.retracted = append(s.retracted[:0], v.Notices...)
			s.retracted = slices.DeleteFunc(s.retracted, isNot(predict.Retracted))
			v.Retracted = s.retracted
			if p.Err() != nil {
				c.stats.Bad++
			}
		}
		v.Lead = p.Fraction() * c.game.TickLength().Seconds()
		if p.Style() == predict.Doom3 {
			v.Others = v.Lead
		}
	}
	v.World, v.Status = s.world, c.status()
	if v.Ended = c.ways.Over(); v.Ended {
		v.Err = c.Err()
	}
	return v
}

func isNot(w predict.What) func(predict.Notice) bool {
	return func(n predict.Notice) bool { return n.What != w }
}

// status tells what the player waits for.
func (c *Client) status() string {
	switch c.Phase() {
	case Playing:
		switch {
		case c.scene.paused:
			return "the game is paused"
		case c.screen.world == nil:
			return "entering"
		}
		return ""
	case Loading:
		return "loading the level"
	case Ended:
		return "the game is over"
	}
	if c.ways.Stats().Returns > 0 {
		return "the connection was lost; coming back"
	}
	return "connecting"
}
