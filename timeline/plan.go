package timeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Model is what is known about a network and a game, from which the cost of a set of trailing
// states can be told in advance.
//
// The cost is the share of a processor that the states take, plus what their drawbacks are worth as
// such a share:
//
//	steps     states × ticks a second × Step
//	returns   with Back, for each tick: a copy, and how many ticks late commands are × (a step and a copy)
//	repairs   for each state that finds something: how often × (a copy and the ticks up to the next state, for it and each state ahead)
//	delay     the leading state's delay, which players of the same mirror wait for each other × Weights.Delay
//	wrong     the share of bodies that are wrong when they are first shown × Weights.Wrong
//	taken     the share of events that are taken back × Weights.Taken
//	rewind    how often players see a repair × how far back it goes × Weights.Rewind
//	memory    states × Size × Weights.Memory
//
// How much of what is shown is wrong is measured at the delays there are, and taken to be in
// proportion to the share of commands that come later than the leading state waits.
//
// State k finds what comes later than the state ahead of it could wait for and not later than
// itself: Rate × Harm × the share of commands between the two delays, at most; as one repair takes
// care of all that came until then, a rate r with a gap g between the states becomes r / (1 + r·g).
// What the leading state goes back for at once, nobody finds in it.
type Model struct {
	Spread *Spread       // how late commands come
	Tick   time.Duration // how long a tick is
	Rate   float64       // commands a second, of all players
	Harm   float64       // the share of late commands that have to be repaired
	Back   time.Duration // how far the leading state goes back at once
	Wrong  float64       // bodies wrong when first shown, by the share of commands that are late
	Taken  float64       // events taken back, by the same
	Step   time.Duration // what computing a tick takes
	Copy   time.Duration // what copying a world takes
	Size   int           // bytes of a world
	Window time.Duration // the last delay, which is given
	States int           // the most states. Default: 5
	// Prompt has the leading state wait for nobody, so that players of one mirror do not wait for
	// those of others, whatever else that costs; unless steps, returns and repairs would take more
	// than Budget of a processor. Default of Budget: 0.5.
	Prompt bool
	Budget float64
	Weights
}

// Weights say what drawbacks are worth, as shares of a processor. Where all are zero, the defaults
// hold.
type Weights struct {
	Delay float64 // of a second that players wait for what they do. Default: 2
	Wrong float64 // of all bodies being wrong when they are first shown. Default: 1
	Taken float64 // of all events being taken back. Default: 1
	// of a second of play that is taken back in front of the players, each second. Default: 1
	Rewind float64
	Memory float64 // of a gibibyte. Default: 0.1
}

// Cost is what a set of delays costs, in parts, each as the share of a processor.
type Cost struct{ Steps, Returns, Repairs, Delay, Wrong, Taken, Rewind, Memory float64 }

// Total is the sum of the parts.
func (c Cost) Total() float64 {
	return c.Steps + c.Returns + c.Repairs + c.Delay + c.Wrong + c.Taken + c.Rewind + c.Memory
}

// A Candidate is a set of delays and its cost.
type Candidate struct {
	Delays []time.Duration
	Cost   Cost
}

// A Plan is the best set of delays, with what else was considered.
type Plan struct {
	Candidate
	Model Model
	Tried int
	Next  []Candidate // the best of the others, one for each number of states
}

func (m *Model) defaults() error {
	if m.Spread == nil || m.Tick <= 0 || m.Window <= 0 {
		return errors.New(
			"timeline: a model needs a spread of delays, the length of a tick and a window")
	}
	if m.Step <= 0 || m.Copy <= 0 {
		return errors.New(
			"timeline: a model needs to know what a step and a copy of the world take; measure " +
				"them, or give the timeline a Clock")
	}
	m.Budget = cmp.Or(m.Budget, 0.5)
	m.States = cmp.Or(m.States, 5)
	if m.States < 2 || m.States > 8 {
		return fmt.Errorf("timeline: a model of at most %d states; give 2 to 8", m.States)
	}
	if m.Weights == (Weights{}) {
		m.Weights = Weights{Delay: 2, Wrong: 1, Taken: 1, Rewind: 1, Memory: 0.1}
	}
	return nil
}

