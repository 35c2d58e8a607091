//go:build !js

package lab

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/peerlab"
	"github.com/coeval-dev/coeval/netsim"
)

const peersLong = `Let bots play the game between their own machines, without a server, over a
simulated network: with rollback, in lock step, in lock step where all commit to
their commands before anybody reveals one, and in lock step as DOOM had it, where
what is lost is sent again only when somebody asks for it.

Printed are, for each style,

  own input     how long after a command is given the tick is shown that executes
                it, on the player's own screen
  others        how long until a command that nobody could guess is shown on the
                screens of the others
  waits         ticks that were late because a command was missing
  again         ticks that were computed again because a guess was wrong
  settled       how far the world that nothing can change any more is behind what
                is shown
  bytes         from one machine to one other, with the headers of IP and UDP, and
                what they are for
  worlds        every settled world that was compared, and how many differed
  processor     what a tick takes, as a multiple of a step of the world by itself

and how long 8 ticks take that are computed again.

With --relay they play through a relay, which gathers the commands of a tick and sends
them to all; then the path is the one to the relay, and what goes out of it and into
it is printed too. There are rollback and lock step.

With --join somebody joins a match late whose world takes a megabyte, which
nothing can compress: how long that takes, and how long the others waited.

The same seed gives the same run, but for processor time. The command fails if
settled worlds differ, and with --strict if anything that should be reached is
missed.`

const peersExample = `  {program} lab peers
  {program} lab peers --game pong --players 4 --packets 20
  {program} lab peers --style rollback --preset "wifi loss=5%" --delay auto --plot peers.svg
  {program} lab peers --relay --game pong --players 8
  {program} lab peers --join --players 8`

// peersRun is {program} lab peers.
type peersRun struct {
	peerlab.Options
	preset string
	strict bool
}

// commanded titles are such in which players have something to say.
var commanded = verb.Kind{About: "that takes commands", Has: func(t *game.Title) bool {
	return t.Game.Commands() != nil
}}

func peersVerb(p *host.Program) *cobra.Command {
	var r peersRun
	return verb.Verb{
		Name: "peers", Short: "Matches without a server: lock step and rollback, waits, bytes",
		Long: peersLong, Example: peersExample,
		Options: append(r.List(),
			lab.Text(&r.preset, "preset", "",
				"the path from each to each other, or to the relay: a preset, or settings as "+
					"{program} netsim takes them (default: latency=40ms jitter=3ms loss=0.5%, "+
					"with --relay half of the latency; with --join, latency=50ms)"),
			lab.Switch(&r.strict, "strict", "fail if something that should be reached is missed")),
		Title: &r.Title, Fits: commanded, Plots: "rollbacks, waits and traffic over time",
		Prepare: r.prepare,
		Run:     r.run,
	}.For(p)
}

func (r *peersRun) prepare(*cobra.Command) (err error) {
	if r.preset != "" {
		if r.Conditions, err = netsim.ParseConditions(r.preset); err != nil {
			return cli.Usagef("--preset: %w", err)
		}
		r.Conditions.Name = r.preset
	}
	return cli.Usage(r.Check())
}

func (r *peersRun) run(ctx context.Context, p lab.Progress) (lab.Result, error) {
	r.Progress, r.Clock = p, lab.ThreadTime
	result, err := peerlab.Run(ctx, r.Options)
	if err != nil {
		return nil, err
	}
	if r.strict && result.Check() == nil {
		err = result.Missed()
	}
	return result, err
}
