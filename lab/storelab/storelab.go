// Package storelab measures what it costs a running game to keep what outlives it in a database.
//
//	host/tools/bench   {program} bench store
//	lab/storelab       the measurement          <- here
//	kept               what a game has written, and its requests
//	service/store      the databases
package storelab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/service/store/database"
)

// Options say what is measured. The zero value is 10,000 bodies and their packs for 20 seconds.
type Options struct {
	Entities, Trades int
	Time             time.Duration
	Rounds           int
	// Prune is once in how many ticks answers are forgotten; zero is as servers do.
	Prune    int
	URLs     []string
	Progress lab.Progress
}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Entities, "entities", 10000, 2, 30000,
			"how many bodies move about, each with a pack"),
		lab.Number(&o.Trades, "trades", 20, 0, 10000, "how many trades are asked for in a second"),
		lab.Span(&o.Time, "seconds", time.Second, 20*time.Second, time.Second, time.Hour,
			"how long each world is played, with a database and without"),
		lab.Number(&o.Rounds, "rounds", 5, 1, 1000,
			"in how many parts, which take turns; figures are medians over them"),
		lab.Words(&o.URLs, "url", nil, nil,
			"empty databases to measure (default: SQLite, in a file in a temporary folder)"),
	}
}

// Result is what was measured of each database.
type Result struct {
	Entities  int      `json:"entities"`
	Trades    int      `json:"trades_per_second"`
	Rate      int      `json:"rate"`
	Seconds   float64  `json:"seconds"`
	Rounds    int      `json:"rounds"`
	Databases []*Row   `json:"databases"`
	Targets   []target `json:"targets"`
}

type target = lab.Target

// A Row is what was measured of one database. Times are in milliseconds. Those of the thread are
// what the thread that computes ticks was running, to which nothing else on the machine adds.
type Row struct {
	Database string  `json:"database" head:"database"`
	Server   string  `json:"server" head:"version"`
	Rows     float64 `json:"rows_per_second" head:"rows a second" as:"%.0f"`
	Minute   float64 `json:"rows_per_minute" head:"- a minute" as:"%.0f"`
	// Each row that is written is of another key and second.
	RowsInBatch float64 `json:"rows_per_batch" head:"- a batch" as:"%.0f"`

	// Medians over rounds, and the lowest and highest.
	ThreadWithout       float64 `json:"thread_p99_without_ms" head:"p99 of a tick without, thread" as:"%.2f ms"`
	ThreadWithoutSpread string  `json:"-" head:"- of rounds, ms"`
	ThreadWith          float64 `json:"thread_p99_with_ms" head:"p99 of a tick with it, thread" as:"%.2f ms"`
	ThreadWithSpread    string  `json:"-" head:"- of rounds, ms"`
	Ratio               float64 `json:"thread_p99_ratio" head:"the second to the first" as:"%.3f"`
	RatioSpread         string  `json:"-" head:"- of rounds"`
	WallWithout         float64 `json:"wall_p99_without_ms" head:"p99 of a tick without, clock" as:"%.2f ms"`
	WallWithoutSpread   string  `json:"-" head:"- of rounds, ms"`
	WallWith            float64 `json:"wall_p99_with_ms" head:"p99 of a tick with it, clock" as:"%.2f ms"`
	WallWithSpread      string  `json:"-" head:"- of rounds, ms"`
	// What of a tick is kept.Desk. What else is longer is the database's use of the machine.
	DeskMean float64 `json:"desk_mean_ms" head:"of a tick the desk, mean, thread" as:"%.3f ms"`
	DeskP99  float64 `json:"desk_p99_ms" head:"- p99" as:"%.3f ms"`
	Each     []Round `json:"rounds"`

	Asked     int     `json:"trades" head:"trades"`
	AnswerP50 float64 `json:"answer_p50_ticks" head:"answer, p50" as:"%.0f ticks"`
	AnswerP99 float64 `json:"answer_p99_ticks" head:"- p99" as:"%.0f ticks"`
	AnswerMax float64 `json:"answer_max_ticks" head:"- the longest" as:"%.0f ticks"`

	// Verified says that what is in the database at the end is what the world has.
	Verified bool   `json:"verified" head:"verified"`
	Wrong    string `json:"wrong,omitempty"`
}

