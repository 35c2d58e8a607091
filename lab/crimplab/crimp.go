// Package crimplab runs groups of the reliable multicast over simulated networks that lose packets:
// Table 4.1 of Cronin, Filstrup and Kurc, "A Distributed Multiplayer Game Server System" (2001),
// and further.
//
//	host/tools/lab   {program} lab crimp
//	lab/crimplab     the experiment        <- here
//	crimp            what is measured
package crimplab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/lab"
)

// Options say which groups are run. The zero value is Table 4.1 of the paper and further: all
// sizes, losses, topologies and ways of recovery.
type Options struct {
	Members          []int
	Losses           []float64
	Ways             []string
	Packets, Senders int
	// Whole has all members send all packets in groups above 16, too, where otherwise four send a
	// quarter of them: such groups take long.
	Whole                    bool
	Period, Latency, History time.Duration
	Shared, Separate         bool
	// Sizes are those of messages, each as likely as the next: a traffic model of packets that were
	// captured. Default: any from 16 to 96 bytes.
	Sizes []int
	Seed  uint64
	// NoCost leaves out what a group costs in processor time.
	NoCost   bool
	Progress lab.Progress
}

// ways are the ways of recovery that are compared.
var ways = []string{"paper", "paper+fec", "adaptive", "adaptive+fec"}

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Numbers(&o.Members, "members", []int{2, 4, 8, 16, 64}, 2, 128, "sizes of groups"),
		lab.Numbers(&o.Losses, "loss", []float64{0, 0.05, 0.10, 0.15}, 0, math.Nextafter(1, 0),
			"shares of datagrams that are lost"),
		lab.Words(&o.Ways, "way", ways, ways, "ways of recovery"),
		lab.Number(&o.Packets, "packets", 2000, 1, 1_000_000, "packets of each sender"),
		lab.Number(&o.Senders, "senders", 0, 0, 128, "members that send at most; 0: all"),
		lab.Switch(&o.Whole, "whole", "in groups above 16, too, all members send all packets"),
		lab.Number(&o.Period, "period", 30*time.Millisecond, time.Millisecond/2, time.Second,
			"time between two packets of a sender"),
		lab.Number(&o.Latency, "latency", 25*time.Millisecond, 0, time.Second,
			"time on the way, each way"),
		lab.Number(&o.History, "history", time.Second, 0, time.Hour, "how long a packet is of use"),
		lab.Switch(&o.Shared, "shared",
			"only loss on one path for all behind it, the paper's topology"),
		lab.Switch(&o.Separate, "separate", "only loss of each path by itself"),
		lab.Seed(&o.Seed, "the network"),
		lab.Switch(&o.NoCost, "no-cost", "do not measure processor time"),
	}
}

// recovery gives the options of a way of recovery.
func recovery(way string) (r crimp.Recovery, f crimp.Forward) {
	if strings.HasPrefix(way, "paper") {
		r = crimp.Paper
	}
	if !strings.HasSuffix(way, "+fec") {
		f.Mode = crimp.ForwardNone
	}
	return r, f
}

// Result is what all groups came to, and what one costs.
type Result struct {
	Groups []Row
	Costs  []Cost
}

// Row is what one group came to.
type Row struct {
	Members int
	Senders int `head:"senders"`
	// of each datagram, on each path or on the shared one
	Loss       float64 `head:"loss" as:"%.0f %%"`
	Topology   string  // "separate" or "shared"
	Way        string  `head:"way"`
	Packets    int     // sent by all
	Deliveries int     // that there should be
	Delay
	Faults
	Recovered
}

// Delay is of deliveries above the path's own, in milliseconds.
type Delay struct {
	Mean   float64 `head:"above path, ms" as:"%+.2f"`
	P95    float64 `head:"p95" as:"%.1f"`
	P99    float64 `head:"p99" as:"%.1f"`
	Most   float64
	Target string `json:"-" head:"to reach"`
}

// Faults are what went wrong on the way, and what was not mended.
type Faults struct {
	Undelivered int `head:"un- delivered"` // neither delivered nor reported as given up
	GivenUp     int `head:"given up"`
	Twice       int // delivered more than once, or altered
	LostPackets int // that at least one member missed at first
	LostCopies  int // summed over members
}

