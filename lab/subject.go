package lab

import (
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/world"
)

// A Subject is a title as experiments play it: on one level, in matches that never end, so that
// what is measured late is the same game as what is measured early. All else is the title's own:
// who is shown what, how it is sent and predicted, who plays.
type Subject struct {
	*game.Title
	// Level is the level that is played.
	Level string

	body  *world.ClassInfo // nil where the title has none
	width float64
}

// NewSubject prepares a title for an experiment with so many players. Without a level, the one that
// the title has for so many is played.
func NewSubject(t *game.Title, level string, players int) (*Subject, error) {
	if t == nil {
		return nil, errors.New("no title to play: set Options.Title")
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	if level == "" {
		level = t.Levels.Sized(players)
	}
	s := &Subject{Title: endless(t), Level: level}
	s.body, s.width, _ = t.Body()
	_, err := s.Title.Settings(game.Level{Name: level})
	return s, err
}

// endless is a copy of the title whose matches never end, or the title itself if they never do.
func endless(t *game.Title) *game.Title {
	settings, forever := t.Levels.Settings, t.Levels.Endless
	if forever == nil {
		return t
	}
	t = t.Clone()
	t.Levels.Settings = func(l game.Level) (s world.Settings, err error) {
		if settings != nil {
			s, err = settings(l)
		}
		if err == nil {
			forever(&s)
		}
		return s, err
	}
	return t
}

// With is the subject with knobs of the title set; see game.Title.With.
func (s *Subject) With(values knob.Values) (*Subject, error) {
	t, err := s.Title.With(values)
	if err != nil || t == s.Title {
		return s, err
	}
	out := *s
	out.Title = t
	return &out, nil
}

// On is the subject's level with a seed. The secret follows from it, so that a run repeats.
func (s *Subject) On(seed uint64) game.Level {
	return game.Level{Name: s.Level, Seed: seed, Secret: seed + 1}
}

// Commanded is an error if players have nothing to say, and names what cannot be done then.
func (s *Subject) Commanded(what string) error {
	if s.Game.Commands() == nil {
		return fmt.Errorf("title %s has no commands, so %s: declare them with world.Commands",
			s.Name(), what)
	}
	return nil
}

// Embodied is an error if the title does not say what players move about in, and names what cannot
// be done then.
func (s *Subject) Embodied(what string) error {
	if s.body == nil {
		return fmt.Errorf("title %s has no body, so %s: "+
			"call h.Body in the Hints of the class that players move about in", s.Name(), what)
	}
	return nil
}

// BodyClass is the number of the class that players move about in, and Width how wide one is. They
// are only for titles that are Embodied.
func (s *Subject) BodyClass() int { return s.body.Number() }

// Width is how wide a body is.
func (s *Subject) Width() float64 { return s.width }

// Hits goes through the hits of a world's tick. A title that does not tell of hits has none.
func (s *Subject) Hits(w *world.World, yield func(game.Hit) bool) {
	if s.Shots.Hits != nil {
		s.Shots.Hits(w, yield)
	}
}

// Clear says whether one can shoot from one place to another. Where the title knows of no cover one
// always can.
func (s *Subject) Clear(w *world.World, from, to det.Vec3) bool {
	return s.Shots.Clear == nil || s.Shots.Clear(w, from, to)
}
