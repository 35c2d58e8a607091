// Package feellab measures what players see: how far what is shown is from what is true, how often
// their own view is corrected, whether the hits they see are hits.
//
//	host/tools/bench             {program} bench feel
//	lab/feellab                  the measurement          <- here
//	predict, topology/client     what is measured
package feellab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/architecture"
	_ "github.com/coeval-dev/coeval/topology/architecture/all" // to be tried
	"github.com/coeval-dev/coeval/world"
)

// Options say how a title is tried out. Title has no default. It needs a body (see game.Hints);
// hits are counted if it tells of them, and all are alive if it has no lives.
type Options struct {
	// Title is what is played, on Level. Default: the level that the title has for so many players.
	Title *game.Title
	Level string
	// Conditions are the network of all players.
	Conditions netsim.Conditions
	Players    int
	// Styles are tried one after the other, each with the same seed. Default: all three, or the two
	// that need no rewinding if nothing in the game can be rewound.
	Styles []predict.Style
	// Architectures are tried in place of styles: each with its own style, snapshots and commands.
	Architectures []architecture.Kind
	Time, Warm    time.Duration
	Seed          uint64
	// Favour says who is favoured where shots are judged, in place of what the title says.
	Favour   world.Favour
	Progress lab.Progress

	plain bool                          // only hits are counted
	of    func(i int) netsim.Conditions // the network of each player, if it is not the same
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Players, "players", 16, 2, 1000, "how many bots play"),
		lab.Number(&o.Time, "time", time.Minute, time.Second, 24*time.Hour,
			"how long each is measured, in virtual time"),
		lab.Number(&o.Warm, "warm", 10*time.Second, 0, 24*time.Hour,
			"how long it plays before it is measured"),
		lab.Seed(&o.Seed, "the network and the bots"),
		lab.Level(&o.Level),
	}
}

// Results are those of several styles.
type Results []Result

// Result is what the players of one style saw. The JSON names are for scripts and stay. Distances
// are in the world's units, and a unit is about a metre.
type Result struct {
	Style   string  `json:"style" head:"style"`
	Network string  `json:"network"`
	Players int     `json:"players"`
	Seconds float64 `json:"seconds"`
	Seed    uint64  `json:"seed"`
	Errors
	Corrections
	Hits
	Timing
}

// Errors are how far what was shown was from what is true at that tick: where the oracle has it, to
// whom all commands come in time. Server is how far the server's world, where commands can be late,
// is from the oracle's.
type Errors struct {
	Own    Error `json:"own" head:"oneself shown off by"`
	Others Error `json:"others" head:"others shown off by, mean / p95 / p99"`
	Server Error `json:"server" head:"server off by, as commands are late"`
}

// Corrections are of a player's own body by more than a twentieth of its width, a player and
// minute; and of these, those while another body was near, those while being hit or killed, and the
// rest.
type Corrections struct {
	All     float64 `json:"corrections_per_minute" head:"own corrections a minute" as:"%.2f"`
	Contact float64 `json:"corrections_contact_per_minute" head:"- touching another" as:"%.2f"`
	Struck  float64 `json:"corrections_struck_per_minute" head:"- hit or killed" as:"%.2f"`
	Rest    float64 `json:"corrections_rest_per_minute" head:"- the rest" as:"%.2f"`
	// InputTicks is how many ticks pass until a player sees what a command did to their own body.
	InputTicks float64 `json:"input_to_view_ticks" head:"input to own view, ticks" as:"%.2f"`
}

// Timing is how far clients are from the server, and what that takes.
type Timing struct {
	// Ahead is by how many ticks clients were past their newest snapshot, and Behind how many ticks
	// before it they showed what they interpolate.
	Ahead  float64 `json:"ahead_ticks" head:"ahead of the newest snapshot, ticks" as:"%.1f"`
	Behind float64 `json:"shown_behind_snapshot_ticks"`
	// Late is the share of commands that the server had to make up.
	Late float64 `json:"commands_late" head:"commands late" as:"%.2f %%"`
	// Bytes a second and player, with the overhead of the connection and without that of UDP.
	BytesDown float64 `json:"bytes_down_per_second" head:"bytes a second, down" as:"%.0f"`
	BytesUp   float64 `json:"bytes_up_per_second" head:"bytes a second, up" as:"%.0f"`
	// Steps is how many ticks a client computed again for each that passed, and Exact the share of
	// predicted images that were right.
	Steps float64 `json:"steps_again_per_tick" head:"ticks computed again, a tick" as:"%.2f"`
	Exact float64 `json:"predicted_exactly" head:"images predicted exactly" as:"%.1f %%"`
	// EventsDenied are events that were foreseen and then denied, as a share.
	EventsDenied float64 `json:"events_denied" head:"events foreseen and denied" as:"%.1f %%"`
}