// Recovered is what mending took: requests and repairs in all, for each copy that a member missed,
// and for each packet that any member missed; and all bytes that were sent, over packets.
type Recovered struct {
	Requests, Repairs uint64
	// Those of them that were for a packet which somebody had asked for, or repaired, before: the
	// paper's duplicates.
	DuplicateRequests uint64  `head:"duplicate requests"`
	DuplicateRepairs  uint64  `head:"duplicate repairs"`
	RequestsPerLoss   float64 `head:"requests a missed copy" as:"%.2f"`
	RepairsPerLoss    float64 `head:"repairs a missed copy" as:"%.2f"`
	RequestsPerPacket float64 `head:"requests a missed packet" as:"%.2f"`
	RepairsPerPacket  float64 `head:"repairs a missed packet" as:"%.2f"`
	BytesPerPacket    float64 `head:"bytes/ packet" as:"%.0f"`
	ForwardShare      float64 `head:"of it fec" as:"%.0f %%"`
	RecoveryShare     float64 `head:"of it recovery" as:"%.0f %%"`
}

// Run runs groups over simulated networks and measures what each way of recovery costs and gains.
// The same seed gives the same figures, to the last digit; but for costs, which are a processor's.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	if o.Shared && o.Separate {
		return nil, errors.New("both only shared and only separate loss")
	}
	var cases []*setting
	for _, n := range o.Members {
		senders, packets := n, o.Packets
		if n > 16 && !o.Whole {
			senders, packets = 4, max(1, o.Packets/4)
		}
		if o.Senders > 0 {
			senders = min(n, o.Senders)
		}
		for _, shared := range []bool{false, true} {
			if shared && o.Separate || !shared && o.Shared {
				continue
			}
			for _, loss := range o.Losses {
				for _, way := range o.Ways {
					cases = append(cases, &setting{&o, n, senders, packets, loss, shared, way})
				}
			}
		}
	}
	r := &Result{Groups: make([]Row, len(cases))}
	var jobs []lab.Job
	for i, c := range cases {
		jobs = append(jobs,
			lab.Job{What: c.String(), Work: c.work(), Do: func(ctx context.Context) (err error) {
				r.Groups[i], err = c.run(ctx)
				return err
			}})
	}
	if err := lab.Spread(ctx, jobs, o.Progress); err != nil || o.NoCost {
		return r, err
	}
	// which cannot do 1000
	for proof, rate := range map[crimp.Proof]int{crimp.Tags: 1000, crimp.Signatures: 30} {
		o.Progress.Tell(1, "processor time with "+proof.String())
		c, err := MeasureCost(ctx, 16, rate, proof, 2*time.Second)
		if err != nil {
			return r, err
		}
		r.Costs = append(r.Costs, c)
	}
	slices.SortFunc(r.Costs, func(a, b Cost) int { return b.Rate - a.Rate })
	return r, nil
}

// Lines are all groups, and then what one costs.
func (r *Result) Lines() []any { return append(lab.Lines(r.Groups), lab.Lines(r.Costs)...) }

// Check says in what a result falls short of what is to be reached.
func (r *Result) Check() error { return errors.Join(lab.CheckAll(r.Groups), lab.CheckAll(r.Costs)) }

// paperRow is a row of Table 4.1 of the paper: mean delay above the one without loss, in
// milliseconds, and packets lost for good. Beside it stands what it is here.
type paperRow struct {
	Loss     float64 `head:"loss" as:"%.0f %%"`
	Added    float64 `head:"paper" as:"%+.0f"`
	Lost     int     `head:"lost for good"`
	Requests int     `head:"duplicate requests"`
	Repairs  int     `head:"duplicate repairs"`
	Here     string  `head:"its constants here"`
	Adaptive string  `head:"adaptive here"`
	Forward  string  `head:"adaptive+fec here"`
}

var paperTable = []paperRow{
	{Loss: 0}, {Loss: 0.05, Added: 17, Requests: 441, Repairs: 323},
	{Loss: 0.10, Added: 63, Requests: 1653, Repairs: 1215},
	{Loss: 0.15, Added: 146, Lost: 2, Requests: 2512, Repairs: 1951}}

// Published is Table 4.1 of the paper: what was perceived in milliseconds, and packets.
type Published struct {
	Loss                    float64
	RTT                     float64
	Lost, Requests, Repairs int
}

