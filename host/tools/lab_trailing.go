//go:build !js

package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
)

const labTrailingLong = `Run the arena on two mirrors of three bots each, and keep the mirrors'
worlds consistent by trailing state synchronization and by everything that
rivals it.

A match is recorded first, or read with --trace; then the same commands go to
all of them, over a simulated network, each player's to their own mirror. Every
world that a mirror settles is compared with that of one machine that had every
command in time.

Printed are the seven sets of delays of Table 3.1 of Cronin, Filstrup and Kurc
(2001), with the paper's figures beside ours, on the two networks that are
assumed for it, as the paper does not say what lay between its servers; then all
timelines on one network (--latency, --jitter, --loss); then all of them with
the mirrors 0 to 200 ms apart, and with jitter up to 100 ms; and last what
should be reached. Times are those of the first mirror's thread.

With --explain only the timeline that chooses its own delays is run, and it is
told how it chose them.`

const labTrailingExample = `  {program} lab trailing
  {program} lab trailing --quick --latency 80ms --jitter 20ms
  {program} lab trailing --explain --latency 80ms
  {program} lab trailing --json > trailing.json`

func labTrailingCommand(p *host.Program) *cobra.Command {
	var asJSON, explain, quick, atTick bool
	var ticks, players int
	var seed uint64
	var latency, jitter time.Duration
	var loss, margin float64
	var name, mapName, traceFile string
	var compare []string
	cmd := &cobra.Command{
		Use:     "trailing",
		Short:   "Mirrors kept consistent: trailing states and their rivals",
		Long:    labTrailingLong,
		Example: labTrailingExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ticks < 120 || ticks > 1<<20 || players < 2 || players > 64 {
				return cli.Usagef("--ticks is %d and --players %d: there must be at least 120 ticks, and 2 to 64 players", ticks, players)
			}
			if latency < 0 || jitter < 0 || latency+jitter > 900*time.Millisecond || loss < 0 || loss > 0.5 {
				return cli.Usagef("--latency %v, --jitter %v, --loss %v: the window is a second, so together they must stay below 0.9 s, and at most half may be lost", latency, jitter, loss)
			}
			if !(margin >= 0) {
				return cli.Usagef("--margin is %v: it must be 0 or more", margin)
			}
			t, err := titleOf(p, name, embodied)
			if err != nil {
				return err
			}
			margins, err := lab.Margins(t, margin, compare...)
			if err != nil {
				return cli.Usagef("--compare: %w", err)
			}
			if _, err := lab.NewSubject(t, mapName, players); err != nil {
				return cli.UsageError{Err: err}
			}
			bar := cli.NewProgress(cmd.ErrOrStderr())
			defer bar.Clear()
			o := lab.TrailingOptions{
				Title: t, Level: mapName, Players: players, Ticks: ticks, Margins: margins, Seed: seed, Quick: quick, AtTick: atTick,
				Network:  netsim.Profile{Latency: latency, Jitter: netsim.Jitter{Amount: jitter}, Loss: loss},
				Progress: bar.Show,
			}
			if traceFile != "" {
				if o.Trace, err = os.ReadFile(traceFile); err != nil {
					return err
				}
			}
			if explain {
				text, err := lab.ExplainTrailing(o)
				if err != nil {
					return err
				}
				_, err = io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			r, err := lab.Trailing(cmd.Context(), o)
			if err != nil {
				return err
			}
			bar.Clear()
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			} else {
				err = printTrailing(cmd.OutOrStdout(), r)
			}
			if err != nil {
				return err
			}
			return r.Check()
		},
	}
	f := cmd.Flags()
	f.IntVar(&ticks, "ticks", 3099, "how long the match is, in 60ths of a second")
	f.IntVar(&players, "players", 6, "how many bots play, half of them on each mirror")
	f.Uint64Var(&seed, "seed", 1, "random seed of the match and the network")
	f.StringVar(&mapName, "map", "", "where they play (default: the game's own)")
	f.StringVar(&name, "game", "", "what is played (default: the first game that says what a player moves about in)")
	f.StringVar(&traceFile, "trace", "", "use a recorded match instead, that began with a new world")
	f.DurationVar(&latency, "latency", 40*time.Millisecond, "how far the mirrors are apart, for the rivals and --explain")
	f.DurationVar(&jitter, "jitter", 10*time.Millisecond, "and how much that varies")
	f.Float64Var(&loss, "loss", 0, "and the share of datagrams that is lost")
	f.Float64Var(&margin, "margin", 0.5, "how far places may differ between copies before that is repaired; a fighter runs 9 a second")
	f.StringSliceVar(&compare, "compare", nil, "which fields of classes and weak events are compared within that, such as Fighter.Pos (default: those that have margins, or where bodies are)")
	f.BoolVar(&atTick, "at-tick", false, "let mirrors send commands on only when their tick comes, so that more are late")
	f.BoolVar(&quick, "quick", false, "leave out the sweep over networks")
	f.BoolVar(&explain, "explain", false, "tell how the number of states and their delays are chosen")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printTrailing(out io.Writer, r *lab.TrailingResult) error {
	fmt.Fprintf(out, "%s, %d players on %d mirrors, %d ticks, %d commands; the trace has %d bytes, the world %d\n", r.Game, r.Players, r.Mirrors, r.Ticks, r.Commands, r.TraceBytes, r.WorldBytes)
	if err := printPaper(out, r); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nAll timelines, on %s\n\n", r.Rivals[0].Network)
	if err := printRows(out, r.Rivals, false); err != nil {
		return err
	}
	if len(r.Sweep) > 0 {
		fmt.Fprint(out, "\nMirrors further and further apart, then 50 ms with more and more jitter\n\n")
		if err := printRows(out, r.Sweep, true); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nHow the delays of \"trailing, auto\" came about\n\n%s", indent(r.Plan))
	fmt.Fprint(out, "\nWhat should be reached\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range r.Targets {
		verdict := "reached"
		if !t.Reached {
			verdict = "MISSED"
		}
		fmt.Fprintf(w, "  %s\t%.3g\t%s\t%s\n", t.What, t.Got, t.Want, verdict)
	}
	return w.Flush()
}

