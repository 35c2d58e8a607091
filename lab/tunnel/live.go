package tunnel

import (
	"errors"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Live says whether a person sits here, with a screen that is drawn when Screen is called.
func (s *Seat) Live() bool { return s.live != nil }

// A Live is a trial in which a person plays, in the first seat. Its time is still virtual: it goes
// by when Pass is called, in step with the person's clock or as quickly as it can be computed.
type Live struct {
	trial *Trial
	match Match
}

// NewLive begins one, with bots in all seats. Setup.Time is how long a person will play, and Warm
// for how long the game goes on before.
func NewLive(s Setup) (*Live, error) {
	if err := s.Arch.Check(s.Subject, s.Players); err != nil {
		return nil, err
	}
	s.First = true
	t, err := newTrial(s)
	if err != nil {
		return nil, err
	}
	m, err := s.Arch.Start(t)
	if err != nil {
		return nil, errors.Join(err, t.err)
	}
	t.match = m
	return &Live{t, m}, nil
}

// Pass lets time go by.
func (l *Live) Pass(d time.Duration) error {
	if l.trial.err == nil {
		l.trial.Net.RunUntil(d, func() bool { return l.trial.err != nil })
	}
	return l.trial.err
}

// Passed is how much time has gone by.
func (l *Live) Passed() time.Duration { return l.trial.Net.Now() }

// Ready says whether all play and the game has gone on for Setup.Warm, on the clock of the game
// itself: so it is as old as any other that is ready.
func (l *Live) Ready() bool {
	s := l.trial.Seats[0]
	warm := world.Tick(l.trial.Warm / l.trial.Subject.Game.TickLength())
	return l.match.Playing() && s.Screen != nil && s.newest >= warm
}

// Me is who the person is, once it is Ready.
func (l *Live) Me() world.Player { return l.trial.Seats[0].Me }

// Take has a person play in place of the bot, who is asked for commands as bots are, and begins to
// measure.
func (l *Live) Take(person game.Bot) {
	l.trial.Seats[0].live = person
	l.trial.begin()
}

// Frame is what the person is shown now. It says whether there is anything.
func (l *Live) Frame(f *game.Frame) bool {
	l.trial.Seats[0].Screen(f)
	return f.World != nil && l.trial.err == nil
}

// Leave has the bot go on, and gives what was measured of the person's seat, by the keys of axes.
func (l *Live) Leave() (map[string]float64, error) {
	t := l.trial
	if err := t.err; err != nil {
		return nil, err
	}
	t.Seats[0].live = nil
	t.end()
	if err := l.Pass(drain); err != nil {
		return nil, err
	}
	var one tally
	one.add(t.Seats[0])
	return one.figures(t), nil
}

// Close ends it.
func (l *Live) Close() { l.match.Close() }
