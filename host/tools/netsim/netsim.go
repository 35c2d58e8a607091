//go:build !js

// Package netsim is the command that puts a bad network between real programs.
package netsim

import (
	"fmt"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/proxy"
	"github.com/spf13/cobra"
)

const long = `Stand between game clients and their server, and treat their datagrams as a
worse network would: delay, lose, double, reorder, damage and queue them.

Point the clients at the address given by --listen instead of the server. Each
client is forwarded from a port of its own. With the same seed and the same
traffic, the same datagrams are lost.

While it runs it prints a line of statistics each second in which something
happened, and takes commands on standard input, so that the network can change
under a running game; there is no configuration file and no signal to send:

%s

Presets, with the figures for each direction; latencies are one way:

%s`

const example = `  {program} netsim --listen :5000 --to 127.0.0.1:4000 --preset wifi --seed 7
  {program} netsim --listen :5000 --to 127.0.0.1:4000 --preset lte --set down.loss=5%
  echo "preset awful" | {program} netsim --listen :5000 --to 127.0.0.1:4000 --json`

// Command is {program} netsim: the impairments of the simulated network for real programs.
func Command(_ *host.Program) *cobra.Command {
	var (
		o          proxy.Options
		preset     string
		settings   []string
		jitterFile string
		asJSON     bool
		every      time.Duration
	)
	cmd := &cobra.Command{
		Use:   "netsim --listen ADDR --to ADDR",
		Short: "Put a bad network between real clients and their server",
		Long: fmt.Sprintf(long, strings.ReplaceAll("  "+proxy.Commands, "\n", "\n  "),
			presetTable()),
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every <= 0 {
				return cli.Usagef("--every is %v, use a time above zero such as 1s", every)
			}
			if o.Listen == "" || o.To == "" {
				return cli.Usagef(
					"--listen and --to are needed, such as --listen :5000 --to 127.0.0.1:4000")
			}
			var err error
			if o.Conditions, err = cli.Conditions(preset, settings, jitterFile); err != nil {
				return err
			}
			p, err := proxy.New(o)
			if err != nil {
				return err
			}
			if !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(),
					"clients at %v, server at %s, seed %d; type help for commands, quit or "+
						"Ctrl-C to end\nup   %v\ndown %v\n",
					p.Addr(), o.To, o.Seed, o.Conditions.Up, o.Conditions.Down)
			}
			return proxy.Console(cmd.Context(), p, cmd.InOrStdin(), cmd.OutOrStdout(), asJSON,
				every)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "", "where clients send to, like :5000 (port 0 for any)")
	f.StringVar(&o.To, "to", "", "where the server is, like 127.0.0.1:4000")
	f.StringVar(&preset, "preset", "perfect", "which network: "+strings.Join(cli.Presets(), ", "))
	f.StringArrayVar(&settings, "set", nil,
		"change a setting of the preset, like loss=5% or up.latency=80ms; may be repeated")
	f.StringVar(&jitterFile, "jitter-file", "",
		"a file of delays like 12ms, one a line, to be played back as jitter")
	f.Uint64Var(&o.Seed, "seed", 1, "random seed of the network")
	f.IntVar(&o.Clients, "clients", 1024, "how many clients at once at most")
	f.DurationVar(&o.Idle, "idle", time.Minute, "forget a client that is silent for so long")
	f.DurationVar(&every, "every", time.Second, "how often to print statistics")
	f.BoolVar(&asJSON, "json", false, "print statistics and answers as JSON, one object a line")
	return cmd
}

func presetTable() string {
	var b strings.Builder
	for _, c := range netsim.Presets() {
		fmt.Fprintf(&b, "  %-14s up   %v\n  %-14s down %v\n", c.Name, c.Up, "", c.Down)
	}
	return strings.TrimRight(b.String(), "\n")
}