// Report prints the tables.
func (r *Result) Report(p *lab.Report) {
	p.Say("%d bodies that all move, each with a pack whose contents change, at %d ticks a second; "+
		"%d trades a second; %.0f s with a database, and the same without, in %d rounds",
		r.Entities, r.Rate, r.Trades, r.Seconds, r.Rounds)
	p.Figures(r.Databases, "Server, Rows, Minute, RowsInBatch, ThreadWithout, "+
		"ThreadWithoutSpread, ThreadWith, ThreadWithSpread, Ratio, RatioSpread, DeskMean, "+
		"DeskP99, WallWithout, "+
		"WallWithoutSpread, WallWith, WallWithSpread, Asked, AnswerP50, AnswerP99, AnswerMax, Verified")
	p.Table(r.Targets, "What, Got, Want, Reached")
}

// Check is an error if a database does not hold what the world has. What a machine does not reach
// is in the table, and no error: it depends on the machine.
func (r *Result) Check() error {
	var all []error
	for _, d := range r.Databases {
		if !d.Verified {
			all = append(all, fmt.Errorf("%s: %s", d.Database, d.Wrong))
		}
	}
	return errors.Join(all...)
}

// Run measures one database after another.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if len(o.URLs) == 0 {
		dir, err := os.MkdirTemp("", "storelab-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir) // a temporary one
		o.URLs = []string{"sqlite:" + filepath.Join(dir, "store.db")}
	}
	out := &Result{Entities: o.Entities, Trades: o.Trades, Seconds: o.Time.Seconds(),
		Rounds: o.Rounds}
	for i, url := range o.URLs {
		row, rate, err := measure(ctx, url, o,
			o.Progress.Within(float64(i)/float64(len(o.URLs)), 1/float64(len(o.URLs))))
		if err != nil {
			return nil, err
		}
		out.Rate = rate
		out.Databases = append(out.Databases, row)
		out.judge(row)
	}
	return out, nil
}

// judge compares with what is wanted.
func (r *Result) judge(d *Row) {
	of := " (" + d.Database + ")"
	r.Targets = append(r.Targets,
		target{What: "rows a minute" + of, Got: d.Minute, Want: "at least 1000000",
			Reached: d.Minute >= 1e6},
		target{What: "a tick's p99 with a database to that without" + of,
			Got: d.Ratio, Want: "at most 1.05", Reached: d.Ratio <= 1.05})
	if d.Asked > 0 {
		r.Targets = append(r.Targets, target{What: "ticks to a trade's answer, p99" + of,
			Got: d.AnswerP99, Want: "at most 3", Reached: d.AnswerP99 <= 3})
	}
}

func measure(ctx context.Context, url string, o Options, p lab.Progress) (
	out *Row, rate int, err error,
) {
	db, err := database.Open(ctx, url, database.Options{Game: "storelab"})
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s, err := db.Status(ctx)
	if err != nil {
		return nil, 0, err
	}
	if s.Rows > 0 || s.Answers > 0 {
		return nil, 0, fmt.Errorf("%s holds %d rows: name an empty database", s.URL, s.Rows)
	}
	r, err := begin(ctx, db, o)
	if err != nil {
		return nil, 0, err
	}
	out = &Row{Database: s.Kind, Server: s.Server}
	err = errors.Join(r.play(ctx, o, p, out), r.stop())
	if err != nil {
		return nil, 0, err
	}
	return out, r.game.Rate(), r.verify(ctx, db, out)
}

// part is a share of a list of times, in milliseconds.
func part(list []time.Duration, share float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return lab.Millis(list[int(float64(len(list)-1)*share)])
}

func partOf(list []int, share float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return float64(list[int(float64(len(list)-1)*share)])
}
