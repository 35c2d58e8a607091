//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/serverlab"
)

const serverLong = `Measure what it costs a server to serve many players.

The game of coeval is a crowd on a large square: everyone walks, aims and shoots at
60 ticks a second, and sees about thirty others, some shots in flight and some gems,
however many players there are. The server and the bots are processes of their own
on this machine's loopback, encryption on. Bots send a command at every tick and
decode every snapshot; they do not predict.

"tick" is the server's processor time, user and system, and what follows are its
parts. These are measured by the clock and scaled to the processor time. "work" is the share
of one core that commands and snapshots take: receive and encode.
"p99" is the processor time of all but one in a hundred ticks; a tick has 16.67 ms.
With --procs 1,2 the server runs on one core and then on two. "alone" is how long, by
the clock, interest and encoding take in a tick while the bots keep still for a
moment, so that the server has its cores for itself.

Where the bots cannot keep up with what the server leaves them of the machine, time
goes slower for both and they take turns with the server, which changes nothing about
what a tick costs; --pace 1 forbids it.

"down" and "up" are bytes a client and second, IP and UDP not counted, and below
them what they were for. Their sum is compared with the socket's own count.

With --find-limit the number of players is varied, beginning at half of --players,
until the most is found for which 99 of 100 ticks stay within their time.`

const serverExample = `  {program} bench server
  {program} bench server --players 100 --seconds 5 --json
  {program} bench server --strategy coeval,quake3,doom3
  {program} bench server --procs 1,2
  {program} bench server --find-limit --seconds 4`

func serverVerb(p *host.Program) *cobra.Command {
	var o serverlab.Options
	return verb.Verb{
		Name:    "server",
		Short:   "Server time, bytes and allocations for many players, and how many there can be",
		Long:    serverLong,
		Example: serverExample, Options: o.List(), Title: &o.Title, Fits: verb.Trained,
		Profile: &o.Profile, Command: &o.Command,
		Work: func(cmd *cobra.Command, role string) error {
			return serverlab.Work(cmd.Context(), o.Title, role, cmd.InOrStdin(), cmd.OutOrStdout())
		},
		Prepare: func(*cobra.Command) error { return cli.Usage(o.Check()) },
		Run:     verb.Run(&o, &o.Progress, serverlab.Run),
	}.For(p)
}
