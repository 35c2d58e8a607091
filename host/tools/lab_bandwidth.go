//go:build !js

package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/bandwidthlab"
)

const labBandwidthLong = `Measure what client-server, peer-to-peer and mirrored servers cost in bytes, and
what each takes in time: chapter 2 of Cronin, Filstrup and Kurc (2001), and the
study of topologies that it left for later.

Bots play the game on a real server over a simulated network, with each number
of --clients. From the bytes come the paper's variables a, b, c, d, e and alpha,
and the regression of state updates on the number of clients. Then the three
architectures: by the paper's Table 2.2, by a count of all messages, and as
measured. Peers and mirrors exchange the recorded commands over the reliable
multicast, one packet a tick. Rates are kbit/s without the headers of UDP and IP.

Last, on four topologies, the time from a player's command until another player
sees it, computed and measured: a star, a distant server, two clusters, and
twelve cities with published delays, or those of --delays. Mirrors stand where
the sum of the players' delays to the nearest is least.

A file for --delays is CSV of round trips in milliseconds:

  from,London,Paris,Oslo
  London,0,8,24
  Paris,8,0,29
  Oslo,24,29,0

The command fails if what peers or mirrors exchange is not within 20 % of the
model.`

const labBandwidthExample = `  {program} lab bandwidth
  {program} lab bandwidth --quick --clients 2,8
  {program} lab bandwidth --cities london,virginia,tokyo,sydney --mirrors 2
  {program} lab bandwidth --delays pings.csv --plot bandwidth.svg
  {program} lab bandwidth --json > bandwidth.json`

type labBandwidth struct {
	options bandwidthlab.Options
	json    bool
	quick   bool
	game    string
	delays  string
	cities  []string
	plot    string
}

func labBandwidthCommand(p *host.Program) *cobra.Command {
	var l labBandwidth
	cmd := &cobra.Command{
		Use:     "bandwidth",
		Short:   "Bytes and latency of client-server, peer-to-peer and mirrors",
		Long:    labBandwidthLong,
		Example: labBandwidthExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return l.run(p, cmd) },
	}
	o, f := &l.options, cmd.Flags()
	f.IntSliceVar(&o.Clients, "clients", []int{1, 2, 4, 8, 16, 32}, "numbers of clients to measure with")
	f.IntVar(&o.PerMirror, "per-mirror", bandwidthlab.PaperPerMirror, "clients of each mirror; from 2 clients on there are 2 mirrors at least")
	f.IntVar(&o.Mirrors, "mirrors", 0, "mirrors in each topology; 0: as many as suit it")
	f.StringVar(&l.delays, "delays", "", "read round trips between places from `FILE`, in place of the cities")
	f.StringSliceVar(&l.cities, "cities", nil, "only these of the cities, or of the places in the file")
	f.StringVar(&l.game, "game", "", "what is played (default: the first game that says what a player moves about in)")
	f.StringVar(&o.Level, "map", "", "where they play (default: the game's for so many)")
	f.BoolVar(&o.Everything, "everything", false, "show every client everything: no interest management")
	f.BoolVar(&o.BytesOnly, "bytes-only", false, "leave out the topologies")
	f.BoolVar(&l.quick, "quick", false, "measure for a sixth of the time")
	f.Uint64Var(&o.Seed, "seed", 1, "what the game and the network hang on")
	f.StringVar(&l.plot, "plot", "", "draw state updates, servers' loads and latencies to `FILE`, an SVG")
	f.BoolVar(&l.json, "json", false, "print one JSON object")
	return cmd
}

func (l *labBandwidth) run(p *host.Program, cmd *cobra.Command) error {
	if err := l.prepare(p); err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	l.options.Progress = bar.Show
	r, err := bandwidthlab.Run(cmd.Context(), l.options)
	if err != nil {
		return err
	}
	bar.Clear()
	if l.plot != "" {
		if err := os.WriteFile(l.plot, bandwidthlab.Plot(r), 0o644); err != nil {
			return err
		}
	}
	if l.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	} else {
		err = printBandwidth(cmd.OutOrStdout(), r)
	}
	if err != nil {
		return err
	}
	return r.Check()
}

