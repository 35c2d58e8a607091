package tunnel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
)

// SweepOptions say which parameter is varied, and what is watched.
type SweepOptions struct {
	// Options are what is the same for all. Of Networks only the first counts.
	Options
	// Vary is a parameter with its values: players=2,4,8; a setting of the network, such as
	// latency=0ms,20ms,40ms or loss=0%,2%,5%; or a knob that all of the architectures have, such as
	// snapshots=10,20,30.
	Vary string
	// Axis is the key of what is watched.
	Axis string

	key    string
	values []string
}

// List describes the options.
func (o *SweepOptions) List() []*lab.Option {
	var keys []string
	for _, a := range axes {
		keys = append(keys, a.Key)
	}
	return []*lab.Option{
		lab.Text(&o.Vary, "vary", "latency=0ms,20ms,40ms,80ms,120ms,160ms",
			"what is varied: players, a setting of the network, or a knob of the architectures, "+
				"with its values"),
		lab.Text(&o.Axis, "axis", "others_ms", "what is watched: "+strings.Join(keys, ", ")),
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *SweepOptions) Check() error {
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	if len(o.Networks) == 0 {
		o.Networks = []string{"cable"}
	}
	if err := o.Options.Check(); err != nil {
		return err
	}
	if _, ok := AxisOf(o.Axis); !ok {
		return fmt.Errorf("there is no axis %q; lab sweep --help lists them", o.Axis)
	}
	key, list, ok := strings.Cut(o.Vary, "=")
	if !ok || list == "" {
		return fmt.Errorf("vary %q: write a parameter and its values, such as "+
			"latency=0ms,40ms,80ms", o.Vary)
	}
	o.key, o.values = strings.TrimSpace(key), strings.Split(list, ",")
	if len(o.values) > 64 {
		return fmt.Errorf("vary %q: %d values; give at most 64", o.Vary, len(o.values))
	}
	for _, v := range o.values {
		if _, err := o.at(v); err != nil {
			return fmt.Errorf("vary %q: %w", o.Vary, err)
		}
	}
	return nil
}

// at is what is other than usual, for a value.
func (o *SweepOptions) at(value string) (Setup, error) {
	s := Setup{Field: o.fields[0], Players: o.Players}
	value = strings.TrimSpace(value)
	if o.key == "players" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxSeats {
			return s, fmt.Errorf("%q players: give 1 to %d", value, maxSeats)
		}
		s.Players = n
		return s, nil
	}
	if ok, err := o.knob(value); ok || err != nil {
		s.Values = knob.Values{o.key: value}
		return s, err
	}
	f := *o.fields[0]
	f.homes = slices.Clone(f.homes)
	for i := range f.homes {
		if err := f.homes[i].Set(o.key, value); err != nil {
			return s, err
		}
	}
	f.Name += " " + o.key + "=" + value
	s.Field = &f
	return s, nil
}

// knob says whether what is varied is a knob, which then all architectures must have.
func (o *SweepOptions) knob(value string) (bool, error) {
	var lacks []string
	var wrong error
	for _, a := range o.archs {
		list := a.KnobsOn(Course{o.subject, o.fields, o.Players})
		k, ok := knob.Find(list, o.key)
		if !ok {
			lacks = append(lacks, a.Name)
			continue
		}
		_, err := k.Parse(value)
		wrong = errors.Join(wrong, err)
	}
	switch {
	case len(lacks) == len(o.archs):
		return false, nil
	case len(lacks) > 0:
		return true, fmt.Errorf("%s is no knob of %s: choose others by --arch", o.key, and(lacks))
	}
	return true, wrong
}

// SweepResult is one axis against one parameter. The JSON names are for scripts and stay.
type SweepResult struct {
	Game   string       `json:"game"`
	Vary   string       `json:"vary"`
	Axis   string       `json:"axis"`
	Values []string     `json:"values"`
	Curves []SweepCurve `json:"architectures"`
}

// A SweepCurve is that of one architecture, with a figure for each value.
type SweepCurve struct {
	Arch    string   `json:"architecture"`
	Figures []Figure `json:"figures"`
	Refused string   `json:"refused,omitempty"`
}

