//go:build !js

package lab

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	_ "github.com/coeval-dev/coeval/lab/tunnel/all" // every architecture
)

const runLong = `Play the game under every architecture on every network, in virtual time on all
cores, and measure on the same axes what each costs: how far what players see is
from the truth, how late they see it, whether hits count, who wins by being near,
bytes and processor time, and what happens when somebody is cut off.

Players are bots that act on what their own machine shows them. With --open they do
what bots did on one machine, whatever they see: the same decisions everywhere; and
with --trace what people or bots did in matches that serve or play recorded.

A network is a first mile, or several which players have in turn, and where they
live:

  cable                all on cable, near each other; so lan, wifi, lte, ...
  cable+lte            half of them on phones
  europe, atlantic, world    homes in cities, with the delays between those
  wifi@world           wireless homes in twelve cities
  home@trips.csv       round trips of your own
  "latency=40ms loss=1%"     what netsim takes

What was measured is kept, and only what it depends on makes it run again: the
game's source, that of an architecture, the network. A run that was interrupted
goes on where it stopped. The same seed gives the same figures, but for processor
time.

Each figure has its interval at 95 %, over runs with a seed each. With --full it
goes on until all are narrow.`

const runExample = `  {program} lab run
  {program} lab run --arch coeval,rollback --network cable,atlantic --players 4
  {program} lab run --full --all --json > everything.json`

// tunnelRun is {program} lab run.
type tunnelRun struct {
	tunnel.Options
	dir   string
	fresh bool
}

func runVerb(p *host.Program) *cobra.Command {
	var r tunnelRun
	return verb.Verb{
		Name: "run", Short: "The wind tunnel: what every architecture costs this game",
		Long: runLong, Example: runExample,
		Options: append(r.List(),
			lab.Text(&r.dir, "dir", "", "keep what was measured in `DIR` (default: coeval/lab in "+
				"the user's folder for caches)"),
			lab.Switch(&r.fresh, "fresh", "measure all anew")),
		Title: &r.Title, Fits: commanded, Prepare: r.prepare, Run: r.run,
	}.For(p)
}

func (r *tunnelRun) prepare(*cobra.Command) error { return cli.Usage(r.Check()) }

func (r *tunnelRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	dir, err := keepIn(r.dir)
	if err != nil {
		return nil, err
	}
	r.Progress, r.Clock, r.Dir = p, lab.ThreadTime, filepath.Join(dir, "samples")
	if r.fresh {
		if r.Dir, err = os.MkdirTemp("", "coeval-lab-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(r.Dir)
	}
	result, err := tunnel.Run(ctx, r.Options)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	return result, tunnel.WriteFile(lastOf(dir, result.Game), b)
}

// keepIn is the folder in which what was measured is kept.
func keepIn(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", cli.Usagef("there is no folder for caches: say where to keep what is measured "+
			"with --dir: %w", err)
	}
	return filepath.Join(cache, "coeval", "lab"), nil
}

// lastOf is the file with what was found last of a game.
func lastOf(dir, game string) string { return filepath.Join(dir, "last", game+".json") }
