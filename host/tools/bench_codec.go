//go:build !js

package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/workloads"
)

const benchCodecLong = `Measure how many bytes snapshots take, and how long it takes to make them.

Recordings of games are encoded frame by frame, as a server would for one
client, by each strategy in turn:

  raw      all fields of what changed, bit packed
  quake3   changed fields, Huffman coded, as Quake III
  doom3    changed fields, zero runs shortened, as DOOM III
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
theirs, or are the untrained defaults; make them with {program} codec train.`

const benchCodecExample = `  {program} bench codec
  {program} bench codec --loss 0.2 --seed 7 --json
  {program} bench codec --workload arena --strategy raw,coeval
  {program} bench codec --schema game.json --frames match.zst --tables game.tables`

type benchCodec struct {
	loss             float64
	seed             uint64
	json             bool
	schema, frames   string
	tables           string
	strategies, play []string
	rounds           int
}

func benchCodecCommand() *cobra.Command {
	var b benchCodec
	cmd := &cobra.Command{
		Use:     "codec",
		Short:   "Bytes and time of a snapshot, against the classic ways",
		Long:    benchCodecLong,
		Example: benchCodecExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			losses := []float64{0, 0.2}
			if cmd.Flags().Changed("loss") {
				losses = []float64{b.loss}
			}
			return b.run(cmd, losses)
		},
	}
	f := cmd.Flags()
	f.Float64Var(&b.loss, "loss", 0, "share of frames that never arrive (default: both 0 and 0.2)")
	f.Uint64Var(&b.seed, "seed", 1, "decides which frames are lost")
	f.BoolVar(&b.json, "json", false, "print one JSON object for each workload, loss and strategy, one a line")
	f.StringVar(&b.schema, "schema", "", "schema `FILE` of your own recording")
	f.StringVar(&b.frames, "frames", "", "frames `FILE` of your own recording, plain or zstd")
	f.StringVar(&b.tables, "tables", "", "tables `FILE` for the coeval strategy")
	f.StringSliceVar(&b.strategies, "strategy", nil, "only these: "+strings.Join(lab.Strategies(), ","))
	f.StringSliceVar(&b.play, "workload", nil, "only these: "+strings.Join(workloads.Names(), ","))
	f.IntVar(&b.rounds, "rounds", 3, "how often everything is timed")
	for flag, words := range map[string][]string{"strategy": lab.Strategies(), "workload": workloads.Names()} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // only if the flag did not exist
		}
	}
	cmd.MarkFlagsRequiredTogether("schema", "frames")
	cmd.MarkFlagsMutuallyExclusive("schema", "workload")
	return cmd
}

func (b *benchCodec) run(cmd *cobra.Command, losses []float64) error {
	for _, l := range losses {
		if !(l >= 0 && l < 1) {
			return cli.Usagef("--loss is %v: it must be at least 0 and below 1", l)
		}
	}
	if b.rounds < 1 {
		return cli.Usagef("--rounds is %d: it must be at least 1", b.rounds)
	}
	if _, err := lab.Contenders(b.strategies, lab.Tables{}); err != nil {
		return cli.Usagef("--strategy: %w", err)
	}
	open, err := b.workloads()
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	var all []lab.CodecResult
	for i, next := range open {
		bar.Show(float64(i)/float64(len(open)), "reading")
		w, err := next()
		if err != nil {
			return err
		}
		report := func(r []lab.CodecResult) error {
			all = append(all, r...)
			if !b.json {
				return nil
			}
			bar.Clear()
			return printJSON(cmd.OutOrStdout(), r)
		}
		share := func(done float64, what string) { bar.Show((float64(i)+done)/float64(len(open)), what) }
		if err := b.measure(cmd.Context(), w, losses, share, report); err != nil {
			return err
		}
	}
	bar.Clear()
	if !b.json {
		if err := printTable(cmd.OutOrStdout(), all); err != nil {
			return err
		}
	}
	var wrong []error
	for i := range all {
		wrong = append(wrong, all[i].Check())
	}
	return errors.Join(wrong...)
}