// Sweep plays each architecture with each value.
func Sweep(ctx context.Context, o SweepOptions) (*SweepResult, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	r := &SweepResult{Game: o.subject.Name(), Vary: o.key, Axis: o.Axis, Values: o.values}
	var jobs []lab.Job
	var lock sync.Mutex
	found := map[[3]int]float64{}
	refused := make([]error, len(o.archs))
	for i, a := range o.archs {
		for k, v := range o.values {
			at, err := o.at(v)
			if err != nil {
				return nil, err
			}
			for run := range o.Runs {
				s := o.setup(a, at.Field, run)
				s.Players, s.Clock = at.Players, o.Clock
				for name, value := range at.Values {
					s.Values = s.Values.With(name, value)
				}
				if !strings.HasPrefix(o.Axis, "fault_") {
					s.Cut = 0
				} else {
					s.Cut = Cut
				}
				jobs = append(jobs, lab.Job{
					What: fmt.Sprintf("%s, %s=%s", a.Name, o.key, v),
					Work: (s.Warm + s.Time).Seconds() * a.weight() * float64(at.Players),
					Do: func(ctx context.Context) error {
						runtime.LockOSThread()
						defer runtime.UnlockOSThread()
						x, err := Play(ctx, s, nil)
						lock.Lock()
						defer lock.Unlock()
						if err != nil {
							refused[i] = errors.Join(ctx.Err(), err)
							return ctx.Err()
						}
						if v, ok := x.Figures[o.Axis]; ok {
							found[[3]int{i, k, run}] = v
						}
						return nil
					},
				})
			}
		}
	}
	if err := lab.Spread(ctx, jobs, remaining(o.Progress)); err != nil {
		return nil, err
	}
	for i, a := range o.archs {
		c := SweepCurve{Arch: a.Name}
		for k := range o.values {
			var list []float64
			for run := range o.Runs {
				if v, ok := found[[3]int{i, k, run}]; ok {
					list = append(list, v)
				}
			}
			c.Figures = append(c.Figures, NewFigure(list))
		}
		if refused[i] != nil {
			c.Refused = refused[i].Error()
		}
		r.Curves = append(r.Curves, c)
	}
	return r, nil
}

// Check is an error where nothing was measured.
func (r *SweepResult) Check() error {
	why := []error{fmt.Errorf("%w on axis %s", ErrNothing, r.Axis)}
	for _, c := range r.Curves {
		for _, f := range c.Figures {
			if f.N > 0 {
				return nil
			}
		}
		if c.Refused != "" {
			why = append(why, errors.New(c.Refused))
		}
	}
	return errors.Join(why...)
}

// Report is a line for each architecture.
func (r *SweepResult) Report(p *lab.Report) {
	a, _ := AxisOf(r.Axis)
	p.Say("%s: %s, %s, against %s", r.Game, a.Head, a.Unit, r.Vary)
	for _, c := range r.Curves {
		text := fmt.Sprintf("%-18s", c.Arch)
		for i, f := range c.Figures {
			text += fmt.Sprintf(" %s: %s;", strings.TrimSpace(r.Values[i]), f.Text(a))
		}
		p.Add("%s", strings.TrimSuffix(text, ";"))
		if c.Refused != "" {
			p.Add("%s", c.Refused)
		}
	}
}

// Plot draws a curve for each architecture, three in a panel.
func (r *SweepResult) Plot() *lab.Plot {
	a, _ := AxisOf(r.Axis)
	plot := &lab.Plot{Across: 1, Wide: 860, High: 320}
	for i, c := range r.Curves {
		if i%len(lab.Colours) == 0 {
			plot.Panels = append(plot.Panels, lab.Panel{Title: r.Game + ": " + a.Head, X: r.Vary,
				Y: strings.TrimSpace(a.Head + " " + a.Unit)})
		}
		panel := &plot.Panels[len(plot.Panels)-1]
		s := lab.Series{Name: c.Arch, Colour: i % len(lab.Colours)}
		for k, f := range c.Figures {
			if x, ok := number(r.Values[k]); ok && f.N > 0 {
				s.Points = append(s.Points, lab.Point{X: x, Y: f.Mean, Low: max(f.Low, 0),
					High: f.High})
			}
		}
		panel.Series = append(panel.Series, s)
	}
	return plot
}

// number is a value on an axis: milliseconds, percent, or as it is.
func number(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		return lab.Millis(d), true
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return v, err == nil
}
