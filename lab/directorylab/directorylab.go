//go:build !js

// Package directorylab measures what a directory bears on one core: servers that register and say
// that they are there, people who ask for lists, people who listen, and a flood of datagrams from
// addresses that are not those of whoever sends them.
//
//	host/tools/bench    {program} bench directory
//	lab/directorylab    the load, and what it measures     <- here
//	{program} directory what is measured, a process of its own
package directorylab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/service/store/scratch"
)

// Options say what is measured. The zero value is what the directory should bear.
type Options struct {
	Servers, Queries, Listeners int
	Changing                    int
	Datagrams                   int
	Time                        time.Duration
	URLs                        []string
	Seed                        uint64
	// Start makes a process of this program, by its arguments.
	Start    func(args ...string) *exec.Cmd
	Progress lab.Progress
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Servers, "servers", 10_000, 1, 15_000,
			"how many servers are registered and say every 10 s that they are there"),
		lab.Number(&o.Queries, "queries", 1000, 1, 20_000,
			"how many lists are asked for in a second"),
		lab.Number(&o.Listeners, "listeners", 1000, 1, 4000, "how many listen to live updates"),
		lab.Number(&o.Changing, "changing", 20, 1, 100,
			"how many of 100 servers have something new to say each time"),
		lab.Number(&o.Datagrams, "datagrams", 1_000_000, 1, 100_000_000,
			"how many queries by UDP come from addresses that are not their sender's"),
		lab.Span(&o.Time, "seconds", time.Second, 30*time.Second, time.Second, time.Hour,
			"how long lists are asked for"),
		lab.Words(&o.URLs, "url", nil, nil, "empty databases to measure (default: SQLite in a "+
			"temporary folder, and a PostgreSQL that is started for it, if it is installed)"),
		lab.Seed(&o.Seed, "what is asked"),
	}
}

// Result is what was measured with each database.
type Result struct {
	Servers   int          `json:"servers"`
	Queries   int          `json:"queries_per_second"`
	Listeners int          `json:"listeners"`
	Changing  int          `json:"changing_percent"`
	Seconds   float64      `json:"seconds"`
	Seed      uint64       `json:"seed"`
	Databases []*Row       `json:"databases"`
	Targets   []lab.Target `json:"targets"`
}

// A Row is what was measured with one database. Times are in milliseconds.
type Row struct {
	Database string `json:"database" head:"database"`

	Registered  int     `json:"registered" head:"servers registered"`
	RegisterSec float64 `json:"register_seconds" head:"- all of them in" as:"%.1f s"`
	RegisterP99 float64 `json:"register_p99_ms" head:"- proved and durable, p99" as:"%.0f ms"`

	Alive    int     `json:"alive" head:"times servers said that they are there"`
	AliveP99 float64 `json:"alive_p99_ms" head:"- answered, p99" as:"%.2f ms"`

	Queries  int     `json:"queries" head:"lists asked for"`
	Rate     float64 `json:"queries_per_second" head:"- a second" as:"%.0f"`
	QueryP50 float64 `json:"query_p50_ms" head:"- answered, p50" as:"%.2f ms"`
	QueryP99 float64 `json:"query_p99_ms" head:"- p99" as:"%.2f ms"`
	QueryMax float64 `json:"query_max_ms" head:"- the longest" as:"%.1f ms"`
	Within   float64 `json:"query_within_20_ms_share" head:"- within 20 ms" as:"%.2f %%"`
	Bytes    float64 `json:"query_bytes" head:"- bytes of an answer, mean" as:"%.0f"`

	Updates    int     `json:"updates" head:"updates heard by listeners"`
	UpdateP50  float64 `json:"update_p50_ms" head:"- after it was said, p50" as:"%.0f ms"`
	UpdateP99  float64 `json:"update_p99_ms" head:"- p99" as:"%.0f ms"`
	UpdateMax  float64 `json:"update_max_ms" head:"- the longest" as:"%.0f ms"`
	EndedEarly int     `json:"listeners_ended" head:"listeners that were dropped"`

	Core   float64 `json:"core_share" head:"of one core, meanwhile" as:"%.1f %%"`
	Waited float64 `json:"waited_share" head:"- it waited for it, as others ran" as:"%.1f %%"`
	Memory float64 `json:"memory_mb" head:"memory" as:"%.0f MB"`

	Flood Flood `json:"flood"`

	Failed int    `json:"failed" head:"refused or failed"`
	Wrong  string `json:"wrong,omitempty"`
}

