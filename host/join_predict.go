//go:build !js

package host

import (
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// asItCame is the style of a client that predicts nothing.
const asItCame = "none"

// styleNames lists what --style takes.
const styleNames = "doom3, quake3, halflife or none"

// A seer makes of what comes from the server the world that the player is shown: the present as it is predicted, or without a style what came last.
type seer struct {
	predict.Player // the clock among other things; its Heard is replaced below
	style          predict.Style
	off            bool // nothing is predicted
	classes        map[string]predict.Class
	repeats        predict.Redundancy

	client   *clientserver.Client
	watching bool
	err      error // why a world cannot be predicted

	corrected       int     // things that were shown elsewhere than they were
	furthest        float64 // how far at most, in the game's units
	compared, wrong int     // in worlds that are no more
}

// newSeer makes one for a game and a style by its name. Command gives what the player does, by what is shown.
func newSeer(t *game.Title, style string, command func(world.Tick, world.Player, *world.World, *world.Inputs)) (*seer, error) {
	s := &seer{Player: predict.Player{Command: command}, off: style == asItCame}
	// The connection tells what share is lost, but not how many in a row; a few more than the share alone asks for see to that.
	s.repeats.Least = 4
	s.classes = t.Predict()
	var err error
	s.style, err = parseStyle(style)
	return s, err
}

// parseStyle finds a style by its name.
func parseStyle(name string) (predict.Style, error) {
	if name == asItCame {
		return predict.Style(0), nil
	}
	s, err := predict.ParseStyle(name)
	if err != nil {
		return s, cli.Usagef("--style is %q: it must be %s", name, styleNames)
	}
	return s, nil
}

// hook puts the seer into a client's options; attach tells it of the client that was made of them.
func (s *seer) hook(o *clientserver.ClientOptions) {
	if s.off {
		o.Input = func(t world.Tick, p world.Player, in *world.Inputs) { s.Command(t, p, s.client.View(), in) }
		return
	}
	o.Clock, o.Input, o.Header, o.Snapshot, o.Event = s, s.Input, s.Header, s.Snapshot, s.Event
	o.Begun = func(_ clientserver.Level, view, start *world.World) { s.begin(view, start) }
}

func (s *seer) attach(c *clientserver.Client) { s.client = c }

// farAhead is how many ticks can be predicted when nothing is heard. Of a world in which nothing happens nothing is told, and on a bad network that may take seconds.
const farAhead = 240

// begin starts to predict a new world. Who only watches presses nothing that should be seen at once, and is shown what really was, a moment ago.
func (s *seer) begin(view, start *world.World) {
	s.compared, s.wrong = s.predicted() // the world before makes way for this one
	s.watching = s.client.Player() == world.Nobody
	style := s.style
	if s.watching {
		style = predict.Quake3
	}
	if s.err = s.Begin(view, start, predict.Options{Player: s.client.Player(), Classes: s.classes, Keep: farAhead}); s.err == nil {
		s.Client().SetStyle(style)
	}
}

// predicted is how often something was predicted and then told, and how often it turned out otherwise.
func (s *seer) predicted() (compared, wrong int) {
	compared, wrong = s.compared, s.wrong
	if c := s.Client(); c != nil {
		for _, r := range c.Report() {
			compared, wrong = compared+r.Compared, wrong+r.Wrong
		}
	}
	return compared, wrong
}

// Heard learns how much is lost, for the clock and for how often commands are sent.
func (s *seer) Heard(now time.Duration, n *replica.Snapshot, q conn.Quality) {
	s.repeats.SetLoss(q.LossOut)
	s.Player.Heard(now, n, q)
}

// Repeats is how many of the last commands each packet carries.
func (s *seer) Repeats() int { return s.repeats.Commands() }

// show gives the world to draw, or nil before there is one. It is to be called after each tick.
func (s *seer) show(now time.Duration) (*world.World, error) {
	if s.off {
		return s.client.View(), nil
	}
	w := s.Player.Show(now)
	if c := s.Client(); w != nil {
		for _, x := range c.Corrections() {
			s.corrected++
			s.furthest = max(s.furthest, x.Distance)
		}
	}
	return w, s.err
}

// ahead is by how many ticks what is shown is past the newest snapshot; below zero, by how many it is behind.
func (s *seer) ahead() float64 {
	switch c := s.Client(); {
	case c == nil || !c.Started():
		return 0
	case s.watching:
		return -c.Playout().Behind()
	default:
		return c.Clock().Ahead()
	}
}
