//go:build !js

package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
)

const labCrimpLong = `Run groups of the reliable multicast over simulated networks that lose packets:
Table 4.1 of Cronin, Filstrup and Kurc (2001), and further.

Paths take 25 ms each way, each sender sends 2000 packets of 16 to 96 bytes, one
each 30 ms, the history is 1 s. Loss is separate (each path by itself), or shared
as in the paper's topology: half of the members on each side of one link, which
loses for all behind it.

Four ways of recovery: "paper" has the constants of the paper and no forward
error correction, "adaptive" finds its own, "+fec" adds forward error correction
chosen by measured loss. Delays are milliseconds above the path's own. Requests
and repairs are given for each copy that a member missed, and for each packet that
any member missed. In groups above 16 only 4 members send, and 500 packets each;
--whole has all send all, and takes much longer.

Last, it is measured what a group of 16 costs a processor at 1000 packets a second
from each, without sockets.

The command fails if a target is missed.`

const labCrimpExample = `  {program} lab crimp
  {program} lab crimp --members 2,16 --loss 0.05,0.15 --way adaptive+fec
  {program} lab crimp --json > crimp.jsonl`

type labCrimp struct {
	options lab.CrimpOptions
	json    bool
	noCost  bool
}

func labCrimpCommand() *cobra.Command {
	var l labCrimp
	cmd := &cobra.Command{
		Use:     "crimp",
		Short:   "Reliable multicast under loss: delays, duplicates and bytes",
		Long:    labCrimpLong,
		Example: labCrimpExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return l.run(cmd) },
	}
	o, f := &l.options, cmd.Flags()
	f.IntSliceVar(&o.Members, "members", []int{2, 4, 8, 16, 64}, "sizes of groups")
	f.Float64SliceVar(&o.Losses, "loss", []float64{0, 0.05, 0.10, 0.15}, "shares of datagrams that are lost")
	f.StringSliceVar(&o.Ways, "way", lab.CrimpWays(), "ways of recovery")
	f.IntVar(&o.Packets, "packets", 2000, "packets of each sender")
	f.IntVar(&o.Senders, "senders", 0, "members that send at most; 0: all")
	f.BoolVar(&o.Whole, "whole", false, "in groups above 16, too, all members send all packets")
	f.DurationVar(&o.Period, "period", 30*time.Millisecond, "time between two packets of a sender")
	f.DurationVar(&o.Latency, "latency", 25*time.Millisecond, "time on the way, each way")
	f.DurationVar(&o.History, "history", time.Second, "how long a packet is of use")
	f.BoolVar(&o.Shared, "shared", false, "only loss on one link for all behind it")
	f.BoolVar(&o.Separate, "separate", false, "only loss of each path by itself")
	f.Uint64Var(&o.Seed, "seed", 1, "what chance hangs on")
	f.BoolVar(&l.noCost, "no-cost", false, "do not measure processor time")
	f.BoolVar(&l.json, "json", false, "print one JSON object for each group, one a line")
	return cmd
}

func (l *labCrimp) run(cmd *cobra.Command) error {
	if l.options.Packets == 0 || l.options.Period == 0 {
		return cli.Usagef("--packets is %d and --period %v: both must be above zero", l.options.Packets, l.options.Period)
	}
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	l.options.Progress = bar.Show
	results, err := lab.Crimp(cmd.Context(), l.options)
	if err != nil {
		return err
	}
	var costs []lab.CrimpCost
	if !l.noCost {
		for i, proof := range []crimp.Proof{crimp.Tags, crimp.Signatures} {
			bar.Show(1, "processor time with "+proof.String())
			rate := []int{1000, 30}[i] // signatures cannot do 1000
			c, err := lab.MeasureCrimp(cmd.Context(), 16, rate, proof, 2*time.Second)
			if err != nil {
				return err
			}
			costs = append(costs, c)
		}
	}
	bar.Clear()
	if l.json {
		enc := json.NewEncoder(cmd.OutOrStdout())
		for i := range results {
			if err := enc.Encode(&results[i]); err != nil {
				return err
			}
		}
		for i := range costs {
			if err := enc.Encode(&costs[i]); err != nil {
				return err
			}
		}
	} else if err := printCrimp(cmd.OutOrStdout(), results, costs); err != nil {
		return err
	}
	var wrong []error
	for i := range results {
		wrong = append(wrong, results[i].Check())
	}
	for i := range costs {
		wrong = append(wrong, costs[i].Check())
	}
	return errors.Join(wrong...)
}