// Report prints the tables.
func (r *Result) Report(p *lab.Report) {
	p.Say("a directory as a process with one core; %d servers that say every 10 s that they are "+
		"there, %d %% of them with something new; %d lists a second, asked at times that do not "+
		"wait for answers; %d listeners, each to one game of %d; %.0f s; seed %d", r.Servers,
		r.Changing, r.Queries, r.Listeners, games, r.Seconds, r.Seed)
	p.Figures(r.Databases, "Database | Registered, RegisterSec, RegisterP99, Alive, AliveP99, "+
		"Queries, Rate, QueryP50, QueryP99, QueryMax, Within, Bytes, Updates, UpdateP50, "+
		"UpdateP99, UpdateMax, EndedEarly, Core, Waited, Memory, Failed")
	p.Say("queries by UDP, as fast as they can be sent, from %d addresses at random", sources)
	p.Figures(r.Databases, "Database | Flood.Sent, Flood.Received, Flood.BytesIn, "+
		"Flood.BytesOut, Flood.Ratio, Flood.Seconds, Flood.MemoryBefore, Flood.MemoryMost, "+
		"Flood.Honest, Flood.Answered, Flood.AnswerP50, Flood.AnswerP99")
	p.Table(r.Targets, "What, Got, Want, Reached")
}

// Check is an error if something was answered wrongly. What a machine does not reach is in the
// table, and no error: it depends on the machine.
func (r *Result) Check() error {
	var all []error
	for _, d := range r.Databases {
		if d.Wrong != "" {
			all = append(all, fmt.Errorf("%s: %s", d.Database, d.Wrong))
		}
		if f := &d.Flood; f.BytesOut > f.BytesIn {
			all = append(all, fmt.Errorf("%s: %d bytes were sent for %d", d.Database, f.BytesOut,
				f.BytesIn))
		}
	}
	return errors.Join(all...)
}

// judge compares with what is wanted.
func (r *Result) judge(d *Row) {
	of := " (" + d.Database + ")"
	r.Targets = append(r.Targets,
		lab.Target{What: "lists answered within 20 ms" + of, Got: 100 * d.Within,
			Want: "at least 99 %", Reached: d.Within >= 0.99},
		lab.Target{What: "lists a second" + of, Got: d.Rate,
			Want:    fmt.Sprintf("at least %d", r.Queries*99/100),
			Reached: d.Rate >= 0.99*float64(r.Queries)},
		lab.Target{What: "listeners that heard all" + of, Got: float64(r.Listeners - d.EndedEarly),
			Want: fmt.Sprint(r.Listeners), Reached: d.EndedEarly == 0})
	if f := &d.Flood; f.Sent > 0 {
		r.Targets = append(r.Targets,
			lab.Target{What: "bytes out for a byte in, flooded" + of, Got: f.Ratio,
				Want: "at most 1", Reached: f.BytesOut <= f.BytesIn},
			lab.Target{What: "honest queries answered, flooded" + of, Got: 100 * f.Answered,
				Want: "100 %", Reached: f.Answered >= 1})
	}
}

// Run measures one database after another.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "directorylab-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // a temporary one
	if len(o.URLs) == 0 {
		o.URLs = []string{"sqlite:" + filepath.Join(dir, "directory.db")}
		if scratch.Programs() != "" {
			pg, err := scratch.Start()
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, pg.Stop()) }()
			url, err := pg.Database()
			if err != nil {
				return nil, err
			}
			o.URLs = append(o.URLs, url)
		}
	}
	out := &Result{Servers: o.Servers, Queries: o.Queries, Listeners: o.Listeners,
		Changing: o.Changing, Seconds: o.Time.Seconds(), Seed: o.Seed}
	for i, url := range o.URLs {
		row, err := measure(ctx, url, o, o.Progress.Nth(i, len(o.URLs)))
		if err != nil {
			return nil, err
		}
		out.Databases = append(out.Databases, row)
		out.judge(row)
	}
	return out, nil
}

// part is a share of a list of times, in milliseconds.
func part(list []time.Duration, share float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return lab.Millis(list[int(float64(len(list)-1)*share)])
}