// prepare checks what was asked for before anything is measured.
func (l *labBandwidth) prepare(p *host.Program) error {
	o := &l.options
	if len(o.Clients) == 0 {
		return cli.Usagef("--clients names no number: try --clients 1,2,4,8")
	}
	for _, n := range o.Clients {
		if n < 1 || n > bandwidthlab.MaxClients {
			return cli.Usagef("--clients has %d: choose 1 to %d", n, bandwidthlab.MaxClients)
		}
	}
	if slices.Min(o.Clients) == slices.Max(o.Clients) {
		return cli.Usagef("--clients has only %d: %w", o.Clients[0], bandwidthlab.ErrNoLine)
	}
	if o.PerMirror < 1 || o.PerMirror > bandwidthlab.MaxClients {
		return cli.Usagef("--per-mirror is %d: choose 1 to %d", o.PerMirror, bandwidthlab.MaxClients)
	}
	if l.plot != "" && filepath.Ext(l.plot) != ".svg" {
		return cli.Usagef("--plot %s: the name must end in .svg, the only format that it draws", l.plot)
	}
	t, err := titleOf(p, l.game, embodied)
	if err != nil {
		return err
	}
	o.Title = t
	if _, err := lab.NewSubject(t, o.Level, slices.Max(o.Clients)); err != nil {
		return cli.UsageError{Err: err}
	}
	if l.quick {
		o.Time, o.Exchange, o.Latency = 10*time.Second, 2*time.Second, 4*time.Second
	}
	cities := bandwidthlab.Cities()
	if l.delays != "" {
		f, err := os.Open(l.delays)
		if err != nil {
			return err
		}
		defer f.Close()
		if cities, err = bandwidthlab.ReadDelays(f); err != nil {
			return cli.Usagef("--delays %s: %w", l.delays, err)
		}
	}
	if len(l.cities) > 0 {
		var err error
		if cities, err = cities.Choose(l.cities); err != nil {
			return cli.Usagef("--cities: %w", err)
		}
	}
	o.Cities = cities
	if most := bandwidthlab.MostMirrors(cities); o.Mirrors < 0 || o.Mirrors > most {
		return cli.Usagef("--mirrors is %d: choose 1 to %d, as not all topologies have more places, or 0", o.Mirrors, most)
	}
	return nil
}

func printBandwidth(out io.Writer, r *bandwidthlab.Result) error {
	p := &bandwidthPrinter{out: out, r: r}
	p.variables()
	p.served()
	p.architectures()
	p.topologies()
	return errors.Join(p.errs...)
}

// bandwidthPrinter prints a result for people.
type bandwidthPrinter struct {
	out  io.Writer
	r    *bandwidthlab.Result
	errs []error
}

func (p *bandwidthPrinter) say(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil {
		p.errs = append(p.errs, err)
	}
}

func (p *bandwidthPrinter) table(rows [][]string, left int) {
	if err := printColumns(p.out, rows, left); err != nil {
		p.errs = append(p.errs, err)
	}
	p.say("\n")
}