func printCrimp(out io.Writer, results []lab.CrimpResult, costs []lab.CrimpCost) error {
	number := func(digits int, v float64) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	head := [][]string{
		{"", "", "", "above", "", "", "", "un-", "given", "a missed", "copy:", "a missed", "packet:", "bytes/", "of it", ""},
		{"loss", "way", "senders", "path, ms", "p95", "p99", "to reach", "delivered", "up", "requests", "repairs", "requests", "repairs", "packet", "fec", "recovery"},
	}
	var rows [][]string
	title := ""
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		if _, err := fmt.Fprintf(out, "%s\n\n", title); err != nil {
			return err
		}
		err := printColumns(out, append(append([][]string{}, head...), rows...), 2)
		rows = nil
		fmt.Fprintln(out)
		return err
	}
	for _, r := range results {
		t := fmt.Sprintf("%d members, %s loss", r.Members, r.Topology)
		if t != title {
			if err := flush(); err != nil {
				return err
			}
			title = t
		}
		rows = append(rows, []string{fmt.Sprintf("%.0f %%", r.Loss*100), r.Way, strconv.Itoa(r.Senders),
			"+" + number(2, r.Mean), number(1, r.P95), number(1, r.P99), crimpTarget(&r),
			strconv.Itoa(r.Undelivered), strconv.Itoa(r.GivenUp),
			number(2, r.RequestsPerLoss), number(2, r.RepairsPerLoss), number(2, r.RequestsPerPacket), number(2, r.RepairsPerPacket),
			number(0, r.BytesPerPacket), number(0, r.ForwardShare*100) + " %", number(0, r.RecoveryShare*100) + " %"})
	}
	if err := flush(); err != nil {
		return err
	}
	if err := printCrimpPaper(out, results); err != nil {
		return err
	}
	for _, c := range costs {
		if _, err := fmt.Fprintf(out, "%d members at %d packets a second each, %s: %.3f of a core for one member, %.2f for all of them together; %.0f ns and %.3f allocations a packet received\n",
			c.Members, c.Rate, c.Proof, c.Core, c.All, c.PerPacket, c.Allocs); err != nil {
			return err
		}
	}
	return nil
}

// crimpTarget is what a row is to reach.
func crimpTarget(r *lab.CrimpResult) string {
	t, ok := lab.CrimpTargets[r.Loss]
	switch {
	case !ok || r.Topology != "separate" || strings.HasPrefix(r.Way, "paper"):
		return ""
	case r.Way == "adaptive":
		return fmt.Sprintf("+%.0f", t.Without)
	}
	return fmt.Sprintf("+%.0f", t.Forward)
}

// printCrimpPaper puts the paper's table beside ours, in the paper's topology.
func printCrimpPaper(out io.Writer, results []lab.CrimpResult) error {
	rows := [][]string{{"loss", "paper", "lost for good", "its constants here", "adaptive here", "adaptive+fec here"}}
	by := map[string]float64{}
	var losses []float64
	for _, r := range results {
		if r.Topology == "shared" && r.Members == 4 {
			key := fmt.Sprint(r.Loss, r.Way)
			by[key] = r.Mean
			if len(losses) == 0 || losses[len(losses)-1] != r.Loss {
				losses = append(losses, r.Loss)
			}
		}
	}
	for _, loss := range losses {
		p, ok := lab.PaperTable[loss]
		if !ok {
			continue
		}
		row := []string{fmt.Sprintf("%.0f %%", loss*100), fmt.Sprintf("+%.0f", p.Added), strconv.Itoa(p.Lost)}
		for _, way := range []string{"paper", "adaptive", "adaptive+fec"} {
			cell := ""
			if v, ok := by[fmt.Sprint(loss, way)]; ok {
				cell = fmt.Sprintf("+%.2f", v)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if len(rows) == 1 {
		return nil
	}
	if _, err := fmt.Fprint(out, "Table 4.1 of the paper, mean ms above its 0 % row, beside 4 members in the same topology here.\nThe paper does not say how many members it had, nor after how many packets out of order it asked; 3 here.\n\n"); err != nil {
		return err
	}
	if err := printColumns(out, rows, 1); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}
