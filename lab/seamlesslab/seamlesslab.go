//go:build !js

// Package seamlesslab measures a seamless world: what is lost, doubled or late when entities change
// their server, under simulation and with real processes that are killed.
//
//	host/tools/bench     {program} bench seamless
//	lab/seamlesslab      the measurements                    <- here
//	zone/zonetest        the simulation, and the audit of journals
//	topology/seamless    what is measured, in processes of their own
//	service/cluster      the brokers; see Use
package seamlesslab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
)

// Options say what is measured. The zero value is a small simulation.
type Options struct {
	HandOvers int
	Costs     []int
	Seed      uint64
	// Part is what is done: one of Parts.
	Part string

	Servers, Zones, Nodes int
	Rates                 []int
	Time                  time.Duration
	Faults                int
	Every                 time.Duration
	Game                  string
	Reach                 float64
	Keep                  string // a folder for what brokers keep

	// Buddies has servers hold in each other's memory what journals lack.
	Buddies bool
	// Changes is how many orders there are a minute that have borders move, and Crowd how many
	// entities one border moves at once.
	Changes, Crowd int
	still          int // purses that stand still, instead of those that walk

	// FaultsOnly leaves out what is measured without faults.
	FaultsOnly bool
	// Settle is how long brokers, servers and a world may take until all runs evenly, after which
	// purses go on for as long as is measured. Default: 20 s.
	Settle time.Duration
	// Calm is for how many ticks all must stand still, and Snapshots how many ticks apart those of
	// a zone are. Default: 120 and 240.
	Calm, Snapshots int

	// Find gives a title by name.
	Find func(name string) (*game.Title, error)
	// Start makes a process of this program that calls Work.
	Start    Start
	Progress lab.Progress
}

// Parts are what can be done, one at a time.
var Parts = []string{"all", "simulated", "gateways", "real", "borders"}

// List describes the options.
func (o *Options) List() []*lab.Option {
	part := lab.Text(&o.Part, "part", "all", "what is measured: all, which are simulated, "+
		"gateways and real, one of these, or borders that move")
	part.Among = Parts
	return []*lab.Option{
		part,
		lab.Number(&o.HandOvers, "handovers", 20_000, 1000, 100_000_000,
			"how many entities change their zone under simulation, while all goes wrong that can"),
		lab.Numbers(&o.Costs, "costs", []int{4, 16, 64, 256}, 2, 256,
			"of how many zones it is measured under simulation what each costs"),
		lab.Number(&o.Servers, "servers", 3, 2, 16, "how many real servers there are"),
		lab.Number(&o.Zones, "zones", 6, 2, 64, "how many zones they share"),
		lab.Number(&o.Nodes, "nodes", 3, 1, 3, "how many brokers keep their journals, 1 or 3"),
		lab.Numbers(&o.Rates, "rate", []int{1000, 2000}, 1, 10_000,
			"how many hand-overs a second are aimed at, one after the other; of other games than "+
				"purses, how many players there are"),
		lab.Span(&o.Time, "seconds", time.Second, 10*time.Second, time.Second, time.Hour,
			"for how long hand-overs are measured, each time"),
		lab.Number(&o.Faults, "faults", 0, 0, 100_000, "how many faults there are afterwards"),
		lab.Span(&o.Every, "every", time.Second, 6*time.Second, time.Second, time.Hour,
			"how long it is from one fault to the next"),
		lab.Number(&o.Changes, "changes", 12, 1, 60, "of borders: how many splits, merges and "+
			"moves there are a minute, for --seconds, with servers killed meanwhile by --faults"),
		lab.Number(&o.Crowd, "crowd", 2000, 1, 4000, "of borders: how many entities one border "+
			"moves at once"),
		lab.Switch(&o.FaultsOnly, "faults-only", "leave out what is measured without faults"),
		lab.Switch(&o.Buddies, "buddies", "have servers hold in memory what journals lack"),
		lab.Text(&o.Game, "game", "", "what is played (default: "+
			"purses, which wander about and give each other gold)"),
		lab.Number(&o.Reach, "reach", 64.0, 0.1, 1e6,
			"how far a game looks over borders that does not say it"),
		lab.Text(&o.Keep, "keep", "", "an empty `FOLDER` for what brokers keep, and not removed "+
			"(default: a temporary one)"),
		lab.Seed(&o.Seed, "what goes wrong"),
	}
}

