package tunnel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
)

// Options say what is played. Title has no default; the rest has.
type Options struct {
	// Title is what is played, on Level. Default: the level that the title has for so many players.
	Title *game.Title
	Level string
	// Architectures and Networks are by name; see Lookup and ParseField. Default: those of a quick
	// report.
	Architectures []string
	Networks      []string
	Players       int
	// Runs is how many there are of each, with a seed each, and Time how long each is measured,
	// after Warm.
	Runs       int
	Time, Warm time.Duration
	// Full goes on with those whose intervals are wider than Narrow, until none is or each has had
	// Most runs. All has every architecture and network.
	Full, All bool
	// Open has players do what was recorded, in place of bots that act on what they are shown: what
	// those do who play in Traces, files by their names, or what bots do on one machine. Traces
	// without Open are the same as with it.
	Open   bool
	Traces []string
	Seed   uint64
	// Settings are files of lab tune, by their names: the architecture that each is of is played
	// with them, and with the others if it is not among Architectures.
	Settings []string
	// Dir is where what was measured is kept; nothing is if it is empty.
	Dir string
	// Clock, if it is set, is the processor time of the thread.
	Clock    func() time.Duration
	Progress lab.Progress

	subject *lab.Subject
	archs   []*Architecture
	fields  []*Field
	sources *Sources
	tape    *Tape
	values  map[string]knob.Values // by architecture
}

// Limits of a full run.
const (
	Narrow   = 0.05
	mostRuns = 1024
	maxSeats = 64
)

// quick are the architectures of a quick report.
var quick = []string{"quake", "quakeworld", "quake2", "quake3", "halflife", "doom3", "coeval",
	"lockstep", "rollback", "packetserver", "mirrors-trailing", "mirrors-lockstep"}

