//go:build !js

package bench

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/relaylab"
)

const relayLong = `Measure how many matches one relay serves on one core, and in how many bytes.

A relay and the members of its matches run in processes of their own on this
machine's loopback, encryption on. The relay has one processor. Each member has a
socket of its own and sends its items, 2.3 bytes in the mean in nine of ten ticks,
as often as it is sent rows. The relay's processor time counts, user and system.

"late" is the share of rows that were closed while the relay had more than 4 ms of
work of its own to catch up with, by its processor time. A load is held if the
relay takes no more than one core, closes all rows that are due, fewer than one in
a hundred of them late, and has to repeat a command for want of an item as rarely.
With --limit it goes on with a quarter more matches until that is not so.

On a machine with few cores the members are slower than the relay. Then time goes
slower for both, by half and half again until they keep up, and "pace" says how
much slower; the share of a core and what is late are counted by that time.

The bytes are those of one match over a simulated network, with the headers of IP
and UDP. "copies" is in how many packets each row goes to a member.`

const relayExample = `  {program} bench relay
  {program} bench relay --load 350x60 --limit
  {program} bench relay --bytes --json`

func relayVerb(p *host.Program) *cobra.Command {
	var o relaylab.Options
	return verb.Verb{
		Name:    "relay",
		Short:   "Matches that one core of a relay holds, and bytes of each",
		Long:    relayLong,
		Example: relayExample, Options: o.List(), Profile: &o.Profile, Command: &o.Command,
		Work: func(cmd *cobra.Command, role string) error {
			return relaylab.Work(cmd.Context(), role, cmd.InOrStdin(), cmd.OutOrStdout())
		},
		Prepare: func(*cobra.Command) error { return cli.Usage(o.Check()) },
		Run:     verb.Run(&o, &o.Progress, relaylab.Run),
	}.For(p)
}
