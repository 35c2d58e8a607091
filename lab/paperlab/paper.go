package paperlab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

// An Experiment is one of a paper, to be run again.
type Experiment struct {
	Name   string // of command lines
	Source string // where it was published
	Title  string // what it asks
	// Fits, if it is set, is an error where a title cannot be taken for it.
	Fits func(s *lab.Subject) error
	// Run does it.
	Run func(ctx context.Context, o *Options, p lab.Progress) (*Finding, error)
}

// The sources.
const (
	doomPaper    = "J.M.P. van Waveren, The DOOM III Network Architecture (2006)"
	gamenetPaper = "Gamenet: a layered network library for games, thesis (2004)"
	mirrorPaper  = "E. Cronin, B. Filstrup, A. Kurc, A Distributed Multiplayer Game Server System " +
		"(2001)"
	surveyPaper = "R.D.P. McFarlane, Network Software Architectures for Real-Time " +
		"Massively-Multiplayer Online Games (2005)"
)

// experiments are all, in the order of the page.
var experiments = []Experiment{
	{"doom3", doomPaper + ", section 6",
		"what bit packing, differences and run lengths save", nil, doom3},
	{"gamenet", gamenetPaper + ", sections 3.2.2 to 3.2.4",
		"what packing and Huffman's code save", nil, gamenet},
	{"mirrors-bandwidth", mirrorPaper + ", Tables 2.2 to 2.5",
		"what a server, peers and mirrors send, and who is in a state update", embodied, bandwidth},
	{"trailing", mirrorPaper + ", Table 3.1",
		"what trailing states cost, and how wrong what they show is", commanded, trailing},
	{"crimp", mirrorPaper + ", Table 4.1",
		"how reliable multicast recovers what is lost", embodied, crimpTable},
	{"events", mirrorPaper + ", section 3.3.4",
		"what the event-based protocol costs in its own form", commanded, events},
	{"reckoning", surveyPaper + ", chapter on SIMNET and DIS; Gamenet, section 3.2.6",
		"what dead reckoning saves, by threshold and order", embodied, reckoning},
	{"lockstep", doomPaper + ", section 1.1",
		"how lock step follows the slowest player", commanded, lockstep},
	{"circling", doomPaper + ", section 1.1",
		"two players around a tree, and the server goes back in time", nil, circling},
}

func commanded(s *lab.Subject) error {
	return s.Commanded("there is nothing that a network could delay")
}

func embodied(s *lab.Subject) error {
	return errors.Join(commanded(s), s.Embodied("it cannot be told who is where"))
}

// Experiments lists all.
func Experiments() []Experiment { return slices.Clone(experiments) }

// Lookup finds one by its name.
func Lookup(name string) (*Experiment, error) {
	var names []string
	for i := range experiments {
		if experiments[i].Name == name {
			return &experiments[i], nil
		}
		names = append(names, experiments[i].Name)
	}
	return nil, fmt.Errorf("there is no experiment %q; choose of %s", name,
		strings.Join(names, ", "))
}

// Options say what is run, on what. Title has no default.
type Options struct {
	Title *game.Title
	Level string
	// Names are the experiments. Default: all.
	Names []string
	// Seeds is how many runs there are of what is random, from Seed on.
	Seeds int
	Seed  uint64
	// Quick makes all runs short, for a first look and for tests.
	Quick    bool
	Progress lab.Progress

	all bool // were asked for: what does not fit the title is passed over
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Seeds, "seeds", 4, 2, 64,
			"how many runs of what is random, with a seed each"),
		lab.Switch(&o.Quick, "quick", "short runs and fewer of them"),
		lab.Level(&o.Level),
		lab.Seed(&o.Seed, "the first run; the others have the next ones"),
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() error {
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	if o.all = o.all || len(o.Names) == 0; o.all {
		o.Names = nil
		for _, e := range experiments {
			o.Names = append(o.Names, e.Name)
		}
	}
	for _, name := range o.Names {
		if _, err := Lookup(name); err != nil {
			return err
		}
	}
	if _, err := lab.NewSubject(o.Title, o.Level, 2); err != nil {
		return err
	}
	if o.Quick {
		o.Seeds = min(o.Seeds, 2)
	}
	return nil
}