// QuickArchitectures are those of a quick report that the program has.
func QuickArchitectures() (list []string) {
	for _, name := range quick {
		if _, err := Lookup(name); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	var names []string
	for _, a := range registered {
		names = append(names, a.Name)
	}
	return []*lab.Option{
		lab.Words(&o.Architectures, "arch", QuickArchitectures(), names,
			"the architectures: "+strings.Join(names, ", ")),
		lab.Words(&o.Networks, "network", Quick(), nil,
			"the networks: presets, mixtures such as cable+lte, europe, atlantic, world, "+
				"first miles in cities such as wifi@world, or home@FILE with round trips"),
		lab.Number(&o.Players, "players", 8, 1, maxSeats, "how many play"),
		lab.Number(&o.Runs, "runs", 4, 1, mostRuns, "how many runs of each, with a seed each"),
		lab.Number(&o.Time, "time", 20*time.Second, time.Second, time.Hour,
			"how long each run is measured, in the game's time"),
		lab.Number(&o.Warm, "warm", 5*time.Second, 0, time.Hour, "and how long before that"),
		lab.Switch(&o.Full, "full", fmt.Sprintf(
			"go on until every interval is within %.0f %%, or there were %d runs", 100*Narrow,
			mostRuns)),
		lab.Switch(&o.All, "all", "all architectures and networks"),
		lab.Words(&o.Settings, "settings", nil, nil, "files that lab tune has written: the "+
			"architectures that they are of are played with them"),
		lab.Switch(&o.Open, "open", "players do what bots did on one machine, whatever they see"),
		lab.Words(&o.Traces, "trace", nil, nil, "players do what those do who play in these "+
			"traces, as serve --record writes them, whatever they see"),
		lab.Level(&o.Level),
		lab.Seed(&o.Seed, "the game, the bots and the network"),
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() (err error) {
	if o.All {
		o.Architectures, o.Networks = nil, Full()
		for _, a := range registered {
			o.Architectures = append(o.Architectures, a.Name)
		}
	}
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	o.Open = o.Open || len(o.Traces) > 0
	if o.subject, err = lab.NewSubject(o.Title, o.Level, o.Players); err != nil {
		return err
	}
	if err := o.subject.Commanded("there is nothing that a network could delay"); err != nil {
		return err
	}
	o.archs, o.fields = nil, nil
	files, err := o.readSettings()
	if err != nil {
		return err
	}
	for _, name := range o.Architectures {
		a, err := Lookup(name)
		if err != nil {
			return err
		}
		if !slices.Contains(o.archs, a) {
			o.archs = append(o.archs, a)
		}
	}
	for _, name := range o.Networks {
		f, err := ParseField(name)
		if err != nil {
			return err
		}
		o.fields = append(o.fields, f)
	}
	return o.setKnobs(files)
}

// Cut is for how long a player is cut off at the end of the first run of each.
const Cut = 2 * time.Second

// setup is one run of one cell.
func (o *Options) setup(a *Architecture, f *Field, run int) Setup {
	s := Setup{Subject: o.subject, Arch: a, Field: f, Players: o.Players,
		Seed: o.Seed + uint64(run), Warm: o.Warm, Time: o.Time, Tape: o.tape, Clock: o.Clock,
		Values: o.values[a.Name]}
	if run == 0 {
		s.Cut = Cut
	}
	return s
}

// Run plays everything that is not known yet.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	packages := PackagesOf(o.Title)
	all := slices.Clone(packages)
	for _, a := range o.archs {
		all = append(all, a.Packages...)
	}
	o.sources = ReadSources(append(all, here))
	if err := o.record(); err != nil {
		return nil, err
	}
	m := newMatrix(&o, packages)
	o.Progress = remaining(o.Progress)
	for round := 0; ; round++ {
		jobs := m.jobs(round)
		if len(jobs) == 0 {
			break
		}
		share := o.Progress
		if round > 0 {
			share = share.Within(0.9, 0.1)
		}
		if err := lab.Spread(ctx, jobs, share); err != nil {
			return nil, err
		}
		if !o.Full {
			break
		}
	}
	return m.result(), nil
}

// record finds out what players are to do, if that is recorded: in traces, or by having bots play
// on one machine.
func (o *Options) record() (err error) {
	ticks := int((o.Warm + o.Time + joinTime) / o.subject.Game.TickLength())
	switch {
	case len(o.Traces) > 0:
		o.tape, err = ReadTape(o.subject, o.Traces, o.Players, ticks)
	case o.Open:
		o.tape, err = Record(o.subject, o.Players, ticks, o.Seed)
	}
	return err
}

// One is what Run plays of the first architecture on the first network, with a seed of its own.
func (o Options) One(seed uint64) (Setup, error) {
	if err := o.Check(); err != nil {
		return Setup{}, err
	}
	if err := o.record(); err != nil {
		return Setup{}, err
	}
	s := o.setup(o.archs[0], o.fields[0], 0)
	s.Seed, s.Cut = seed, 0
	return s, o.archs[0].Check(o.subject, o.Players)
}

// remaining adds to progress how long the rest will take.
func remaining(p lab.Progress) lab.Progress {
	if p == nil {
		return nil
	}
	began := time.Now()
	return func(done float64, what string) {
		if spent := time.Since(began); done > 0.01 && spent > 2*time.Second {
			left := time.Duration(float64(spent) * (1 - done) / done)
			what = fmt.Sprintf("about %v left; %s", left.Round(time.Second), what)
		}
		p.Tell(done, what)
	}
}

const here = "github.com/coeval-dev/coeval/lab/tunnel"

// A matrix is what is being measured.
type matrix struct {
	o     *Options
	store *Store
	lock  sync.Mutex
	cells []*Cell
	keys  []string // of cells, for the store
	index map[[2]string]int
}

func newMatrix(o *Options, packages []string) *matrix {
	m := &matrix{o: o, store: NewStore(o.Dir), index: map[[2]string]int{}}
	for _, a := range o.archs {
		digest := o.sources.Of(slices.Concat(packages, a.Packages, []string{here}))
		for _, f := range o.fields {
			c := &Cell{Arch: a.Name, Field: f.Name, Players: o.Players}
			if err := a.Check(o.subject, o.Players); err != nil {
				c.Refused = err.Error()
			}
			m.index[[2]string{a.Name, f.Name}] = len(m.cells)
			m.cells = append(m.cells, c)
			m.keys = append(m.keys, cellKey(o, f, digest, o.values[a.Name]))
		}
	}
	return m
}

// cellKey names all that a cell depends on but its seeds.
func cellKey(o *Options, f *Field, digest string, values knob.Values) string {
	kind := "closed"
	if o.tape != nil {
		kind = fmt.Sprintf("open %016x", o.tape.hash())
	}
	key := fmt.Sprintf("%d\n%s\n%s\n%s\n%s\n%d players\n%v after %v\n%s\n%v", Version, digest,
		o.subject.Name(), o.subject.Level, f.describe(), o.Players, o.Time, o.Warm, kind,
		o.Clock != nil)
	if len(values) > 0 {
		key += "\n" + values.String()
	}
	return key
}

// jobs are the runs that are to be done next: of those that were measured before nothing is.
func (m *matrix) jobs(round int) (jobs []lab.Job) {
	o := m.o
	for _, a := range o.archs {
		for _, f := range o.fields {
			i := m.index[[2]string{a.Name, f.Name}]
			c := m.cells[i]
			if c.Refused != "" {
				continue
			}
			from, to := 0, o.Runs
			if round > 0 {
				c.sum()
				if width, _ := c.Widest(); width <= Narrow || len(c.Samples) >= mostRuns {
					continue
				}
				from, to = len(c.Samples), min(2*len(c.Samples), mostRuns)
			}
			for run := from; run < to; run++ {
				jobs = append(jobs, m.job(a, f, i, run))
			}
		}
	}
	return jobs
}

// job is one run, or reading what was found before.
func (m *matrix) job(a *Architecture, f *Field, cell, run int) lab.Job {
	s := m.o.setup(a, f, run)
	key := fmt.Sprintf("%s\nseed %d, cut %v", m.keys[cell], s.Seed, s.Cut)
	work := (s.Warm + s.Time + drain).Seconds()
	if s.Cut > 0 {
		work += (drain + s.Cut + settleTime).Seconds()
	}
	if known, ok := m.store.Load(key); ok {
		m.add(cell, known)
		return lab.Job{What: "known", Do: func(context.Context) error { return nil }}
	}
	return lab.Job{
		What: fmt.Sprintf("%s on %s, seed %d", a.Name, f.Name, s.Seed), Work: work * a.weight(),
		Do: func(ctx context.Context) error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			r, err := Play(ctx, s, nil)
			if err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				m.refuse(cell, err)
				return nil
			}
			m.add(cell, r)
			return m.store.Save(key, r)
		},
	}
}

