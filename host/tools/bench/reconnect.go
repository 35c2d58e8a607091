//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/reconnectlab"
)

const reconnectLong = `Measure what it costs a server that many players come at once, as when
a mirror is dead and all who played there come to another.

Clients begin to connect one after the other within --within seconds: each proves its
address and its token, agrees on keys, greets, and is given a seat. A tick does only so
much of each, and the others wait; "all have seats after" says how long the last did.

Ticks are the processor time of the thread that drives the server, beyond what a tick
takes without newcomers. Server and clients are in one process, without sockets, in a
time of their own. With one worker that thread computes the agreements too; with more
they are computed beside the ticks.`

func reconnectVerb(p *host.Program) *cobra.Command {
	var o reconnectlab.Options
	return verb.Verb{
		Name:  "reconnect",
		Short: "The longest tick of a server while many come at once",
		Long:  reconnectLong,
		Example: "  {program} bench reconnect\n" +
			"  {program} bench reconnect --clients 1000 --workers 2 --json",
		Options: o.List(), Title: &o.Title, Fits: verb.Trained,
		Run: verb.Run(&o, &o.Progress, reconnectlab.Run),
	}.For(p)
}