// PaperTable is Table 4.1.
func PaperTable() (list []Published) {
	for _, p := range paperTable {
		const unlost = 15 // of the row without loss
		list = append(list, Published{p.Loss, unlost + p.Added, p.Lost, p.Requests, p.Repairs})
	}
	return list
}

// targets are what is to be reached at each loss, in milliseconds added: with forward error
// correction, and without.
var targets = map[float64]struct{ Forward, Without float64 }{
	0.05: {2, 5}, 0.10: {4, 11}, 0.15: {7, 21}}

// target is what a row is to reach, if it is to reach anything.
func (r *Row) target() (ms float64, ok bool) {
	t, ok := targets[r.Loss]
	ok = ok && r.Topology == "separate" && !strings.HasPrefix(r.Way, "paper")
	if r.Way == "adaptive" {
		return t.Without, ok
	}
	return t.Forward, ok
}

// Report has a table for each group, the paper's beside ours, and what a group costs.
func (r *Result) Report(p *lab.Report) {
	for i := range r.Groups {
		if most, ok := r.Groups[i].target(); ok {
			r.Groups[i].Target = fmt.Sprintf("+%.0f", most)
		}
	}
	for title, rows := range lab.Groups(r.Groups,
		func(r *Row) string { return fmt.Sprintf("%d members, %s loss", r.Members, r.Topology) }) {
		p.Say("%s", title)
		p.Table(rows,
			"Loss, Way | Senders, Mean, P95, P99, Target, Undelivered, GivenUp, RequestsPerLoss, "+
				"RepairsPerLoss, "+
				"RequestsPerPacket, RepairsPerPacket, DuplicateRequests, DuplicateRepairs, "+
				"BytesPerPacket, ForwardShare, RecoveryShare")
	}
	var beside []paperRow
	for _, row := range paperTable {
		here := map[string]*string{
			"paper": &row.Here, "adaptive": &row.Adaptive, "adaptive+fec": &row.Forward}
		found := false
		for _, g := range r.Groups {
			if cell := here[g.Way]; cell != nil && g.Topology == "shared" && g.Members == 4 &&
				g.Loss == row.Loss {
				*cell = fmt.Sprintf("%+.2f; %d and %d", g.Mean, g.DuplicateRequests,
					g.DuplicateRepairs)
				found = true
			}
		}
		if found {
			beside = append(beside, row)
		}
	}
	if len(beside) > 0 {
		p.Say("Table 4.1 of the paper, mean ms above its 0 %% row, beside 4 members in the same " +
			"topology here; then duplicate requests and repairs, theirs in columns, ours " +
			"behind the delay. " +
			"The paper does not say how many members it had, nor after how many packets out of " +
			"order it asked; 3 here.")
		p.Table(beside, "Loss | Added, Lost, Requests, Repairs, Here, Adaptive, Forward")
	}
	if len(r.Costs) > 0 {
		p.Say("What a group costs a processor, without sockets")
		p.Table(r.Costs, "Members, Proof | Rate, Core, All, PerPacket, Allocs")
	}
}

// Check says in what a result falls short of what is to be reached.
func (r *Row) Check() error {
	var wrong []error
	say := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong,
				fmt.Errorf("%d members, %v loss of %.0f %%, %s: %s", r.Members, r.Topology,
					r.Loss*100, r.Way, fmt.Sprintf(format, args...)))
		}
	}
	say(r.Twice > 0, "%d packets were delivered twice or altered", r.Twice)
	say(r.Undelivered > 0, "%d packets were neither delivered nor given up", r.Undelivered)
	if strings.HasPrefix(r.Way, "paper") {
		return errors.Join(wrong...)
	}
	say(r.GivenUp > 0, "%d packets were given up", r.GivenUp)
	most, ok := r.target()
	say(ok && r.Mean > most, "%.2f ms above the path, %.0f are to be reached", r.Mean, most)
	say(r.Members == 16 && (r.RequestsPerLoss >= 1.3 || r.RepairsPerLoss >= 1.3),
		"%.2f requests and %.2f repairs a loss, fewer than 1.3 are to be reached",
		r.RequestsPerLoss, r.RepairsPerLoss)
	return errors.Join(wrong...)
}
