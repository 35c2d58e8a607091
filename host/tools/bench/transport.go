//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/transportlab"
)

const transportLong = `Measure what it costs a server to receive a message and send it back.

A server and its clients run in processes of their own on this machine's
loopback, encryption on. Each client has a socket of its own and sends a message
with each tick, spread evenly over all of it but the moment at which the server
looks; the server drains its socket at each tick,
as a game does, and sends every message back. The server's processor time alone
counts, user and system, and only while it is measured.

Each round also measures the floor: the same traffic over a bare batched socket
that sends back what comes, without a connection. The kinds take turns every
second. Figures are medians over the rounds, "x floor" is the one against the
other. On a busy machine the ratio says more than the times.

"header" is all bytes sent beyond the message, IP and UDP not counted. Messages
that come back are compared with what was sent.

With --saturate clients send again as soon as a message is back and the server
never rests, to see the most that one core can do. "busy" is the share of time in
which it did run: if that is far below 1, the clients were slower than the server.`

const transportExample = `  {program} bench transport
  {program} bench transport --clients 512 --rounds 5 --json
  {program} bench transport --saturate --seconds 2
  {program} bench transport --kind reliable --profile server.pprof`

func transportVerb(p *host.Program) *cobra.Command {
	var o transportlab.Options
	return verb.Verb{
		Name:    "transport",
		Short:   "Server time, allocations and bytes of a message, against a bare socket",
		Long:    transportLong,
		Example: transportExample, Options: o.List(), Profile: &o.Profile, Command: &o.Command,
		Work: func(cmd *cobra.Command, role string) error {
			return transportlab.Work(cmd.Context(), role, cmd.InOrStdin(), cmd.OutOrStdout())
		},
		Prepare: func(*cobra.Command) error { return cli.Usage(o.Check()) },
		Run:     verb.Run(&o, &o.Progress, transportlab.Run),
	}.For(p)
}
