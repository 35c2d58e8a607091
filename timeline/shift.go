package timeline

import (
	"errors"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// Shift makes a timeline whose world began in the middle of a group's time, as that of a later
// level did: its tick 0 is the group's tick by. What is told to it and what it says of commands is
// in ticks of the group; the worlds that it gives have their own. By has to be a multiple of the
// game's rate, since times of ticks are rounded within a second. It is for timelines that do not
// wait.
func Shift(t Timeline, by world.Tick) (Timeline, error) {
	switch rate := world.Tick(t.Settled().Game().Rate()); {
	case by == 0:
		return t, nil
	case by%rate != 0:
		return nil, errors.New("timeline: a world begins at a full second of its group's time")
	case t.Waits():
		return nil, errors.New("timeline: one that waits cannot be shifted")
	}
	return &shifted{t, by, NewClock(t.Settled()).Time(by)}, nil
}

type shifted struct {
	Timeline
	by   world.Tick
	time time.Duration
}

func (s *shifted) Stamp(now time.Duration) world.Tick { return s.Timeline.Stamp(now-s.time) + s.by }

// Submit takes what is for a tick before the world began for too late.
func (s *shifted) Submit(now time.Duration, c Command) (Fate, error) {
	if c.Tick <= s.by {
		return TooLate, nil
	}
	c.Tick -= s.by
	return s.Timeline.Submit(now-s.time, c)
}

func (s *shifted) Advance(now time.Duration) error { return s.Timeline.Advance(now - s.time) }

func (s *shifted) Next() time.Duration {
	if next := s.Timeline.Next(); next < Never-s.time {
		return next + s.time
	}
	return Never
}

func (s *shifted) Pending(yield func(Command) bool) {
	for c := range s.Timeline.Pending {
		c.Tick += s.by
		if !yield(c) {
			return
		}
	}
}

func (s *shifted) Hold(until world.Tick) { s.Timeline.Hold(max(until, s.by) - s.by) }

// Unshift gives commands in a group's ticks as Options.Pending has them for a world that began at
// one: in those of the world. What is for earlier ticks is left out.
func Unshift(list []Command, by world.Tick) (out []Command) {
	for _, c := range list {
		if c.Tick > by {
			c.Tick -= by
			out = append(out, c)
		}
	}
	return out
}
