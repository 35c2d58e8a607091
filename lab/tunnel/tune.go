package tunnel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
)

// TuneOptions say what is searched, and for what.
type TuneOptions struct {
	// Options are what is played. Of Architectures there must be one; Runs is how many seeds the
	// best settings play while it is searched.
	Options
	// Knobs are those that are searched, by their names. Default: all but those that seldom matter.
	Knobs []string
	// Weights are what groups of axes count, as in Advise; processor time and faults count only if
	// they are named. Worst has the network count on which it costs most, in place of the mean.
	Weights map[Group]float64
	Worst   bool
	// Limits are axes with the most that they may be, such as client_down=8000.
	Limits []string
	// Evaluations is how many runs there are in all, on any network, and Minutes how long it may
	// take: then Evaluations follows from that.
	Evaluations int
	Minutes     float64
	// Checks is how many seeds that the search did not see the best and the defaults play at last.
	Checks int
	// Fill puts the names of the program and of the game into a command, in place of {program},
	// " {game}" and " {--game}", if it is set.
	Fill func(command string) string

	limits []Limit
}

// List describes the options.
func (o *TuneOptions) List() []*lab.Option {
	var names []string
	for _, a := range registered {
		names = append(names, a.Name)
	}
	return []*lab.Option{
		lab.Words(&o.Architectures, "arch", []string{"coeval"}, names,
			"the architecture: "+strings.Join(names, ", ")),
		lab.Words(&o.Networks, "network", []string{"cable"}, nil,
			"the networks, as for lab run; what counts is the mean of several"),
		lab.Words(&o.Knobs, "knobs", nil, nil,
			"which knobs to search (default: all but those that seldom matter)"),
		lab.Switch(&o.Worst, "worst", "let the network count on which it costs most"),
		lab.Words(&o.Limits, "limit", nil, nil,
			"the most that an axis may be on any network, such as client_down=8000"),
		lab.Number(&o.Evaluations, "evaluations", 300, 1, 1_000_000,
			"how many runs to spend in all"),
		lab.Number(&o.Minutes, "minutes", 0, 0, 100_000, "or about how long to take"),
		lab.Number(&o.Checks, "checks", 8, 2, mostRuns,
			"on how many seeds that were not searched the result is measured"),
		lab.Number(&o.Players, "players", 8, 1, maxSeats, "how many play"),
		lab.Number(&o.Runs, "runs", 8, 2, mostRuns, "how many seeds the best settings play"),
		lab.Number(&o.Time, "time", 10*time.Second, time.Second, time.Hour,
			"how long each run is measured, in the game's time"),
		lab.Number(&o.Warm, "warm", 3*time.Second, 0, time.Hour, "and how long before that"),
		lab.Level(&o.Level),
		lab.Seed(&o.Seed, "the game, the bots and the network"),
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *TuneOptions) Check() error {
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	if len(o.Architectures) != 1 {
		return fmt.Errorf("arch: %d architectures; tune one at a time", len(o.Architectures))
	}
	if err := o.Options.Check(); err != nil {
		return err
	}
	if err := o.archs[0].Check(o.subject, o.Players); err != nil {
		return err
	}
	if math.IsNaN(o.Minutes) {
		return errors.New("minutes: give a number")
	}
	o.limits = nil
	for _, text := range o.Limits {
		l, err := ParseLimit(text)
		if err != nil {
			return err
		}
		o.limits = append(o.limits, l)
	}
	_, err := o.searched()
	if least := o.least(); err == nil && o.Minutes == 0 && o.Evaluations < least {
		err = fmt.Errorf("evaluations is %d: the defaults and the check at the end alone take %d",
			o.Evaluations, least)
	}
	return err
}

// AllKnobs are those that could be searched.
func (o *TuneOptions) AllKnobs() []knob.Knob {
	return o.archs[0].KnobsOn(Course{o.subject, o.fields, o.Players})
}

// searched are the knobs that are searched.
func (o *TuneOptions) searched() ([]knob.Knob, error) {
	all := o.AllKnobs()
	if err := knob.Check(all); err != nil {
		return nil, err
	}
	var list []knob.Knob
	for _, name := range o.Knobs {
		k, ok := knob.Find(all, name)
		if !ok {
			return nil, fmt.Errorf("knobs: %s has no knob %q; there are %s", o.archs[0].Name, name,
				cmp.Or(knob.Names(all), "none"))
		}
		list = append(list, *k)
	}
	if len(list) == 0 {
		list = slices.DeleteFunc(slices.Clone(all), func(k knob.Knob) bool { return k.Rare })
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is nothing to set of %s", o.archs[0].Name)
	}
	return list, nil
}

// least is how many evaluations it takes at least.
func (o *TuneOptions) least() int {
	return len(o.fields) * (o.Runs + 2*o.Checks + firstRuns)
}

// checkSeeds is how far the seeds of the check are from those of the search.
const checkSeeds = 1 << 32

// Tune searches.
func Tune(ctx context.Context, o TuneOptions) (*TuneResult, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	t, err := o.tuner()
	if err != nil {
		return nil, err
	}
	if o.Minutes > 0 {
		if err := t.pace(ctx); err != nil {
			return nil, err
		}
	}
	o.Progress = remaining(o.Progress)
	if err := t.play(ctx, []*point{t.usual}, o.Runs, o.Seed); err != nil {
		return nil, err
	}
	if t.usual.refused != "" {
		return nil, fmt.Errorf("%w: %s", ErrNothing, t.usual.refused)
	}
	check := 2 * o.Checks * len(o.fields)
	search := t.budget - t.used - check
	// Half of what there is for the race, a quarter for what is near the best, and the rest to tell
	// what each knob does.
	first := t.begin()
	first = first[:min(len(first), max(search/(8*len(o.fields)), 2))]
	best, err := t.race(ctx, first, check+search/2)
	if err == nil {
		best, err = t.refine(ctx, best, check+search/4)
	}
	if err != nil {
		return nil, err
	}
	alone, err := t.alone(ctx, best, check)
	if err != nil {
		return nil, err
	}
	r := t.result(best, alone)
	return r, t.check(ctx, r, best)
}

// tuner makes ready to search.
func (o *TuneOptions) tuner() (*tuner, error) {
	a := o.archs[0]
	t := &tuner{o: o, arch: a, store: NewStore(o.Dir), points: map[string]*point{},
		budget: o.Evaluations}
	var err error
	if t.knobs, err = o.searched(); err != nil {
		return nil, err
	}
	weights := Weights()
	weights[Processor], weights[Faults] = 0, 0
	maps.Copy(weights, o.Weights)
	if o.Clock == nil || weights[Processor] == 0 {
		o.Clock, weights[Processor] = nil, 0
	}
	t.goal = objective{weights: weights, players: o.Players, worst: o.Worst, limits: o.limits}
	for i := range t.knobs {
		name := t.knobs[i].Name
		t.sights = t.sights || strings.HasPrefix(name, "game.") || name == "max-rate"
	}
	if o.Dir != "" {
		packages := append(PackagesOf(o.Title), slices.Concat(a.Packages, []string{here})...)
		t.digest = ReadSources(packages).Of(packages)
	}
	t.usual = t.point(knob.Defaults(o.AllKnobs()), "default")
	return t, nil
}

// pace finds out by one run how many there are in the time that is given.
func (t *tuner) pace(ctx context.Context) error {
	began := time.Now()
	s := t.o.setup(t.arch, t.o.fields[0], 0)
	s.Values, s.Sights, s.Cut = t.usual.values, t.sights, 0
	if t.goal.weights[Faults] > 0 {
		s.Cut = Cut
	}
	if _, err := Play(ctx, s, nil); err != nil {
		return err
	}
	one := time.Since(began).Minutes() / float64(runtime.GOMAXPROCS(0))
	t.budget = max(int(t.o.Minutes/one), t.o.least())
	return nil
}

// A level is a knob at another value, with all else as it is best.
type level struct {
	knob  string
	value string
	*point
}

// aloneRuns is how many seeds are played to tell what a knob does by itself.
const aloneRuns = 4

// alone finds out how each knob matters by itself: at its default, and at its ends.
func (t *tuner) alone(ctx context.Context, best *point, kept int) (list []level, err error) {
	runs := min(aloneRuns, t.o.Runs)
	var points []*point
	for i := range t.knobs {
		k := &t.knobs[i]
		for _, v := range []string{k.Default, k.Levels[0], k.Levels[len(k.Levels)-1]} {
			seen := slices.ContainsFunc(list, func(l level) bool {
				return l.knob == k.Name && l.value == v
			})
			if v == best.values[k.Name] || seen {
				continue
			}
			p := t.point(best.values.With(k.Name, v), "to tell what "+k.Name+" does")
			list = append(list, level{k.Name, v, p})
			points = append(points, p)
		}
	}
	if err := t.play(ctx, []*point{best}, min(runs, best.runs), t.o.Seed); err != nil {
		return nil, err
	}
	if err := t.play(ctx, t.afford(points, runs, kept), runs, t.o.Seed); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(l level) bool { return l.runs < runs }), nil
}