// Cost tells what a set of delays costs.
func (m *Model) Cost(delays []time.Duration) Cost {
	ticks := 1 / m.Tick.Seconds()
	step, copying := m.Step.Seconds(), m.Copy.Seconds()
	c := Cost{
		Steps:  float64(len(delays)) * ticks * step,
		Delay:  delays[0].Seconds() * m.Weights.Delay,
		Memory: float64(len(delays)) * float64(m.Size) / (1 << 30) * m.Weights.Memory,
	}
	late := 1 - m.Spread.Within(delays[0])
	c.Wrong, c.Taken = m.Weights.Wrong*m.Wrong*late, m.Weights.Taken*m.Taken*late
	c.Returns = m.returns(delays[0])
	for k := 1; k < len(delays); k++ {
		from := delays[k-1]
		if k == 1 {
			from = max(from, min(delays[0]+m.Back, delays[1]))
		}
		share := m.Spread.Within(delays[k]) - m.Spread.Within(from)
		gap := (delays[k] - delays[k-1]).Seconds()
		often := m.Rate * m.Harm * max(share, 0)
		often /= 1 + often*gap
		for j := range k { // each state ahead starts again from where this one is
			c.Repairs += often * (copying + (delays[k]-delays[j]).Seconds()*ticks*step)
		}
		c.Rewind += often * (delays[k] - delays[0]).Seconds() * m.Weights.Rewind
	}
	return c
}

// prompt says that the leading state is not to wait.
func (m *Model) prompt() bool {
	c := m.Cost([]time.Duration{0, m.Window})
	return m.Prompt && c.Steps+c.Returns+c.Repairs <= m.Budget
}

// returns is what going back to late commands' own ticks costs where the leading state has a delay.
// In a tick it goes back once, to the earliest of what came late since the last; most of that is as
// late as most commands are, so it is taken to be that which nine in ten come within.
func (m *Model) returns(lead time.Duration) float64 {
	if m.Back == 0 {
		return 0
	}
	ticks := 1 / m.Tick.Seconds()
	step, copying := m.Step.Seconds(), m.Copy.Seconds()
	late := m.Rate * m.Harm * (1 - m.Spread.Within(lead)) / ticks // in a tick
	depth := min(m.Spread.Quantile(0.9)-lead, m.Back).Seconds()*ticks + 1
	return ticks * (copying + min(late, 1)*max(depth, 1)*(step+copying))
}

// Plan finds the set of delays that costs least. It tries all sets that can be made of a dozen
// delays that might matter.
func (m Model) Plan() (*Plan, error) {
	if err := m.defaults(); err != nil {
		return nil, err
	}
	from := m.choices()
	p := &Plan{Model: m}
	best := make([]*Candidate, m.States+1) // by number of states
	prompt := m.prompt()
	var set []time.Duration
	var try func(i int)
	try = func(i int) {
		if len(set) > 0 {
			delays := append(slices.Clone(set), m.Window)
			p.Tried++
			c := Candidate{delays, m.Cost(delays)}
			if b := &best[len(delays)]; *b == nil || c.Cost.Total() < (*b).Cost.Total() {
				*b = &c
			}
		}
		if len(set)+1 == m.States {
			return
		}
		for ; i < len(from) && !(prompt && len(set) == 0 && from[i] > 0); i++ {
			set = append(set, from[i])
			try(i + 1)
			set = set[:len(set)-1]
		}
	}
	try(0)
	for _, c := range best {
		if c != nil {
			p.Next = append(p.Next, *c)
		}
	}
	slices.SortStableFunc(p.Next,
		func(a, b Candidate) int { return cmp.Compare(a.Cost.Total(), b.Cost.Total()) })
	p.Candidate, p.Next = p.Next[0], p.Next[1:]
	return p, nil
}

// nearlyAll leaves out what a network did long ago, which a Spread forgets only by and by.
const nearlyAll = 0.9995