// printPaper sets our figures beside those of Table 3.1.
func printPaper(out io.Writer, r *lab.TrailingResult) error {
	for _, part := range []struct {
		rows []lab.TrailingRow
		what string
	}{{r.LAN, "as in one laboratory"}, {r.WAN, "as between cities"}} {
		fmt.Fprintf(out, "\nTable 3.1 again, with %s between the mirrors, %s; the paper's figures to the right\n\n", part.rows[0].Network, part.what)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(w, "delays ms\texecuted\ta command\tsteps a tick\ttime\trollbacks\tfor 1000\ttime\ttotal\tcommand\trollback\tjump\tmemory\t\t|  a command\tfor 1000\tcommand\trollback\t\n")
		for i, row := range part.rows {
			p := lab.TrailingPaper[i]
			fmt.Fprintf(w, "%s\t%d\t%.2f\t%.3f\t%.0f ms\t%d\t%.1f\t%.2f ms\t%.0f ms\t%.2f µs\t%.2f µs\t%.2f\t%s\t\t|  %.2f\t%.1f\t%.0f µs\t%.0f µs\t\n",
				row.Name, row.Executed, float64(row.Executed)/float64(max(row.Commands, 1)), row.PerTick, row.StepMillis, row.Rollbacks, row.PerCommand, row.CopyMillis, row.TotalMillis,
				row.CommandMicros, row.RollbackMicros, row.MeanJump, kib(row.Memory),
				float64(p.Executed)/lab.TrailingPaperCommands, 1000*float64(p.Rollbacks)/lab.TrailingPaperCommands, 1e6*p.ExecuteS/float64(p.Executed), 1e6*p.RollbackS/float64(p.Rollbacks))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// printRows prints runs of several timelines, and if they are on different networks, on which, and less of the rest.
func printRows(out io.Writer, rows []lab.TrailingRow, network bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if network {
		fmt.Fprint(w, "network\ttimeline\tdelay\tsteps a tick\tfor 1000\tdeepest\ttotal\tjump\tbehind\ttoo late\tunlike oracle\t\n")
	} else {
		fmt.Fprint(w, "timeline\tdelay\tsteps a tick\trollbacks\tfor 1000\tdeepest\tcopies\tsteps\tcopies\ttotal\tmemory\tjumps\tjump\tlargest\tbehind\tunlike oracle\tapart\t\n")
	}
	last := ""
	for _, r := range rows {
		oracle := fmt.Sprintf("%.1f %%", 100*float64(r.Differ)/float64(max(r.Settled, 1)))
		if r.Promise && r.Differ == 0 {
			oracle = "never"
		}
		if network {
			name := r.Network
			if name == last {
				name = ""
			}
			last = r.Network
			fmt.Fprintf(w, "%s\t%s\t%.0f ms\t%.2f\t%.1f\t%d\t%.0f ms\t%.2f\t%.1f s\t%d\t%s\t\n", name, r.Name, r.Delay, r.PerTick, r.PerCommand, r.Deepest, r.TotalMillis, r.MeanJump,
				r.Waited/1000, r.TooLate, oracle)
			continue
		}
		fmt.Fprintf(w, "%s\t%.0f ms\t%.2f\t%d\t%.1f\t%d\t%d\t%.0f ms\t%.1f ms\t%.0f ms\t%s\t%d\t%.2f\t%.1f\t%.1f s\t%s\t%.1f\t\n", r.Name, r.Delay, r.PerTick, r.Rollbacks, r.PerCommand, r.Deepest,
			r.Copies, r.StepMillis, r.CopyMillis, r.TotalMillis, kib(r.Memory), r.Jumps, r.MeanJump, r.Jump, r.Waited/1000, oracle, r.Apart)
	}
	return w.Flush()
}

func kib(n int) string { return fmt.Sprintf("%d KiB", (n+512)>>10) }

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ") + "\n"
}
