//go:build !js

package lab

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/trailinglab"
)

const trailingLong = `Run the arena on two mirrors of three bots each, and keep the mirrors'
worlds consistent by trailing state synchronization and by everything that
rivals it.

A match is recorded first, or read with --trace; then the same commands go to
all of them, over a simulated network, each player's to their own mirror. Every
world that a mirror settles is compared with that of one machine that had every
command in time.

Printed are the seven sets of delays of Table 3.1 of Cronin, Filstrup and Kurc
(2001), with the paper's figures beside ours, on the two networks that are
assumed for it, as the paper does not say what lay between its servers; then all
timelines on one network (--latency, --jitter, --loss), and how wrong is what each
of them shows: bodies when their tick is first shown against the settled world of
that tick, and events that are shown and taken back; then all of them with
the mirrors 0 to 200 ms apart, and with jitter up to 100 ms; and last what
should be reached. Times are those of the first mirror's thread.

With --explain only the timeline that chooses its own delays is run, and it is
told how it chose them.`

const trailingExample = `  {program} lab trailing
  {program} lab trailing --quick --latency 80ms --jitter 20ms
  {program} lab trailing --explain --latency 80ms
  {program} lab trailing --json > trailing.json`

// trailingRun is {program} lab trailing.
type trailingRun struct {
	trailinglab.Options
	margin  float64
	compare []string
	trace   string
	explain bool
}

func trailingVerb(p *host.Program) *cobra.Command {
	var r trailingRun
	return verb.Verb{
		Name: "trailing", Short: "Mirrors kept consistent: trailing states and their rivals",
		Long: trailingLong, Example: trailingExample,
		Options: append(r.List(),
			lab.Text(&r.trace, "trace", "",
				"use a recorded match instead, that began with a new world"),
			lab.Number(&r.margin, "margin", 0.5, 0, 1e9,
				"how far places may differ between copies before that is repaired; a fighter "+
					"runs 9 a second"),
			lab.Words(&r.compare, "compare", nil, nil,
				"which fields of classes and weak events are compared within that, such as "+
					"Fighter.Pos (default: those that have margins, or where bodies are)"),
			lab.Switch(&r.explain, "explain",
				"tell how the number of states and their delays are chosen")),
		Title: &r.Title, Fits: verb.Embodied,
		Prepare: r.prepare,
		Run:     r.run,
	}.For(p)
}

// prepare checks what was asked for before anything is measured.
func (r *trailingRun) prepare(*cobra.Command) (err error) {
	if n := r.Network; n.Latency+n.Jitter.Amount > 900*time.Millisecond {
		return cli.Usagef(
			"--latency %v, --jitter %v: the window is a second, so together they must stay below "+
				"0.9 s", n.Latency, n.Jitter.Amount)
	}
	if r.Margins, err = lab.Margins(r.Title, r.margin, r.compare...); err != nil {
		return cli.Usagef("--compare: %w", err)
	}
	if _, err := lab.NewSubject(r.Title, r.Level, r.Players); err != nil {
		return cli.Usage(err)
	}
	if r.trace != "" {
		r.Trace, err = cli.ReadFile(r.trace, 1<<30)
	}
	return err
}

func (r *trailingRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	r.Progress = p
	if !r.explain {
		return trailinglab.Run(ctx, r.Options)
	}
	text, err := trailinglab.Explain(r.Options)
	return plan(text), err
}

// A plan is all that --explain tells.
type plan string

func (p plan) Report(r *lab.Report) { r.Say("%s", p) }

func (p plan) Check() error { return nil }