// seeds are those of runs.
func (o *Options) seeds() (list []uint64) {
	for i := range o.Seeds {
		list = append(list, o.Seed+uint64(i))
	}
	return list
}

// A Finding is what an experiment came to.
type Finding struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Source string   `json:"source"`
	Game   string   `json:"game,omitempty"` // what was played, if anything was
	Seeds  []uint64 `json:"seeds,omitempty"`
	Tables []Table  `json:"tables"`
	// Differs says what differs from what was published, and why.
	Differs []string `json:"differs"`
	// Wrong are answers that are known and did not come out.
	Wrong []string `json:"wrong,omitempty"`
}

// A Table has what was published beside what is found here.
type Table struct {
	Title string     `json:"title"`
	Keys  int        `json:"-"` // columns that say what a row is
	Heads []string   `json:"heads"`
	Rows  [][]string `json:"rows"`
}

func (t *Table) add(cells ...string) { t.Rows = append(t.Rows, cells) }

func (f *Finding) differs(format string, args ...any) {
	f.Differs = append(f.Differs, fmt.Sprintf(format, args...))
}

// expect notes an answer that is known, if it did not come out.
func (f *Finding) expect(ok bool, format string, args ...any) {
	if !ok {
		f.Wrong = append(f.Wrong, fmt.Sprintf(format, args...))
	}
}

// A Result is what all of them came to.
type Result struct{ Findings []*Finding }

// Run does the experiments one after the other; each uses all cores.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	r := new(Result)
	for i, name := range o.Names {
		e, err := Lookup(name)
		if err != nil {
			return nil, err
		}
		f, err := o.without(e)
		if err != nil {
			return nil, err
		}
		if f != nil {
			r.Findings = append(r.Findings, f)
			continue
		}
		n := float64(len(o.Names))
		f, err = e.Run(ctx, &o, o.Progress.Within(float64(i)/n, 1/n))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.Name, f.Title, f.Source = e.Name, e.Title, e.Source
		r.Findings = append(r.Findings, f)
	}
	return r, nil
}

// without is the finding of an experiment for which the title cannot be taken, where all were asked
// for; and an error where that one was.
func (o *Options) without(e *Experiment) (*Finding, error) {
	if e.Fits == nil {
		return nil, nil
	}
	s, err := lab.NewSubject(o.Title, o.Level, 2)
	if err != nil {
		return nil, err
	}
	why := e.Fits(s)
	switch {
	case why == nil:
		return nil, nil
	case !o.all:
		return nil, fmt.Errorf("%s: %w", e.Name, why)
	}
	f := &Finding{Name: e.Name, Title: e.Title, Source: e.Source, Game: s.Name()}
	f.differs("It was not run: %v.", why)
	return f, nil
}

// Lines are the findings.
func (r *Result) Lines() (list []any) {
	for _, f := range r.Findings {
		list = append(list, f)
	}
	return list
}

// Check is an error where an answer that is known did not come out.
func (r *Result) Check() error {
	var wrong []error
	for _, f := range r.Findings {
		for _, w := range f.Wrong {
			wrong = append(wrong, fmt.Errorf("%s: %s", f.Name, w))
		}
	}
	return errors.Join(wrong...)
}

// interval is the mean of runs and its interval at 95 %, with so many digits.
func interval(values []float64, digits int) string {
	f := tunnel.NewFigure(values)
	if f.N == 0 {
		return "–"
	}
	text := fmt.Sprintf("%.*f", digits, f.Mean)
	half := fmt.Sprintf("%.*f", digits, (f.High-f.Low)/2)
	if f.N > 1 && strings.Trim(half, "0.") != "" {
		text += " ± " + half
	}
	return text
}