// An Error is a distribution of distances.
type Error struct {
	Mean float64 `json:"mean"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	N    int     `json:"n"`
}

func (e Error) String() string { return fmt.Sprintf("%.3f / %.3f / %.3f", e.Mean, e.P95, e.P99) }

func summary(x []float32) (e Error) {
	if e.N = len(x); e.N == 0 {
		return e
	}
	slices.Sort(x)
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	e.Mean = sum / float64(e.N)
	e.P95, e.P99 = float64(x[e.N*95/100]), float64(x[e.N*99/100])
	return e
}

// Lines are the results.
func (r Results) Lines() []any { return lab.Lines(r) }

// Check has nothing that must be reached.
func (r Results) Check() error { return nil }

// Report has a column for each style.
func (r Results) Report(p *lab.Report) {
	x := &r[0]
	p.Say("%d players over %s, %.0f s each, seed %d", x.Players, x.Network, x.Seconds, x.Seed)
	p.Figures([]Result(r),
		"Style | Others, Own, Server, Corrections.All, Contact, Struck, Rest, InputTicks, Seen, "+
			"Denied, Dead, Refused, Unseen, After, Hits.All, Covered, "+
			"DeathsByHit, DeathsCovered, DeathsLate, Cover, Ahead, Late, Exact, "+
			"EventsDenied, Steps, BytesDown, BytesUp")
	for _, x := range r {
		if x.Seen == 0 {
			continue
		}
		p.Say("%s: hits that were seen", x.Style)
		p.Table(x.Reasons, "Why, N")
		p.Table(x.Splits, "By, What, Seen, Denied, Refused")
		if len(x.Curve) > 0 {
			p.Say("%s: the same shots, judged otherwise", x.Style)
			p.Table(x.Curve, "Vary, Value, Denied, Late")
			p.Say("The knee is at %.0f ms behind cover.", x.Knee)
		}
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() (*lab.Subject, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	g, err := lab.NewSubject(o.Title, o.Level, o.Players)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(g.Embodied("what players see cannot be compared"),
		g.Commanded("there is nothing to predict")); err != nil {
		return nil, err
	}
	if len(o.Styles) > 0 && len(o.Architectures) > 0 {
		return nil, errors.New("an architecture has a style of its own; give one or the other")
	}
	if len(o.Styles)+len(o.Architectures) == 0 {
		o.Styles = []predict.Style{predict.Doom3, predict.Quake3, predict.HalfLife}
		if g.Game.Rewinds() == 0 {
			o.Styles = o.Styles[:2]
		}
	}
	return g, nil
}

// ParseStyles reads a list of styles.
func ParseStyles(list string) (styles []predict.Style, err error) {
	for s := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		style, err := predict.ParseStyle(s)
		if err != nil {
			return nil, err
		}
		styles = append(styles, style)
	}
	return styles, nil
}

// ParseArchitectures reads a list of architectures; "all" are those that there are.
func ParseArchitectures(list string) (kinds []architecture.Kind, err error) {
	if list == "all" {
		return architecture.All(), nil
	}
	for s := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		k, err := architecture.Parse(s)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// kinds are what is tried: a style alone is one with coeval's own snapshots.
func (o *Options) kinds() []architecture.Kind {
	list := slices.Clone(o.Architectures)
	for _, s := range o.Styles {
		list = append(list, architecture.Kind{Name: s.String(), Style: s})
	}
	return list
}

// ParseFavour finds a favour by its name; nothing stands for what the title says.
func ParseFavour(name string) (world.Favour, error) {
	for f := world.FavourDefault; f <= world.FavourPresent; f++ {
		if name == f.String() || name == "" {
			return f, nil
		}
	}
	return 0, fmt.Errorf("unknown favour %q, use shooter, victim, both or present", name)
}

// Run lets bots play a game over a simulated network, and measures what their players would see.
// The loop is closed: each bot acts on what its own client shows it, errors and delays included.
// (Replaying a recording could not tell: its players do not react to what they are shown.)
func Run(ctx context.Context, o Options) (Results, error) {
	var results Results
	err := o.each(ctx, func(r *run) { results = append(results, r.result()) })
	if err != nil {
		return nil, err
	}
	return results, nil
}
