package feellab

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/world"
)

// FairOptions say how two groups of equal bots are set against each other, who differ in nothing
// but how far away they are.
type FairOptions struct {
	Options
	// Far and Near are the round trips of the two groups.
	Far, Near time.Duration
}

// List describes the options.
func (o *FairOptions) List() []*lab.Option {
	return append(o.Options.List(),
		lab.Number(&o.Far, "far", 150*time.Millisecond, 0, 2*time.Second,
			"the round trip of one half of the players"),
		lab.Number(&o.Near, "near", 20*time.Millisecond, 0, 2*time.Second,
			"the round trip of the other half"))
}

// FairResults are those of several styles.
type FairResults []FairResult

// FairResult is what two groups did in one style. The JSON names are for scripts and stay.
type FairResult struct {
	Style   string  `json:"style" head:"style"`
	Network string  `json:"network"`
	Players int     `json:"players"`
	Seconds float64 `json:"seconds"`
	Seed    uint64  `json:"seed"`
	Far     Group   `json:"far"`
	Near    Group   `json:"near"`
	// Ratio is kills of those far away against those near, and Low and High the interval in which
	// it lies at 95 %, if kills come at random.
	Ratio float64 `json:"kills_ratio" head:"kills, far against near" as:"%.3f"`
	Low   float64 `json:"kills_ratio_low" head:"at 95 %, from" as:"%.3f"`
	High  float64 `json:"kills_ratio_high" head:"to" as:"%.3f"`
}

// A Group is half of the players. Their kills are of others, and by any weapon.
type Group struct {
	RoundTrip float64 `json:"round_trip_ms"`
	Kills     int     `json:"kills" head:"kills"`
	Deaths    int     `json:"deaths" head:"deaths"`
}

// Lines are the results.
func (r FairResults) Lines() []any { return lab.Lines(r) }

// Check has nothing that must be reached.
func (r FairResults) Check() error { return nil }

// Report has a column for each style.
func (r FairResults) Report(p *lab.Report) {
	x := &r[0]
	p.Say("%d players, half of them %.0f ms away and half %.0f ms, %.0f s each, seed %d", x.Players,
		x.Far.RoundTrip, x.Near.RoundTrip, x.Seconds, x.Seed)
	p.Figures([]FairResult(r),
		"Style | Far.Kills:kills of those far away, Far.Deaths:their deaths, "+
			"Near.Kills:kills of those near, Near.Deaths:their deaths, Ratio, Low, High")
}

// Fair lets two groups of equal bots play against each other, all in one match, and counts who
// kills more.
func Fair(ctx context.Context, o FairOptions) (FairResults, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	way := func(d time.Duration) netsim.Conditions {
		p := netsim.Profile{Latency: d / 2, Jitter: netsim.Jitter{
			Shape: netsim.Normal, Amount: time.Millisecond}}
		return netsim.Conditions{Name: d.String(), Up: p, Down: p}
	}
	ways := [...]netsim.Conditions{way(o.Far), way(o.Near)}
	o.Conditions = netsim.Conditions{Name: fmt.Sprintf("%v and %v", o.Far, o.Near)}
	o.plain = true
	o.of = func(i int) netsim.Conditions { return ways[i%2] }
	var results FairResults
	err := o.each(ctx, func(r *run) {
		x := FairResult{
			Style: r.kind.Name, Network: o.Conditions.Name, Players: o.Players, Seed: o.Seed,
			Seconds: float64(r.ticks) / float64(r.Title.Game.Rate()),
			Far:     Group{RoundTrip: lab.Millis(o.Far)},
			Near:    Group{RoundTrip: lab.Millis(o.Near)}}
		for i, u := range r.guests {
			g := &x.Far
			if i%2 == 1 {
				g = &x.Near
			}
			g.Kills += r.kills[u.Me]
			g.Deaths += r.deaths[u.Me]
		}
		x.Ratio = lab.Ratio(float64(x.Far.Kills), float64(x.Near.Kills))
		off := math.Exp(1.96 * math.Sqrt(1/float64(max(x.Far.Kills, 1))+1/float64(max(x.Near.Kills,
			1))))
		x.Low, x.High = x.Ratio/off, x.Ratio*off
		results = append(results, x)
	})
	return results, err
}

// tallies count who killed and who died, by player.
type tallies struct{ kills, deaths map[world.Player]int }

func (r *run) tally() {
	for _, h := range r.hits {
		if !h.Kill {
			continue
		}
		r.deaths[h.Victim]++
		if h.By != h.Victim {
			r.kills[h.By]++
		}
	}
}

// each tries the styles one after the other.
func (o *Options) each(ctx context.Context, done func(r *run)) error {
	g, err := o.Check()
	if err != nil {
		return err
	}
	list := o.kinds()
	for i, kind := range list {
		if kind.Style == predict.HalfLife && g.Game.Rewinds() == 0 {
			return fmt.Errorf("nothing in title %s can be rewound, so the halflife style "+
				"cannot be tried: give what is shot at a method Rewind, and ask Sees", g.Name())
		}
		r := newRun(ctx, g, *o, kind)
		err := r.play(o.Progress.Nth(i, len(list)))
		r.Close()
		if err != nil {
			return err
		}
		done(r)
	}
	return nil
}