// choices are the delays that might matter: none, those that most, nearly all and all commands come
// within, and parts of the window.
func (m *Model) choices() []time.Duration {
	out := []time.Duration{0, m.Window / 4, m.Window / 2}
	if !m.Spread.Empty() {
		for _, q := range []float64{0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 0.999, nearlyAll} {
			d := m.Spread.Quantile(q)
			out = append(out, d+time.Millisecond-d%time.Millisecond)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(d time.Duration) bool { return d >= m.Window })
}

// Explain says in words how the plan came about.
func (p *Plan) Explain() string {
	var b strings.Builder
	m := &p.Model
	fmt.Fprintf(&b,
		"commands come %.0f a second; half of them within %v, 90 %% within %v, 99 %% within %v, "+
			"nearly all within %v\n", m.Rate,
		seconds(m.Spread.Quantile(0.5)), seconds(m.Spread.Quantile(0.9)),
		seconds(m.Spread.Quantile(0.99)), seconds(m.Spread.Quantile(nearlyAll)))
	fmt.Fprintf(&b, "of those that are late, %.1f %% have to be repaired\n", 100*m.Harm)
	fmt.Fprintf(&b,
		"were all of them late, %.2f %% of bodies would be wrong when they are first shown, and "+
			"%.2f %% of events be taken back\n", 100*m.Wrong, 100*m.Taken)
	if m.Back > 0 {
		fmt.Fprintf(&b, "the leading state goes back for what is late at once, by up to %v\n",
			seconds(m.Back))
	}
	fmt.Fprintf(&b,
		"a tick takes %v to compute, a world of %d KiB takes %v to copy; ticks are %v apart\n",
		m.Step.Round(100*time.Nanosecond), m.Size>>10,
		m.Copy.Round(100*time.Nanosecond), seconds(m.Tick))
	fmt.Fprintf(&b,
		"a second of delay is worth %.3g processors, all bodies being wrong when they are first "+
			"shown %.3g, all events being taken back %.3g, a second of play taken back each "+
			"second %.3g, a GiB %.3g\n", m.Weights.Delay, m.Weights.Wrong, m.Weights.Taken,
		m.Rewind, m.Weights.Memory)
	switch {
	case m.prompt():
		fmt.Fprintf(&b, "players of one mirror do not wait for those of others\n")
	case m.Prompt:
		fmt.Fprintf(&b, "not to wait would take more than %.0f %% of a processor\n", 100*m.Budget)
	}
	fmt.Fprintf(&b, "the window is %v, as all mirrors agreed; %d sets of delays were tried\n\n",
		seconds(m.Window), p.Tried)
	fmt.Fprintf(&b, "in %% of a processor\n%-20s %6s %6s %6s %6s %6s %6s %6s %6s %6s\n",
		"delays in ms", "steps", "return", "repair", "delay", "wrong", "taken", "rewind",
		"memory", "total")
	for i, c := range append([]Candidate{p.Candidate}, p.Next...) {
		what := ""
		if i == 0 {
			what = "  <- chosen"
		}
		fmt.Fprintf(&b, "%-20s %6.2f %6.2f %6.2f %6.2f %6.2f %6.2f %6.2f %6.2f %6.2f%s\n",
			millis(c.Delays), 100*c.Cost.Steps, 100*c.Cost.Returns, 100*c.Cost.Repairs,
			100*c.Cost.Delay, 100*c.Cost.Wrong, 100*c.Cost.Taken, 100*c.Cost.Rewind,
			100*c.Cost.Memory, 100*c.Cost.Total(), what)
	}
	b.WriteString("\n")
	for k, d := range p.Delays {
		within := 100 * m.Spread.Within(d)
		switch {
		case k == 0:
			fmt.Fprintf(&b,
				"the leading state waits %v and has %.2f %% of commands in time; the rest it "+
					"guesses\n", seconds(d), within)
		case k == len(p.Delays)-1:
			fmt.Fprintf(&b, "the last state waits %v and has %.2f %%; what comes later is lost\n",
				seconds(d), within)
		default:
			fmt.Fprintf(&b,
				"state %d waits %v, has %.2f %%, and takes back %v where the one ahead was wrong\n",
				k, seconds(d), within, seconds(d-p.Delays[k-1]))
		}
	}
	return b.String()
}

// millis writes delays as the paper does.
func millis(delays []time.Duration) string {
	var parts []string
	for _, d := range delays {
		parts = append(parts, fmt.Sprintf("%.4g", float64(d)/1e6))
	}
	return strings.Join(parts, ",")
}

// seconds is for messages.
func seconds(d time.Duration) string { return d.Round(time.Microsecond).String() }
