package film

import (
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

// Options say what is played and what is looked for. Title has no default; the rest has.
type Options struct {
	Title *game.Title
	Level string
	// Architecture and Network are by name; see tunnel.Lookup and tunnel.ParseField.
	Architecture, Network string
	Players               int
	Seed                  uint64
	// Time is how long is measured, after Warm.
	Time, Warm time.Duration
	// Open has players do what bots did on one machine, in a match with the seed Recorded.
	Open     bool
	Recorded uint64
	// Traces are files with what players do, in place of that.
	Traces []string
	// Count is how many of each kind are shown, and Kinds which kinds: all if there are none.
	Count int
	Kinds []string
	// Around is how much is filmed before and after.
	Around time.Duration
	// Letters has pictures in characters, too.
	Letters  bool
	Progress lab.Progress

	setup tunnel.Setup
}

// Limits of what is filmed.
const (
	mostCount  = 20
	mostAround = 3 * time.Second
)

// List describes the options.
func (o *Options) List() []*lab.Option {
	var names, kinds []string
	for _, a := range tunnel.Architectures() {
		names = append(names, a.Name)
	}
	for _, k := range tunnel.IncidentKinds() {
		kinds = append(kinds, string(k.Kind))
	}
	return []*lab.Option{
		lab.Text(&o.Architecture, "architecture", "quake3",
			"the architecture, one of "+strings.Join(names, ", ")),
		lab.Text(&o.Network, "network", "lte",
			"the network: a preset, a mixture such as cable+lte, europe, atlantic, world, or "+
				"whatever lab run takes"),
		lab.Number(&o.Players, "players", 8, 1, 64, "how many play"),
		lab.Number(&o.Time, "time", 20*time.Second, time.Second, time.Hour,
			"how long is measured, in the game's time"),
		lab.Number(&o.Warm, "warm", 5*time.Second, 0, time.Hour, "and how long before that"),
		lab.Words(&o.Kinds, "kind", kinds, kinds, "which kinds of incidents"),
		lab.Number(&o.Count, "count", 1, 1, mostCount, "how many of each kind, the worst first"),
		lab.Number(&o.Around, "around", 400*time.Millisecond, 50*time.Millisecond, mostAround,
			"how much is filmed before and after each"),
		lab.Switch(&o.Open, "open", "players do what bots did on one machine, whatever they see"),
		lab.Number(&o.Recorded, "recorded", 0, 0, ^uint64(0),
			"with --open, the seed of the match in which bots did that (default: --seed)"),
		lab.Words(&o.Traces, "trace", nil, nil, "players do what those do who play in these "+
			"traces, whatever they see"),
		lab.Level(&o.Level),
		lab.Seed(&o.Seed, "the game, the bots and the network"),
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() error {
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	if _, err := tunnel.Lookup(o.Architecture); err != nil {
		return err
	}
	if o.Recorded == 0 {
		o.Recorded = o.Seed
	}
	base := tunnel.Options{Title: o.Title, Level: o.Level, Players: o.Players, Time: o.Time,
		Warm: o.Warm, Open: o.Open, Traces: o.Traces, Seed: o.Recorded, Runs: 1,
		Architectures: []string{o.Architecture}, Networks: []string{o.Network}}
	var err error
	if o.setup, err = base.One(o.Seed); err != nil {
		return err
	}
	o.setup.Worst = max(o.Count, 3)
	return nil
}
