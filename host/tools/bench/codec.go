//go:build !js

package bench

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/codeclab"
	"github.com/coeval-dev/coeval/lab/workloads"
)

const codecLong = `Measure how many bytes snapshots take, and how long it takes to make them.

Recordings of games are encoded frame by frame, as a server would for one
client, by each strategy in turn:

  raw      all fields of what changed, bit packed
  quake    changed fields in whole bytes, as Quake, QuakeWorld and Quake II
  quake3   changed fields, Huffman coded, as Quake III
  doom3    changed fields, zero runs shortened, as DOOM III
  doom3exact  the same, and common values in a bit, in the form of its paper
  coeval   what a game gets by default

A frame may use what the client has acknowledged and nothing newer. It is cut
into packets of at most 1150 bytes that each decode alone. Every frame that
arrives is decoded by a receiver with memory of its own and compared; that is
what "verified" says. Packet headers count, headers of the connection do not.

With --loss that share of frames never arrives; without it, both 0 and 0.2 are
measured. Times are the quickest of several rounds, strategies taking turns
every few frames. "x raw" is the time for a changed entity against raw's.

Your own game is measured by --schema and --frames: a JSON file that names
entities, fields and classes as lab/workloads/arena.json does, and 32-bit
little-endian integers by frame, entity and field, plain or zstd. Tables for
the coeval strategy come from --tables, or from those bundled if the schema is
theirs, or are the untrained defaults; make them with {program} codec train.

With --learn it is measured instead what a server learns that begins with nothing:
from the first part of a recording (--after), by what three clients with different
losses would be sent, it makes tables, and the rest is coded by them, by none, by
those that are bundled, and by tables trained on that very rest. "x trained" counts
the learned tables' own bytes, over ten minutes. With --play bots play games of this
program first, which nothing was trained on if they have no tables.`

const codecExample = `  {program} bench codec
  {program} bench codec --loss 0.2 --seed 7 --json
  {program} bench codec --workload arena --strategy raw,coeval
  {program} bench codec --learn --after 30
  {program} bench codec --learn --play crowd --players 24
  {program} bench codec --schema game.json --frames match.zst --tables game.tables`

// codecRun is {program} bench codec.
type codecRun struct {
	codeclab.Options
	learning               codeclab.LearnOptions
	learn                  bool
	play                   []string
	players                int
	program                *host.Program
	losses                 []float64
	schema, frames, tables string
	strategies, workloads  []string
	// one after another, as each takes a good deal of memory
	open []func() (*codeclab.Workload, error)
}

func codecVerb(p *host.Program) *cobra.Command {
	r := codecRun{program: p}
	strategies, all := codeclab.Strategies(), workloads.Names()
	cmd := verb.Verb{
		Name: "codec", Short: "Bytes and time of a snapshot, against the classic ways",
		Long: codecLong, Example: codecExample,
		Options: append(append(r.List(), r.learning.List()...),
			lab.Switch(&r.learn, "learn", "measure what a server learns that begins with nothing"),
			lab.Words(&r.play, "play", nil, r.titles(),
				"with --learn, let bots play these games: "+strings.Join(r.titles(), ",")),
			lab.Number(&r.players, "players", 24, 1, 1000, "with --play, how many bots"),
			lab.Text(&r.schema, "schema", "", "schema `FILE` of your own recording"),
			lab.Text(&r.frames, "frames", "", "frames `FILE` of your own recording, plain or zstd"),
			lab.Text(&r.tables, "tables", "", "tables `FILE` for the coeval strategy"),
			lab.Words(&r.strategies, "strategy", nil, strategies,
				"only these: "+strings.Join(strategies, ",")),
			lab.Words(&r.workloads, "workload", nil, all, "only these: "+strings.Join(all, ","))),
		Prepare: r.prepare,
		Run:     r.run,
	}.For(p)
	cmd.MarkFlagsRequiredTogether("schema", "frames")
	cmd.MarkFlagsMutuallyExclusive("schema", "workload")
	return cmd
}

// prepare says how to get each workload.
func (r *codecRun) prepare(cmd *cobra.Command) error {
	r.losses = []float64{0, 0.2}
	if cmd.Flags().Changed("loss") {
		r.losses = []float64{r.Loss}
	}
	if _, err := codeclab.Contenders(r.strategies, codeclab.Tables{}); err != nil {
		return cli.Usagef("--strategy: %w", err)
	}
	if r.schema != "" {
		r.open = append(r.open,
			func() (*codeclab.Workload, error) { return codeclab.Open(r.schema, r.frames) })
		return nil
	}
	names := r.workloads
	if len(names) == 0 {
		var err error
		if names, err = r.fitting(); err != nil {
			return err
		}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return cli.Usagef("--workload: %s is named twice", name)
		}
		r.open = append(r.open,
			func() (*codeclab.Workload, error) { return codeclab.Bundled(name) })
	}
	return nil
}

// fitting lists the bundled workloads, or with --tables those that the tables are for.
func (r *codecRun) fitting() (names []string, misfit error) {
	if r.tables == "" {
		return workloads.Names(), nil
	}
	schemas, err := codeclab.BundledSchemas()
	if err != nil {
		return nil, err
	}
	for i, s := range schemas {
		if _, err := codeclab.OpenTables(r.tables, s); err != nil {
			misfit = err
			continue
		}
		names = append(names, workloads.Names()[i])
	}
	if len(names) > 0 {
		misfit = nil
	}
	return names, misfit
}

// run measures each workload with each loss. What was measured before something went wrong stays.
func (r *codecRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	if r.learn {
		return r.runLearn(ctx, p)
	}
	var all codeclab.Results
	for i, open := range r.open {
		p := p.Nth(i, len(r.open))
		p.Tell(0, "reading")
		w, err := open()
		if err != nil {
			return all, err
		}
		tables := codeclab.BundledTables(w.Recording.Schema)
		if r.tables != "" {
			if tables, err = codeclab.OpenTables(r.tables, w.Recording.Schema); err != nil {
				return all, err
			}
		}
		contenders, err := codeclab.Contenders(r.strategies, tables)
		if err != nil {
			return all, err
		}
		for k, loss := range r.losses {
			o := r.Options
			o.Loss, o.Progress = loss, p.Nth(k, len(r.losses))
			results, err := codeclab.Compare(ctx, w, contenders, o)
			if err != nil {
				return all, err
			}
			all = append(all, results...)
		}
	}
	return all, nil
}

// titles lists the games of the program.
func (r *codecRun) titles() (names []string) {
	for _, t := range r.program.Titles {
		names = append(names, t.Name())
	}
	return names
}

// runLearn measures learning on each workload, or on what bots play.
func (r *codecRun) runLearn(ctx context.Context, p lab.Progress) (lab.Result, error) {
	var all codeclab.LearnedList
	if len(r.play) > 0 {
		for i, name := range r.play {
			o := r.learning
			o.Progress = p.Nth(i, len(r.play))
			at := slices.Index(r.titles(), name)
			x, err := codeclab.LearnGame(ctx, r.program.Titles[at], r.players, o)
			if err != nil {
				return all, err
			}
			all = append(all, *x)
		}
		return all, nil
	}
	for i, open := range r.open {
		o := r.learning
		o.Progress = p.Nth(i, len(r.open))
		w, err := open()
		if err != nil {
			return all, err
		}
		x, err := codeclab.Learn(ctx, w, o)
		if err != nil {
			return all, err
		}
		all = append(all, *x)
	}
	return all, nil
}
