package blind

import (
	"fmt"
	"time"
)

// A Phase is how far a test has come.
type Phase string

// The phases.
const (
	Waiting  Phase = "waiting"  // for the person to begin
	Pausing  Phase = "pausing"  // before an interval
	Playing  Phase = "playing"  // an interval
	Asking   Phase = "asking"   // after the last one
	Finished Phase = "finished" // all trials are answered
)

// Pause is how long it is dark before each interval: as long before either side, so that it says
// nothing.
const Pause = 2 * time.Second

// Hush is for how long after the last interval no answer is taken: who plays still has fingers on
// keys.
const Hush = 500 * time.Millisecond

// A Procedure leads a person through a test. It knows what is to be played when; what it tells of a
// moment does not say which side that is.
type Procedure struct {
	sheet    *Sheet
	phase    Phase
	trial    int // the number of the present one, from 0
	interval int
	until    time.Duration // when the phase ends
}

// NewProcedure goes on with a sheet, at the first trial without an answer.
func NewProcedure(s *Sheet) *Procedure {
	p := &Procedure{sheet: s, phase: Waiting, trial: len(s.Answers)}
	if s.Full() {
		p.phase = Finished
	}
	return p
}

// Phase is how far the test has come.
func (p *Procedure) Phase() Phase { return p.phase }

// Side is what is to be played in the present interval, and Seed the seed of its match. They are
// for whoever runs the match, and not for the person.
func (p *Procedure) Side() int { return p.sheet.Order(p.trial)[p.interval] }

// Seed is the random seed of the present match.
func (p *Procedure) Seed() uint64 { return p.sheet.Match(p.trial) }

// Interval is the number of the present one within its trial, from 0.
func (p *Procedure) Interval() int { return p.interval }

// Begin begins the first trial, at a time.
func (p *Procedure) Begin(now time.Duration) {
	if p.phase == Waiting {
		p.pause(now, 0)
	}
}

func (p *Procedure) pause(now time.Duration, interval int) {
	p.phase, p.interval, p.until = Pausing, interval, now+Pause
}

// Advance goes on to a time. Ready says that the match of the interval that comes next can be
// played; until then it is paused.
func (p *Procedure) Advance(now time.Duration, ready bool) {
	if now < p.until {
		return
	}
	switch p.phase {
	case Pausing:
		if ready {
			p.phase, p.until = Playing, now+p.sheet.Length()
		}
	case Playing:
		if p.interval+1 < p.sheet.Question.Intervals() {
			p.pause(now, p.interval+1)
		} else {
			p.phase, p.until = Asking, now+Hush
		}
	}
}

// Restart plays the present trial from its beginning, as if nothing of it had been seen: for one
// that could not be played to its end.
func (p *Procedure) Restart() {
	if p.phase != Finished {
		p.phase, p.interval = Waiting, 0
	}
}

// Answer takes the answer to a trial, which must be the present one, and goes on to the next. Keep,
// if it is set, is to keep the sheet with the answer; where it fails there is no answer.
func (p *Procedure) Answer(now time.Duration, trial, choice int, keep func() error) error {
	switch {
	case p.phase != Asking || trial != p.trial:
		return fmt.Errorf("trial %d is not asked about now", trial+1)
	case choice != 0 && choice != 1:
		return fmt.Errorf("the answer is %d: it must be 0 or 1", choice)
	case now < p.until:
		return fmt.Errorf("the answer came within %v of playing: give it again", Hush)
	}
	p.sheet.Answers = append(p.sheet.Answers, choice)
	if keep != nil {
		if err := keep(); err != nil {
			p.sheet.Answers = p.sheet.Answers[:p.trial]
			return err
		}
	}
	if p.trial++; p.sheet.Full() {
		p.phase = Finished
		return nil
	}
	p.pause(now, 0)
	return nil
}

// A Moment is what the person may know.
type Moment struct {
	Phase    Phase    `json:"phase"`
	Question Question `json:"question"`
	// Trial is the present one of Trials, from 1, and Label that of the interval that is played or
	// comes next.
	Trial  int      `json:"trial"`
	Trials int      `json:"trials"`
	Label  string   `json:"label"`
	Labels []string `json:"labels"`
	// Left is how many seconds the phase lasts, as far as that is known, of Of.
	Left float64 `json:"left"`
	Of   float64 `json:"of"`
}

// Now is what the person may know at a time.
func (p *Procedure) Now(now time.Duration) Moment {
	m := Moment{Phase: p.phase, Question: p.sheet.Question, Trials: p.sheet.Trials,
		Trial: min(p.trial+1, p.sheet.Trials), Labels: p.sheet.Question.Labels()}
	switch p.phase {
	case Pausing, Playing:
		m.Label = m.Labels[p.interval]
		m.Of = Pause.Seconds()
		if p.phase == Playing {
			m.Of = p.sheet.Length().Seconds()
		}
		m.Left = min(max((p.until-now).Seconds(), 0), m.Of)
	}
	return m
}