// Check is an error if options contradict each other.
func (o *Options) Check() error {
	if !slices.Contains(Parts, o.Part) {
		return fmt.Errorf("--part %q: choose one of %v", o.Part, Parts)
	}
	if o.Nodes == 2 {
		return errors.New("--nodes 2: choose 1 or 3, as a majority of two is both")
	}
	return nil
}

// Result is what was measured.
type Result struct {
	Seed      uint64       `json:"seed"`
	Simulated *Simulated   `json:"simulated,omitempty"`
	Gateways  *Gateways    `json:"gateways,omitempty"`
	Real      *Real        `json:"real,omitempty"`
	Moving    *Moving      `json:"borders,omitempty"`
	Targets   []lab.Target `json:"targets"`
}

// Report prints the tables.
func (r *Result) Report(p *lab.Report) {
	if r.Simulated != nil {
		r.Simulated.report(p)
	}
	if r.Gateways != nil {
		r.Gateways.report(p)
	}
	if r.Real != nil {
		r.Real.report(p)
	}
	if r.Moving != nil {
		r.Moving.report(p)
	}
	p.Table(r.Targets, "What, Got, Want, Reached")
}

// Check is an error if anything was lost or doubled. What a machine does not reach is in the table,
// and no error: it depends on the machine.
func (r *Result) Check() error {
	var all []error
	if r.Simulated != nil {
		all = append(all, r.Simulated.check())
	}
	if r.Real != nil {
		all = append(all, r.Real.check())
	}
	if r.Moving != nil {
		all = append(all, r.Moving.check())
	}
	return errors.Join(all...)
}

// Run measures.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := errors.Join(lab.Fill(o.List()), o.Check()); err != nil {
		return nil, err
	}
	o.Settle = cmp.Or(o.Settle, 20*time.Second)
	o.Calm, o.Snapshots = cmp.Or(o.Calm, 120), cmp.Or(o.Snapshots, 240)
	out := &Result{Seed: o.Seed}
	p, parts := o.Progress, 1
	if o.Part == "borders" {
		m, err := move(ctx, &o, p)
		if m != nil {
			out.Moving = m
			out.Targets = m.targets()
		}
		return out, lab.Blame(ctx, err)
	}
	if o.Part == "all" {
		parts = len(Parts) - 2
	}
	if o.Part == "all" || o.Part == "simulated" {
		s, err := simulate(ctx, &o, p.Nth(0, parts))
		if err != nil {
			return nil, err
		}
		out.Simulated = s
		out.Targets = append(out.Targets, s.targets()...)
	}
	if o.Part == "all" || o.Part == "gateways" {
		g, err := gateways(ctx, &o, gatePlayers, p.Nth(1%parts, parts))
		if err != nil {
			return nil, err
		}
		out.Gateways = g
		out.Targets = append(out.Targets, g.targets()...)
	}
	if o.Part != "all" && o.Part != "real" {
		return out, nil
	}
	p = p.Nth(parts-1, parts)
	real, err := play(ctx, &o, p)
	if real != nil {
		out.Real = real
		out.Targets = append(out.Targets, real.targets()...)
	}
	return out, lab.Blame(ctx, err)
}

// share is the value below which a share of a list is.
func share[T int | float64](list []T, part float64) T {
	if len(list) == 0 {
		return 0
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return list[int(float64(len(list)-1)*part)]
}

// millis is a list of times in milliseconds.
func millis(list []time.Duration) []float64 {
	out := make([]float64, len(list))
	for i, d := range list {
		out[i] = lab.Millis(d)
	}
	return out
}

// seconds is a share of a list of times, in seconds.
func seconds(list []time.Duration, part float64) float64 { return share(millis(list), part) / 1000 }
