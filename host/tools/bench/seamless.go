//go:build !js

package bench

import (
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/seamlesslab"
)

const seamlessLong = `Measure what is lost, doubled or late when entities change their server.

Under simulation, in virtual time, servers die, stand still and are cut off, and the map,
journals and store refuse, doubt, stall and are away. An audit that shares no code with what it
checks reads all journals: whether an entity was lost, doubled or owned twice, and whether what is
conserved was. Two runs make mistakes on purpose, which the audit has to find. Then what a zone
costs among few and among many, and how long zones stand still when their server dies.

For real, servers and brokers (NATS) are processes of their own on this machine's loopback.
Entities cross borders at the rates that --rate names; a tick is late if the target had begun it
before the entity came. With --faults, processes are killed and stopped, links are cut, brokers die,
and the whole cluster is started again from disk, under load. In the end everything rests, and the
audit reads the journals.

With --part borders zones are split, merged and moved under load, and a border moves many
entities at once; that is measured, and the journals are read.

Of purses all is checked: none is lost or doubled, and their gold is conserved. Of other games,
where things come and go by their rules, it is that nothing is owned twice and no hand-over or
action lost or doubled.`

const seamlessExample = `  {program} bench seamless --part simulated --handovers 1000000
  {program} bench seamless --part real --seconds 20
  {program} bench seamless --part real --rate 1000 --faults 100 --json
  {program} bench seamless --part real --game crowd --nodes 1
  {program} bench seamless --part borders --seconds 600 --changes 14`

func seamlessVerb(p *host.Program) *cobra.Command {
	var o seamlesslab.Options
	cmd := verb.Verb{
		Name: "seamless", Short: "Entities that change their server: lost, doubled, late",
		Long: seamlessLong, Example: seamlessExample, Options: o.List(),
		Prepare: func(cmd *cobra.Command) error {
			self, err := os.Executable()
			o.Find = p.Title
			o.Start = func(role string) *exec.Cmd {
				return exec.Command(self, cmd.Parent().Name(), cmd.Name(), "worker", role)
			}
			if err == nil {
				err = cli.Usage(o.Check())
			}
			return err
		},
		Run: verb.Run(&o, &o.Progress, seamlesslab.Run),
	}.For(p)
	about := "One of the processes of {program} bench seamless"
	cmd.AddCommand(&cobra.Command{
		Use: "worker ROLE", Short: about, Long: about + ", which starts it and talks to it.",
		Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return seamlesslab.Work(cmd.Context(), args[0], p.Title, cmd.InOrStdin(),
				cmd.OutOrStdout())
		},
	})
	return cmd
}