// workloads says how to get each workload, one after another, as each takes a good deal of memory.
func (b *benchCodec) workloads() (open []func() (*lab.Workload, error), err error) {
	if b.schema != "" {
		return append(open, func() (*lab.Workload, error) { return lab.Open(b.schema, b.frames) }), nil
	}
	names := b.play
	if len(names) == 0 {
		if names, err = b.fitting(); err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		if !slices.Contains(workloads.Names(), name) {
			return nil, cli.Usagef("--workload: there is no workload %q; there are %s", name, strings.Join(workloads.Names(), ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, cli.Usagef("--workload: %s is named twice", name)
		}
		open = append(open, func() (*lab.Workload, error) { return lab.Bundled(name) })
	}
	return open, nil
}

// fitting lists the bundled workloads, or with --tables those that the tables are for.
func (b *benchCodec) fitting() ([]string, error) {
	if b.tables == "" {
		return workloads.Names(), nil
	}
	schemas, err := lab.BundledSchemas()
	if err != nil {
		return nil, err
	}
	var names []string
	var misfit error
	for i, s := range schemas {
		if _, err := lab.OpenTables(b.tables, s); err != nil {
			misfit = err
			continue
		}
		names = append(names, workloads.Names()[i])
	}
	if len(names) == 0 {
		return nil, misfit
	}
	return names, nil
}

func (b *benchCodec) measure(ctx context.Context, w *lab.Workload, losses []float64, share func(float64, string), report func([]lab.CodecResult) error) error {
	tables := lab.BundledTables(w.Recording.Schema)
	if b.tables != "" {
		var err error
		if tables, err = lab.OpenTables(b.tables, w.Recording.Schema); err != nil {
			return err
		}
	}
	contenders, err := lab.Contenders(b.strategies, tables)
	if err != nil {
		return err
	}
	for i, loss := range losses {
		results, err := lab.Codec(ctx, w, contenders, lab.CodecOptions{
			Loss:   loss,
			Seed:   b.seed,
			Rounds: b.rounds,
			Progress: func(done float64) {
				share((float64(i)+done)/float64(len(losses)), fmt.Sprintf("%s, loss %v", w.Name, loss))
			},
		})
		if err != nil {
			return err
		}
		if err := report(results); err != nil {
			return err
		}
	}
	return nil
}

func printJSON(out io.Writer, results []lab.CodecResult) error {
	enc := json.NewEncoder(out)
	for i := range results {
		if err := enc.Encode(&results[i]); err != nil {
			return err
		}
	}
	return nil
}

// printTable puts an empty line between workloads.
func printTable(out io.Writer, results []lab.CodecResult) error {
	rows := [][]string{
		{"", "", "", "bytes", "", "packets", "encode", "ns per", "", "ns per", "decode", "allocs", ""},
		{"workload", "strategy", "loss", "/frame", "kbit/s", "/frame", "ns/entity", "changed", "x raw", "unchanged", "ns/entity", "/frame", "verified"},
	}
	base := 0.0
	for i, r := range results {
		if i == 0 || r.Workload != results[i-1].Workload || r.Loss != results[i-1].Loss {
			base = timeOfRaw(results[i:])
			if i > 0 {
				rows = append(rows, nil)
			}
		}
		times := "-"
		if base > 0 {
			times = fmt.Sprintf("%.2f", r.EncodePerChanged/base)
		}
		verified := "yes"
		if !r.Verified {
			verified = "NO"
		}
		number := func(digits int, v float64) string { return strconv.FormatFloat(v, 'f', digits, 64) }
		rows = append(rows, []string{r.Workload, r.Strategy, fmt.Sprintf("%g %%", r.Loss*100),
			number(1, r.BytesPerFrame), number(1, r.Kbps), number(2, r.PacketsPerFrame),
			number(0, r.EncodePerEntity), number(0, r.EncodePerChanged), times, number(0, r.EncodePerUnchanged), number(0, r.DecodePerEntity),
			number(-1, r.AllocsPerFrame), verified})
	}
	if err := printColumns(out, rows, 2); err != nil {
		return err
	}
	return printTables(out, results)
}

// printColumns aligns the first few columns to the left and the others to the right.
func printColumns(out io.Writer, rows [][]string, left int) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			width := widths[i]
			if i < left {
				width = -width
			}
			fmt.Fprintf(&line, "%*s  ", width, cell)
		}
		if _, err := fmt.Fprintln(out, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// timeOfRaw is what a changed entity takes by bit packing in the run at the start of results, 0 where that was not measured.
func timeOfRaw(results []lab.CodecResult) float64 {
	for _, r := range results {
		if r.Workload != results[0].Workload || r.Loss != results[0].Loss {
			break
		}
		if r.Strategy == "raw" {
			return r.EncodePerChanged
		}
	}
	return 0
}

// printTables says once for each workload which tables the codec used.
func printTables(out io.Writer, results []lab.CodecResult) error {
	said := map[string]bool{}
	for _, r := range results {
		if r.Strategy != "coeval" || said[r.Workload] {
			continue
		}
		said[r.Workload] = true
		if _, err := fmt.Fprintf(out, "tables of coeval for %s: %s\n", r.Workload, r.Tables); err != nil {
			return err
		}
	}
	return nil
}
