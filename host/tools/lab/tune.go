//go:build !js

package lab

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

const tuneLong = `Search the knobs of an architecture and of the game for the settings that annoy
players least on their networks, and write them: how many snapshots they get, how late
others are shown, how far ahead commands are made, how long mirrors wait for each
other, how far players see. --list says which knobs there are.

What counts are units of annoyance, as in {program} lab report; --weight says what
counts for your game, and --limit what must not be: --limit client_down=8000. Processor
time and faults count only if --weight names them, as the first differs from one run to
the next and the second takes as long again.

It begins with the defaults and with settings around them, which all play the same
seeds, drops those that are clearly worse, and looks closer around the best. At last
the best and the defaults play on seeds that it has not seen, and what it says in the
end is from these. What was played is kept, so that the same command goes on where
it was interrupted.

--out writes the settings to a file for {program} serve, mirror, peer, demo and lab run,
each with --settings FILE.`

const tuneExample = `  {program} lab tune --arch quake3 --network wifi --out settings.json
  {program} lab tune --arch coeval --network cable,lte --worst --limit client_down=6000
  {program} lab tune --arch mirrors-trailing --network world --minutes 20 --weight responsiveness=3
  {program} lab tune --arch rollback --list`

// tuneRun is {program} lab tune.
type tuneRun struct {
	tunnel.TuneOptions
	program *host.Program
	weights []string
	list    bool
	out     string
	dir     string
}

func tuneVerb(p *host.Program) *cobra.Command {
	r := &tuneRun{program: p}
	return verb.Verb{
		Name: "tune", Short: "The best settings of an architecture for this game and its networks",
		Long: tuneLong, Example: tuneExample,
		Options: append(r.List(),
			lab.Words(&r.weights, "weight", nil, nil, "what a `GROUP=NUMBER` of axes counts"),
			lab.Switch(&r.list, "list", "list the knobs, and do nothing else"),
			lab.Text(&r.out, "out", "", "write the settings to `FILE`, which ends in .json"),
			lab.Text(&r.dir, "dir", "", "keep what was measured in `DIR` (default: coeval/lab in "+
				"the user's folder for caches)")),
		Title: &r.Title, Fits: commanded, Prepare: r.prepare, Run: r.run,
	}.For(p)
}

func (r *tuneRun) prepare(cmd *cobra.Command) (err error) {
	if r.out != "" && filepath.Ext(r.out) != ".json" {
		return cli.Usagef("--out %s: settings end in .json", r.out)
	}
	if r.Weights, err = parseWeights(r.weights); err != nil {
		return cli.Usagef("--weight: %w", err)
	}
	if cmd.Flags().Changed("minutes") {
		if cmd.Flags().Changed("evaluations") {
			return cli.Usagef("give --evaluations or --minutes, and not both")
		}
		if !(r.Minutes > 0) {
			return cli.Usagef("--minutes is %v: it must be above 0", r.Minutes)
		}
	}
	return cli.Usage(r.Check())
}

func (r *tuneRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	if r.list {
		return knobList(r.AllKnobs()), nil
	}
	dir, err := keepIn(r.dir)
	if err != nil {
		return nil, err
	}
	r.Progress, r.Clock, r.Dir, r.Fill = p, lab.ThreadTime, filepath.Join(dir, "samples"), r.fill
	result, err := tunnel.Tune(ctx, r.TuneOptions)
	if err != nil {
		return nil, err
	}
	if r.out == "" || result.Check() != nil {
		return result, nil
	}
	b, err := result.Settings().Encode()
	if err != nil {
		return nil, err
	}
	return result, tunnel.WriteFile(r.out, b)
}

// fill puts the names of program and game into a command.
func (r *tuneRun) fill(command string) string {
	one, flag := "", ""
	if len(r.program.Titles) > 1 {
		one, flag = " "+r.Title.Name(), " --game "+r.Title.Name()
	}
	return strings.NewReplacer("{program}", r.program.Name, " {game}", one, " {--game}", flag).
		Replace(command)
}

// A knobRow is a knob, for people and for programs.
type knobRow struct {
	Name    string `json:"name" head:"knob"`
	Default string `json:"default" head:"default"`
	Range   string `json:"range" head:"may be"`
	Search  string `json:"levels" head:"search begins at"`
	Rare    bool   `json:"rare,omitempty"`
	About   string `json:"about" head:"what it is"`
}

// knobs are what --list prints.
type knobs struct {
	Knobs []knobRow `json:"knobs"`
}

func knobList(list []knob.Knob) *knobs {
	out := &knobs{Knobs: []knobRow{}}
	for i := range list {
		k := &list[i]
		row := knobRow{Name: k.Name, Default: k.Default, Range: k.Range(), About: k.About,
			Search: strings.Join(k.Levels, " "), Rare: k.Rare}
		if k.Auto != "" {
			row.About += "; auto is " + k.Auto
		}
		if k.Rare {
			row.Search = "(only if it is named)"
		}
		out.Knobs = append(out.Knobs, row)
	}
	return out
}

// Report is a table of the knobs.
func (k *knobs) Report(p *lab.Report) {
	p.Table(k.Knobs, "Name | Default, Range, Search, About")
}

// Check is never an error.
func (k *knobs) Check() error { return nil }