func decimals(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// variables are Table 2.3, theirs and ours.
func (p *bandwidthPrinter) variables() {
	r, v, q := p.r, p.r.Variables, p.r.Paper
	p.say("Variables of Table 2.1, kbit/s. %s, %d ticks and %d state updates a second; the paper's are Quake's (Table 2.3).\n\n", r.Game, r.TickRate, r.Snapshots)
	p.table([][]string{
		{"", "", "paper", "here"},
		{"a", "a client's commands to its server", decimals(q.A, 2), decimals(v.A, 2)},
		{"b", "the same to one other mirror or peer", decimals(q.B, 2), decimals(v.B, 2)},
		{"c", "state updates with no clients", decimals(q.C, 2), decimals(v.C, 2)},
		{"d+e", "and for each client more", decimals(q.DE, 2), decimals(v.DE, 2)},
	}, 2)
	l := &r.Line
	p.say("Regression: update = %.2f (±%.2f) + %.3f (±%.3f) n; correlation %.4f, R² %.4f. The paper's correlation is %.4f.\n",
		l.Intercept, l.InterceptError, l.Slope, l.SlopeError, l.Correlation, l.RSquared, bandwidthlab.PaperCorrelation)
	c := &r.Command
	p.say("A packet between mirrors has %.1f bytes and %.1f for each command, and %.0f for each mirror beyond the second: b is %.2f for one command a packet, %.2f for eight.\n\n",
		c.Packet, c.Each, c.Proof, c.B(1, 2, r.TickRate), c.B(8, 2, r.TickRate))
}

// served is what was measured at a real server, with Table 2.5.
func (p *bandwidthPrinter) served() {
	p.say("A real server, measured. Commands and updates are kbit/s of one client. c, d and e are from the server's ledger: updates are\nc + d n + e (1 + alpha (n-1)). alpha is the share of other clients in an update, in view the share that is in view.\n\n")
	rows := [][]string{{"clients", "commands", "updates", "least", "most", "by line", "residual", "c", "d", "e", "alpha", "paper's", "in view", "late"}}
	for _, s := range p.r.Served {
		alpha, view, theirs := "", "", ""
		if s.Clients > 1 {
			alpha, view = decimals(100*s.Alpha, 1)+" %", decimals(100*s.InView, 1)+" %"
		}
		if a, ok := bandwidthlab.PaperAlpha[s.Clients]; ok {
			theirs = decimals(100*a, 1) + " %"
		}
		rows = append(rows, []string{strconv.Itoa(s.Clients), decimals(s.Command, 2), decimals(s.Update, 2), decimals(s.UpdateLeast, 2), decimals(s.UpdateMost, 2),
			decimals(s.Update-s.Residual, 2), decimals(s.Residual, 2), decimals(s.C, 2), decimals(s.D, 3), decimals(s.E, 2), alpha, theirs, view, decimals(100*s.Late, 1) + " %"})
	}
	p.table(rows, 0)
}

// architectures are Tables 2.2 and 2.4 with our variables, and what was measured.
func (p *bandwidthPrinter) architectures() {
	p.say("The three architectures, kbit/s: by the paper's Table 2.2 with the variables above, by a count of all messages, and measured;\nthe ratio is measured by counted. What a client has in mirrored is what it has in client-server.\n\n")
	client := bandwidthColumns{"of a client", func(r *bandwidthlab.Rates) float64 { return r.TotalClient }}
	server := bandwidthColumns{"of a server", func(r *bandwidthlab.Rates) float64 { return r.TotalServer }}
	between := bandwidthColumns{"between mirrors", func(r *bandwidthlab.Rates) float64 { return r.Private }}
	public := bandwidthColumns{"of all peers", func(r *bandwidthlab.Rates) float64 { return r.Public }}
	all := bandwidthColumns{"of everyone", func(r *bandwidthlab.Rates) float64 { return r.Private + r.Public }}
	p.architecture(bandwidthlab.ClientServer, client, server)
	p.architecture(bandwidthlab.PeerToPeer, client, public)
	p.architecture(bandwidthlab.Mirrored, server, between, all)
}

// bandwidthColumns are four columns about one thing.
type bandwidthColumns struct {
	title string
	of    func(r *bandwidthlab.Rates) float64
}

func (p *bandwidthPrinter) architecture(a bandwidthlab.Architecture, columns ...bandwidthColumns) {
	head := [][]string{{string(a), ""}, {"clients", "mirrors"}}
	for _, c := range columns {
		head[0] = append(head[0], "", "", "", c.title)
		head[1] = append(head[1], "paper", "counted", "measured", "ratio")
	}
	rows := head
	for _, x := range p.r.Compared {
		if x.Architecture != a {
			continue
		}
		row := []string{strconv.Itoa(x.Clients), ""}
		if x.Mirrors > 0 {
			row[1] = strconv.Itoa(x.Mirrors)
		}
		for _, c := range columns {
			counted, measured := c.of(&x.Counted), c.of(&x.Measured)
			cells := []string{decimals(c.of(&x.Paper), 0), decimals(counted, 1), decimals(measured, 1), ""}
			if counted > 0 {
				cells[3] = decimals(measured/counted, 2)
			}
			row = append(row, cells...)
		}
		rows = append(rows, row)
	}
	p.table(rows, 1)
}

// topologies are the study of Figure 2.5.
func (p *bandwidthPrinter) topologies() {
	if len(p.r.Topologies) == 0 {
		return
	}
	p.say("From a player's command until another player sees it, ms, over all pairs of players: on the network alone; with the protocols'\nwaits, computed; and measured. Late is the share of commands that came after their tick. Home and back is the mean round trip of a\nplayer to the own server.\n\n")
	var rows [][]string
	last := ""
	flush := func() {
		if rows != nil {
			p.table(rows, 1)
		}
	}
	for _, t := range p.r.Topologies {
		if t.Topology != last {
			flush()
			last = t.Topology
			p.say("%s: %s, %d players\n\n", t.Topology, t.About, t.Players)
			rows = [][]string{{"", "home", "path", "", "", "", "computed", "", "", "", "measured", "", "", "", ""},
				{"architecture", "and back", "mean", "median", "p95", "worst", "mean", "median", "p95", "worst", "mean", "median", "p95", "worst", "late", "  worst pair", "  servers"}}
		}
		row := []string{string(t.Architecture), decimals(t.Home, 0)}
		for _, l := range []bandwidthlab.Latency{t.Path, t.Computed, t.Measured} {
			row = append(row, decimals(l.Mean, 0), decimals(l.Median, 0), decimals(l.P95, 0), decimals(l.Worst, 0))
		}
		row = append(row, decimals(100*t.Late, 1)+" %", "  "+t.Measured.From+" to "+t.Measured.To, "  "+strings.Join(t.Servers, ", "))
		rows = append(rows, row)
	}
	flush()
	for _, w := range p.r.Warnings {
		p.say("warning: %s\n", w)
	}
}
