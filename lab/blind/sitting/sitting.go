package sitting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/blind"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/world"
)

// Options say what is played, and on which sheet answers are kept.
type Options struct {
	Title *game.Title
	Sides Sides
	Sheet *blind.Sheet
	// Save keeps a sheet. An answer counts once it is kept.
	Save func(*blind.Sheet) error
	// File is where that is, for the person to read.
	File string
}

// A Sitting is one person's. It belongs to one goroutine, and starts none.
type Sitting struct {
	o         Options
	subject   *lab.Subject
	field     *tunnel.Field
	procedure *blind.Procedure

	now     time.Duration // of the test
	clock   time.Duration // of the person, when last asked
	asked   bool
	live    *tunnel.Live // or nil
	plays   bool         // the person does
	matches int
	frame   game.Frame
	pending [2]blind.Measured // of the present trial
	err     error
}

// New makes one. The plan of the sheet must be one that Plan gave.
func New(o Options) (*Sitting, error) {
	s := &Sitting{o: o, procedure: blind.NewProcedure(o.Sheet)}
	p := &o.Sheet.Plan
	if p.Sides != o.Sides.Names() {
		return nil, errors.New("sitting: the sheet is of other sides")
	}
	var err error
	if s.subject, err = lab.NewSubject(o.Title, p.Level, p.Players); err != nil {
		return nil, err
	}
	if s.field, err = tunnel.ParseField(p.Network); err != nil {
		return nil, err
	}
	if err := s.subject.Commanded("there is nothing to play"); err != nil {
		return nil, err
	}
	for _, a := range o.Sides {
		if err := a.Check(s.subject, p.Players); err != nil {
			return nil, err
		}
	}
	s.frame.Names = s.nameOf
	return s, nil
}

const (
	// warm is how old a match is when it is shown, on its own clock.
	warm = 4 * time.Second
	// joinTime is how long machines may take to find each other.
	joinTime = 30 * time.Second
	// hurry is how much of a match is computed in each frame until it can be shown.
	hurry = 400 * time.Millisecond
	// asleep is how long nobody may look before time stands still: a page that is out of sight.
	asleep = 250 * time.Millisecond
)

// Rehearse lets a match of each side begin, to find out beforehand whether it can.
func (s *Sitting) Rehearse(ctx context.Context) error {
	for side := range s.o.Sides {
		l, err := s.begin(side, s.o.Sheet.Match(0))
		for err == nil && !l.Ready() {
			if err = ctx.Err(); err == nil {
				err = s.bring(l, side)
			}
		}
		if l != nil {
			l.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Sitting) begin(side int, seed uint64) (*tunnel.Live, error) {
	p := &s.o.Sheet.Plan
	return tunnel.NewLive(tunnel.Setup{Subject: s.subject, Arch: s.o.Sides[side], Field: s.field,
		Players: p.Players, Seed: seed, Warm: warm, Time: p.Length()})
}

// bring computes some more of a match until it can be shown.
func (s *Sitting) bring(l *tunnel.Live, side int) error {
	for end := l.Passed() + hurry; !l.Ready() && l.Passed() < end; {
		if err := l.Pass(s.subject.Game.TickLength()); err != nil {
			return err
		}
	}
	if !l.Ready() && l.Passed() > joinTime {
		return fmt.Errorf("with %s not all players are there after %v on %s: choose another "+
			"network, or fewer players", s.o.Sides[side].Name, joinTime, s.field.Name)
	}
	return nil
}

// Begin begins the first trial, or the present one if it could not be played to its end.
func (s *Sitting) Begin() {
	s.err = nil
	s.procedure.Begin(s.now)
}

// Answer takes the answer to a trial, counted from 1: 0 or 1 for the first or second label. It
// counts once it is kept.
func (s *Sitting) Answer(trial, choice int) error {
	before := s.o.Sheet.Measured
	err := s.procedure.Answer(s.now, trial-1, choice, func() error {
		for i := range s.pending {
			s.o.Sheet.Measured[i].Add(s.pending[i].Seconds, s.pending[i].Figures)
		}
		return s.o.Save(s.o.Sheet)
	})
	if err != nil {
		s.o.Sheet.Measured = before
		return err
	}
	s.pending = [2]blind.Measured{}
	return nil
}

// Frame goes on to a time of the person's clock, and gives what is to be drawn: nothing, if nothing
// is played. Match tells one match from another. The person is asked for commands.
func (s *Sitting) Frame(clock time.Duration, person game.Bot) (f *game.Frame, match int) {
	passed := clock - s.clock
	if !s.asked || passed < 0 || passed > asleep {
		passed = 0
	}
	s.clock, s.asked = clock, true
	s.now += passed
	if err := s.advance(passed, person); err != nil {
		s.err = err
		s.drop()
		s.procedure.Restart()
	}
	if s.plays && s.live.Frame(&s.frame) {
		return &s.frame, s.matches
	}
	return nil, s.matches
}

func (s *Sitting) advance(passed time.Duration, person game.Bot) (err error) {
	if s.procedure.Phase() == blind.Pausing {
		err = s.prepare()
	}
	if err == nil && s.plays {
		err = s.live.Pass(passed)
	}
	if err != nil {
		return err
	}
	was := s.procedure.Phase()
	side, interval := 0, s.procedure.Interval()
	if was == blind.Playing {
		side = s.procedure.Side()
	}
	s.procedure.Advance(s.now, s.live != nil && s.live.Ready())
	switch is := s.procedure.Phase(); {
	case was == is:
	case is == blind.Playing:
		s.plays = true
		s.live.Take(person)
	case was == blind.Playing:
		return s.leave(side, interval)
	}
	return nil
}

// prepare has the match of the next interval begin.
func (s *Sitting) prepare() (err error) {
	side := s.procedure.Side()
	if s.live == nil {
		s.matches++
		if s.procedure.Interval() == 0 {
			s.pending = [2]blind.Measured{}
		}
		if s.live, err = s.begin(side, s.procedure.Seed()); err != nil {
			return err
		}
	}
	return s.bring(s.live, side)
}

// leave ends a match. Of X nothing is kept: otherwise the sheet would say which side it was.
func (s *Sitting) leave(side, interval int) error {
	figures, err := s.live.Leave()
	if err == nil && interval < 2 {
		s.pending[side].Add(s.o.Sheet.Length().Seconds(), figures)
	}
	s.drop()
	return err
}

func (s *Sitting) drop() {
	if s.live != nil {
		s.live.Close()
	}
	s.live, s.plays, s.frame.World = nil, false, nil
}

// Close ends what is played.
func (s *Sitting) Close() { s.drop() }

// names are what the other players are called, by their numbers, as one was first.
var names = [...]string{"Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gwen", "Hal", "Ida", "Jon"}

func (s *Sitting) nameOf(p world.Player) string {
	switch {
	case p == world.Nobody:
		return ""
	case p == s.frame.Me:
		return "you"
	}
	return names[(int(p)-2+len(names))%len(names)]
}
