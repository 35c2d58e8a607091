//go:build !js

package lab

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/mirrorlab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/kinds"
)

const mirrorsLong = `Let bots play the game on mirrored servers and measure what mirrors cost: real
mirrors and real clients that predict, over a simulated network.

Printed are

  sight        how long after a player's command a player of another mirror, and of
               the same one, is shown what came of it
  shown        how wrong is what is shown: each body when its tick is first shown
               against the settled world of that tick, and events that are shown and
               taken back, with how long they were believed
  rollbacks    how often mirrors had to repair the world that they show, and
               events that were shown and then taken back
  corrections  how often players saw their own body moved, and how much of that
               comes of mirrors: the same players also play on one plain server,
               nearby and far away
  processor    time that a mirror takes, against the plain server
  settled      every settled world of every mirror, compared at every tick
  clocks       how well mirrors agree about the time
  traffic      between mirrors, against the model of Cronin, Filstrup and Kurc
               (2001), chapter 2

With --fault it is measured instead what happens to players when a mirror, or the
überserver, is killed without a word, or when a mirror joins a game of 32
players; as often as --times says, each time with the next seed.

The same seed gives the same run, but for processor time, and where auto goes by
what steps and copies take here: give --step and --copy for the same choice
anywhere. The command fails if settled worlds differ, and
with --strict if anything that should be reached is missed.`

const mirrorsExample = `  {program} lab mirrors
  {program} lab mirrors --quick --latency 80ms --jitter normal:10ms
  {program} lab mirrors --timeline trailing --delays 25ms,100ms,1s --plot mirrors.svg
  {program} lab mirrors --fault uber --times 10
  {program} lab mirrors --json > mirrors.json`

// mirrorsRun is {program} lab mirrors.
type mirrorsRun struct {
	mirrorlab.Options
	latency, jitter, loss  string
	near, fault, repair    string
	delays                 []string
	margins                []string
	quick, explain, strict bool
}

func mirrorsVerb(p *host.Program) *cobra.Command {
	var r mirrorsRun
	return verb.Verb{
		Name: "mirrors", Short: "Mirrored servers: sight, rollbacks, corrections, faults, traffic",
		Long: mirrorsLong, Example: mirrorsExample,
		Options: append(r.List(),
			lab.Text(&r.latency, "latency", "40ms", "from mirror to mirror, one way"),
			lab.Text(&r.jitter, "jitter", "5ms",
				"and how much that varies; or normal:5ms, longtail:5ms"),
			lab.Text(&r.loss, "loss", "0.1%", "and how much is lost"),
			lab.Text(&r.near, "near", "latency=8ms jitter=1ms loss=0.1%",
				"the network from players to their mirror: a preset, settings, or both"),
			lab.Words(&r.delays, "delays", nil, nil,
				"delays of the copies of the world, such as 0,100ms,1s (default: the mirrors' "+
					"own, or what fits the network)"),
			lab.Words(&r.margins, "margin", nil, nil,
				"how far copies may differ before that is repaired: for all fields that the game "+
					"compares, such as 0.5, or for one, such as Tank.Pos=0.5 (default: the "+
					"game's)"),
			lab.Text(&r.repair, "repair", "",
				"what auto and trailing do about commands that were late: "+
					strings.Join(kinds.Repairs(), ", ")+" (default: the first)"),
			lab.Text(&r.fault, "fault", "none", "what happens: mirror, uber or join"),
			lab.Switch(&r.quick, "quick",
				"measure for 15 seconds, and without the plain servers; with --fault, twice"),
			lab.Switch(&r.explain, "explain", "tell how auto came to its delays"),
			lab.Switch(&r.strict, "strict", "fail if something that should be reached is missed")),
		Title: &r.Title, Fits: verb.Embodied, Plots: "rollbacks, delays and traffic over time",
		Prepare: r.prepare,
		Run:     r.run,
	}.For(p)
}

// prepare checks what was asked for before anything is measured.
func (r *mirrorsRun) prepare(cmd *cobra.Command) (err error) {
	if err := r.networks(); err != nil {
		return err
	}
	for _, text := range r.delays {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return cli.Usagef("--delays has %q: write them like 0,100ms,1s", text)
		}
		r.Delays = append(r.Delays, d)
	}
	r.Repair = kinds.Repair(r.repair)
	if err := r.Repair.Check(r.Timeline); err != nil {
		return cli.Usagef("--repair: %w", err)
	}
	if r.Fault, err = mirrorlab.ParseFault(r.fault); err != nil {
		return cli.Usagef("--fault: %w", err)
	}
	if len(r.margins) > 0 {
		if r.Margins, err = r.Title.MarginsWith(r.margins...); err != nil {
			return cli.Usagef("--margin: %w", err)
		}
	}
	if r.quick {
		r.Alone = true
		if !cmd.Flags().Changed("minutes") {
			r.Time = 15 * time.Second
		}
		if !cmd.Flags().Changed("times") {
			r.Times = 2
		}
	}
	return cli.Usage(r.Check())
}

// networks reads what lies between mirrors, and between players and their mirror.
func (r *mirrorsRun) networks() (err error) {
	var way netsim.Profile
	for _, x := range [][2]string{{"latency", r.latency}, {"jitter", r.jitter}, {"loss", r.loss}} {
		if err := way.Set(x[0], x[1]); err != nil {
			return cli.Usagef("--%s: %w", x[0], err)
		}
	}
	if way.Latency > 400*time.Millisecond || way.Loss > 0.5 {
		return cli.Usagef(
			"--latency %s, --loss %s: the window is a second, so mirrors can be 400ms apart at "+
				"most, and at most half may be lost", r.latency, r.loss)
	}
	r.Between = netsim.Both(way)
	if r.Near, err = netsim.ParseConditions(r.near); err != nil {
		return cli.Usagef("--near: %w", err)
	}
	for _, c := range []*netsim.Conditions{&r.Between, &r.Near} {
		if c.Up.String() == "perfect" && c.Down.String() == "perfect" {
			*c = netsim.Perfect // it has a name, so that it is not taken for the default
		}
	}
	return nil
}

func (r *mirrorsRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	r.Progress, r.Clock = p, lab.ThreadTime
	result, err := mirrorlab.Run(ctx, r.Options)
	if err != nil {
		return nil, err
	}
	result.Explained = r.explain && result.Plan != ""
	if r.strict && result.Check() == nil {
		err = result.Missed()
	}
	return result, err
}
