// Package reconnectlab measures what it costs a server that many come at once, as when another
// server of the same game is dead and all of its players come here.
//
//	host/tools/bench    {program} bench reconnect
//	lab/reconnectlab    the measurement                    <- here
//	topology/server     what is measured: its door and its exchanges
package reconnectlab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
)

// Options say who comes. The zero value is a thousand clients within a second, to a server with one
// worker.
type Options struct {
	Title    *game.Title
	Clients  int
	Workers  int
	Within   float64 // seconds
	Rounds   int
	Progress lab.Progress
}

// mostClients is how many there may be.
const mostClients = 10_000

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Clients, "clients", 1000, 1, mostClients, "how many come"),
		lab.Number(&o.Workers, "workers", 1, 1, 64, "workers of the server"),
		lab.Number(&o.Within, "within", 1.0, 0.001, 60, "seconds within which they come"),
		lab.Number(&o.Rounds, "rounds", 3, 1, 100, "how often they do, each time at a new server"),
	}
}

// Result is what they cost. Milliseconds are processor time of the thread that drives the server,
// in a tick, beyond what a tick takes without them. The JSON names are for scripts and stay.
type Result struct {
	Clients int     `json:"clients"`
	Workers int     `json:"workers"`
	Within  float64 `json:"within_s"`
	Rounds  int     `json:"rounds"`

	Worst   float64 `json:"worst_ms" head:"worst tick" as:"%.2f ms"`
	Least   float64 `json:"worst_least_ms" head:"- in the best round" as:"%.2f ms"`
	P99     float64 `json:"p99_ms" head:"p99" as:"%.2f ms"`
	Mean    float64 `json:"mean_ms" head:"mean" as:"%.2f ms"`
	Seconds float64 `json:"all_in_s" head:"all have seats after" as:"%.2f s"`
	Waited  uint64  `json:"waited" head:"- waited at the door" as:"%d"`
	In      int     `json:"in"`
}

// Report lists what they cost.
func (r *Result) Report(p *lab.Report) {
	p.Say("%d clients come within %g s, to a server with %d workers; %d rounds", r.Clients,
		r.Within, r.Workers, r.Rounds)
	p.Figures([]*Result{r}, "Worst, Least, P99, Mean, Seconds, Waited")
}

// Check is an error if not all came in.
func (r *Result) Check() error {
	if r.In == r.Clients {
		return nil
	}
	return fmt.Errorf("%d of %d clients were let in", r.In, r.Clients)
}

// Run has clients come to a server, in a time of its own and without sockets, and measures the
// server's ticks until all have their seats.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &Result{Clients: o.Clients, Workers: o.Workers, Within: o.Within, Rounds: o.Rounds,
		In: o.Clients}
	var all []time.Duration
	for i := range o.Rounds {
		ticks, err := r.round(&o, i)
		if err = errors.Join(ctx.Err(), err); err != nil {
			return nil, err
		}
		worst := lab.Millis(slices.Max(ticks))
		if r.Worst = max(r.Worst, worst); i == 0 || worst < r.Least {
			r.Least = worst
		}
		all = append(all, ticks...)
		o.Progress.Tell(float64(i+1)/float64(o.Rounds), "measuring")
	}
	slices.Sort(all)
	r.P99 = lab.Millis(all[len(all)*99/100])
	for _, d := range all {
		r.Mean += lab.Millis(d) / float64(len(all))
	}
	return r, nil
}

// round is one server, to which all come. It gives the time of each tick.
func (r *Result) round(o *Options, i int) ([]time.Duration, error) {
	w, err := newRush(o, i)
	if err != nil {
		return nil, err
	}
	defer w.server.Close()
	const warm = 30
	idle := time.Duration(0)
	for range warm {
		took, err := w.tick(0)
		if err != nil {
			return nil, err
		}
		idle += took / warm
	}
	began, rate := w.now, float64(o.Title.Game.Rate())
	var ticks []time.Duration
	for n := 1; w.in < o.Clients && w.now-began < lab.JoinTime; n++ {
		came := int(float64(o.Clients) * float64(n) / float64(o.Within*rate))
		took, err := w.tick(min(came, o.Clients))
		if err != nil {
			return nil, err
		}
		ticks = append(ticks, max(took-idle, 0))
	}
	r.Seconds = max(r.Seconds, (w.now - began).Seconds())
	r.Waited = max(r.Waited, w.server.Stats().Waited)
	r.In = min(r.In, w.in)
	return ticks, nil
}
