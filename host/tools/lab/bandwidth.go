//go:build !js

package lab

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/bandwidthlab"
)

const bandwidthLong = `Measure what client-server, peer-to-peer and mirrored servers cost in bytes, and
what each takes in time: chapter 2 of Cronin, Filstrup and Kurc (2001), and the
study of topologies that it left for later.

Bots play the game on a real server over a simulated network, with each number
of --clients. From the bytes come the paper's variables a, b, c, d, e and alpha,
and the regression of state updates on the number of clients. Then the three
architectures: by the paper's Table 2.2, by a count of all messages, and as
measured. Mirrors are real ones with their clients; peers exchange the recorded
commands over the reliable multicast, one packet a tick. Rates are kbit/s without
the headers of UDP and IP.

Last, on four topologies, the time from a player's command until another player
sees it, computed and measured: a star, a distant server, two clusters, and
twelve cities with published delays, or those of --delays. Mirrors stand where
the sum of the players' delays to the nearest is least.

A file for --delays is CSV of round trips in milliseconds:

  from,London,Paris,Oslo
  London,0,8,24
  Paris,8,0,29
  Oslo,24,29,0

The command fails if what peers exchange, or mirrors for their commands, is not
within 20 % of the model.`

const bandwidthExample = `  {program} lab bandwidth
  {program} lab bandwidth --quick --clients 2,8
  {program} lab bandwidth --cities london,virginia,tokyo,sydney --mirrors 2
  {program} lab bandwidth --delays pings.csv --plot bandwidth.svg
  {program} lab bandwidth --json > bandwidth.json`

func bandwidthVerb(p *host.Program) *cobra.Command {
	var o bandwidthlab.Options
	var delays string
	var cities []string
	var quick bool
	return verb.Verb{
		Name: "bandwidth", Short: "Bytes and latency of client-server, peer-to-peer and mirrors",
		Long: bandwidthLong, Example: bandwidthExample,
		Options: append(o.List(),
			lab.Text(&delays, "delays", "",
				"read round trips between places from `FILE`, in place of the cities"),
			lab.Words(&cities, "cities", nil, nil,
				"only these of the cities, or of the places in the file"),
			lab.Switch(&quick, "quick", "measure for a sixth of the time")),
		Title: &o.Title, Fits: verb.Embodied, Plots: "state updates, servers' loads and latencies",
		Prepare: func(*cobra.Command) (err error) {
			if quick {
				o.Time, o.Exchange, o.Latency = 10*time.Second, 2*time.Second, 4*time.Second
			}
			if o.Cities, err = readCities(delays, cities); err != nil {
				return err
			}
			return cli.Usage(o.Check())
		},
		Run: verb.Run(&o, &o.Progress, bandwidthlab.Run),
	}.For(p)
}

// readCities takes the cities, or those of a file, or some of them.
func readCities(file string, names []string) (d *bandwidthlab.Delays, err error) {
	d = bandwidthlab.Cities()
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if d, err = bandwidthlab.ReadDelays(f); err != nil {
			return nil, cli.Usagef("--delays %s: %w", file, err)
		}
	}
	if len(names) > 0 {
		if d, err = d.Choose(names); err != nil {
			return nil, cli.Usagef("--cities: %w", err)
		}
	}
	return d, nil
}
