package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// Auto is Trailing that chooses its own delays. From how late commands come, how wrong that makes
// what players are shown, how often it has to be repaired, and what steps and copies take, it finds
// the number of states and the delays that cost least, as Model says, and changes to them while it
// runs. The window stays as it is, because
// all mirrors must have the same; so each mirror may choose for itself, and the settled worlds do
// not depend on what it chooses.
type Auto struct {
	*Trailing
	o AutoOptions
	// players of one mirror do not wait for those of others
	prompt bool
	plan   *Plan
	next   time.Duration
	then   Stats         // when the last plan was made
	at     time.Duration // and when that was
	// how wrong was what players were shown lately
	shown impression
}

// AutoOptions say what Auto reckons with.
type AutoOptions struct {
	TrailingOptions // Delays are those it starts with
	// Step and Copy are what computing a tick and copying a world take. Where they are 0 and there
	// is a Clock, they are measured.
	Step, Copy time.Duration
	// States is the most there may be. Default: 5.
	States int
	// Least and Most bound the leading world's delay, as players may have to be treated alike on
	// all mirrors. Default: 0, and half of the window. But where Back is set and both of them are
	// not, the leading world waits for nobody, unless that takes more than Budget of a processor;
	// see Model.Prompt.
	Least, Most time.Duration
	Budget      float64
	// Every is how often it thinks again. Default: 2 s.
	Every time.Duration
	// Weights say what the drawbacks are worth.
	Weights Weights
}

// NewAuto makes a timeline that goes on from a world. The world is copied.
func NewAuto(start *world.World, o AutoOptions) (*Auto, error) {
	if o.Clock == nil && (o.Step <= 0 || o.Copy <= 0) {
		return nil, fmt.Errorf(
			"timeline: it is not known what a step and a copy take; give AutoOptions.Step and " +
				"Copy, or a Clock to measure them with")
	}
	o.Every = cmp.Or(o.Every, 2*time.Second)
	o.States = cmp.Or(o.States, 5)
	if o.Every < 0 || o.States < 2 || o.States > 8 {
		return nil, fmt.Errorf(
			"timeline: a plan every %v for at most %d states; give a time, and 2 to 8", o.Every,
			o.States)
	}
	line, err := NewTrailing(start, o.TrailingOptions)
	if err != nil {
		return nil, err
	}
	window := line.final().delay
	prompt := o.Back > 0 && o.Least == 0 && o.Most == 0
	o.Most = cmp.Or(o.Most, window/2)
	if len(line.trails) < 2 || o.Least < 0 || o.Most < o.Least || o.Most >= window {
		return nil, fmt.Errorf(
			"timeline: a leading delay from %v to %v with a window of %v; give at least two "+
				"delays, and bounds below the window", o.Least, o.Most, window)
	}
	return &Auto{Trailing: line, o: o, prompt: prompt, next: line.Now + o.Every, at: line.Now}, nil
}

// Advance computes what is due, and now and then thinks about the delays.
func (a *Auto) Advance(now time.Duration) error {
	if err := a.Trailing.Advance(now); err != nil {
		return err
	}
	if now < a.next {
		return nil
	}
	a.next = now + a.o.Every
	return a.think(now)
}

// Plan is the last plan that was made, or nil.
func (a *Auto) Plan() *Plan { return a.plan }

func (a *Auto) think(now time.Duration) error {
	m, ok := a.model(now)
	if !ok {
		return nil
	}
	plan, err := m.Plan()
	if err != nil {
		return err
	}
	a.plan, m = plan, plan.Model
	delays, present := a.within(plan.Delays), a.Delays().List()
	// A change upsets the leading world for a moment, so it has to be worth it.
	if slices.Equal(delays, present) || m.Cost(delays).Total() > 0.9*m.Cost(present).Total() &&
		!(m.prompt() && present[0] > 0) {
		return nil
	}
	return a.SetDelays(DelaysOf(delays...))
}

// within keeps to the bounds of the leading delay, and drops what then is not behind it.
func (a *Auto) within(delays []time.Duration) []time.Duration {
	out := slices.Clone(delays)
	out[0] = min(max(out[0], a.o.Least), a.o.Most)
	return append(out[:1],
		slices.DeleteFunc(out[1:], func(d time.Duration) bool { return d <= out[0] })...)
}

// model is what was measured since the last plan, as far as it was.
func (a *Auto) model(now time.Duration) (Model, bool) {
	s := a.Stats()
	m := Model{Spread: a.spread, Tick: a.Clock.Length(), Window: a.final().delay,
		Size: a.Leading().Host().Size(), States: a.o.States, Weights: a.o.Weights, Step: a.o.Step,
		Copy: a.o.Copy, Prompt: a.prompt, Budget: a.o.Budget}
	if len(a.past.kept) > 0 {
		m.Back = a.Clock.Time(world.Tick(len(a.past.kept) - 1))
	}
	m.Step = cmp.Or(m.Step, s.StepTime/time.Duration(max(s.Steps, 1)))
	m.Copy = cmp.Or(m.Copy, s.CopyTime/time.Duration(max(s.Copies, 1)))
	if m.Copy == 0 { // nothing was copied yet; it is mostly cheaper than a step
		m.Copy = m.Step
	}
	passed := now - a.at
	if s.Commands == a.then.Commands || passed <= 0 || m.Step <= 0 {
		return m, false
	}
	m.Rate = float64(s.Commands-a.then.Commands) / passed.Seconds()
	a.learn(&m, &s)
	a.then, a.at = s, now
	return m, true
}

// learn finds out what late commands do, from what happened since the last plan. While hardly any
// is late nothing can be learnt about it, and what was known stays.
func (a *Auto) learn(m *Model, s *Stats) {
	then := &a.then
	m.Harm = 0.1
	if a.plan != nil {
		m.Harm = a.plan.Model.Harm
	}
	if late := s.Late - then.Late; late >= 20 {
		found := s.Spoiled - then.Spoiled
		if m.Back == 0 {
			found = s.Seen - s.Refreshes - then.Seen + then.Refreshes
		}
		m.Harm = min(max((m.Harm+float64(found)/float64(late))/2, 0.005), 1)
		a.shown.add(s, then)
	}
	m.Wrong, m.Taken = a.shown.shares()
}

// An impression is what was shown lately, and what of that was wrong. There are few events between
// two plans, so older ones count as well, less and less.
type impression struct{ commands, late, bodies, wrong, events, taken float64 }

// fade is how much the past still counts at the next plan.
const fade = 0.85

func (p *impression) add(s, then *Stats) {
	for _, x := range []struct {
		sum       *float64
		now, then int
	}{
		{&p.commands, s.Commands, then.Commands}, {&p.late, s.Late, then.Late},
		{&p.bodies, s.Bodies, then.Bodies}, {&p.wrong, s.Wrong, then.Wrong},
		{&p.events, s.Events, then.Events}, {&p.taken, s.Taken, then.Taken},
	} {
		*x.sum = *x.sum*fade + float64(x.now-x.then)
	}
}

// doubtful is how many bodies or events more there are taken to have been, all of them right, so
// that a few at the start do not decide.
const doubtful = 100

// shares are those of wrong bodies and of events that were taken back, by that of late commands.
func (p *impression) shares() (wrong, taken float64) {
	if p.late == 0 {
		return 0, 0
	}
	late := p.late / p.commands
	return min(p.wrong/(p.bodies+doubtful)/late, 1), min(p.taken/(p.events+doubtful)/late, 1)
}