// weight is about how long a second of an architecture takes, beside others.
func (a *Architecture) weight() float64 {
	if a.Family == Mirrored {
		return 2
	}
	return 1
}

func (m *matrix) add(cell int, s *Sample) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.cells[cell].Samples = append(m.cells[cell].Samples, *s)
}

// refuse notes that an architecture does not work on a network.
func (m *matrix) refuse(cell int, err error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	c := m.cells[cell]
	c.Refused = cmp.Or(c.Refused, err.Error())
}

func (m *matrix) result() *Result {
	o := m.o
	r := &Result{
		Version: Version, Game: o.subject.Name(), Level: o.subject.Level, Players: o.Players,
		Rate: o.subject.Game.Rate(), Seed: o.Seed, Seconds: o.Time.Seconds(),
		Warm: o.Warm.Seconds(), Open: o.Open, Traces: o.Traces}
	for _, a := range o.archs {
		e := Entry{a.Name, a.Family, a.About, o.values[a.Name]}
		if len(e.Knobs) > 0 {
			e.About += "; here with " + e.Knobs.String()
		}
		r.Architectures = append(r.Architectures, e)
	}
	for _, f := range o.fields {
		r.Networks = append(r.Networks, f.entry(o.Players))
	}
	for _, c := range m.cells {
		c.sum()
		r.Cells = append(r.Cells, *c)
	}
	return r
}

// ErrNothing says that no architecture could be played.
var ErrNothing = errors.New("nothing could be measured")
