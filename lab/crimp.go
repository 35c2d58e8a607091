package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/crimp"
)

// CrimpOptions say which groups Crimp runs. The zero value is Table 4.1 of the
// mirrored-server paper and further: all sizes, losses, topologies and ways of recovery.
type CrimpOptions struct {
	Members []int     // 2, 4, 8, 16 and 64 if none are given
	Losses  []float64 // 0, 0.05, 0.1 and 0.15
	Packets int       // of each sender; 2000
	// Senders is how many members send at most; zero means all.
	Senders int
	// Whole has all members send all packets in groups above 16, too, where otherwise four send
	// a quarter of them: such groups take long.
	Whole    bool
	Period   time.Duration // between two packets of a sender; 30 ms
	Latency  time.Duration // one way; 25 ms
	History  time.Duration // 1 s
	Ways     []string      // see CrimpWays
	Shared   bool          // only the paper's topology, in which a link loses for all behind it
	Separate bool          // only loss of each receiver by itself
	Seed     uint64
	Progress func(done float64, what string)
}

// CrimpWays names the ways of recovery that are compared.
func CrimpWays() []string { return []string{"paper", "paper+fec", "adaptive", "adaptive+fec"} }

// CrimpResult is what one group came to.
type CrimpResult struct {
	Members, Senders int
	Loss             float64 // of each datagram, on each path or on the shared link
	Topology         string  // "separate" or "shared"
	Way              string
	Packets          int // sent by all
	Deliveries       int // that there should be
	// Delay of deliveries above the path's own, in milliseconds.
	Mean, P95, P99, Most float64
	Undelivered          int // neither delivered nor reported as given up
	GivenUp              int
	Twice                int // delivered more than once, or altered
	LostPackets          int // that at least one member missed at first
	LostCopies           int // summed over members
	Requests, Repairs    uint64
	// Requests and repairs for each copy that a member missed, and for each packet
	// that any member missed.
	RequestsPerLoss, RepairsPerLoss     float64
	RequestsPerPacket, RepairsPerPacket float64
	BytesPerPacket                      float64 // all that was sent, over packets
	ForwardShare, RecoveryShare         float64 // of those bytes
}

func (o *CrimpOptions) fill() error {
	if len(o.Members) == 0 {
		o.Members = []int{2, 4, 8, 16, 64}
	}
	if len(o.Losses) == 0 {
		o.Losses = []float64{0, 0.05, 0.10, 0.15}
	}
	if len(o.Ways) == 0 {
		o.Ways = CrimpWays()
	}
	if o.Packets == 0 {
		o.Packets = 2000
	}
	if o.Period == 0 {
		o.Period = 30 * time.Millisecond
	}
	if o.Latency == 0 {
		o.Latency = 25 * time.Millisecond
	}
	if o.History == 0 {
		o.History = time.Second
	}
	for _, n := range o.Members {
		if n < 2 || n > 128 {
			return fmt.Errorf("lab: a group of %d members, choose 2 to 128", n)
		}
	}
	for _, l := range o.Losses {
		if !(l >= 0 && l < 1) {
			return fmt.Errorf("lab: a loss of %v, choose 0 to below 1", l)
		}
	}
	for _, w := range o.Ways {
		if _, _, err := crimpWay(w); err != nil {
			return err
		}
	}
	switch {
	case o.Packets < 1 || o.Packets > 1_000_000:
		return fmt.Errorf("lab: %d packets of each sender, choose 1 to 1000000", o.Packets)
	case o.Senders < 0:
		return errors.New("lab: fewer senders than none")
	case o.Period < time.Millisecond/2 || o.Period > time.Second || o.Latency < 0 || o.Latency > time.Second:
		return fmt.Errorf("lab: a packet each %v over paths of %v, choose a period of 0.5ms to 1s and a latency to 1s", o.Period, o.Latency)
	case o.Shared && o.Separate:
		return errors.New("lab: both only shared and only separate loss")
	}
	return nil
}

// crimpWay gives the options of a way of recovery.
func crimpWay(name string) (crimp.Recovery, crimp.Forward, error) {
	none := crimp.Forward{Mode: crimp.ForwardNone}
	switch name {
	case "paper":
		return crimp.Paper, none, nil
	case "paper+fec":
		return crimp.Paper, crimp.Forward{}, nil
	case "adaptive":
		return crimp.Recovery{}, none, nil
	case "adaptive+fec":
		return crimp.Recovery{}, crimp.Forward{}, nil
	}
	return crimp.Recovery{}, none, fmt.Errorf("lab: no way of recovery %q, there are %v", name, CrimpWays())
}

// Crimp runs groups over simulated networks and measures what each way of recovery
// costs and gains. The same seed gives the same figures, to the last digit.
func Crimp(ctx context.Context, o CrimpOptions) ([]CrimpResult, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	var cases []crimpCase
	work := 0.0
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
					cases = append(cases, crimpCase{&o, n, senders, packets, loss, shared, way})
					work += cases[len(cases)-1].work()
				}
			}
		}
	}
	return runCrimp(ctx, &o, cases, work)
}

// runCrimp spreads the cases over the processors. Each is a world of its own.
func runCrimp(ctx context.Context, o *CrimpOptions, cases []crimpCase, work float64) ([]CrimpResult, error) {
	results := make([]CrimpResult, len(cases))
	failed := make([]error, len(cases))
	var next, done = 0, 0.0
	var lock sync.Mutex
	var all sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), len(cases))) {
		all.Go(func() {
			for {
				lock.Lock()
				i := next
				next++
				lock.Unlock()
				if i >= len(cases) || ctx.Err() != nil {
					return
				}
				results[i], failed[i] = cases[i].run(ctx)
				lock.Lock()
				done += cases[i].work()
				if o.Progress != nil {
					o.Progress(done/work, cases[i].String())
				}
				lock.Unlock()
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return results, errors.Join(failed...)
}

// PaperTable is Table 4.1 of the paper: mean delay above the one without loss, in
// milliseconds, packets lost for good, and duplicates of requests and repairs.
var PaperTable = map[float64]struct {
	Added                float64
	Lost                 int
	Requested, Repaired2 int
}{0: {0, 0, 0, 0}, 0.05: {17, 0, 441, 323}, 0.10: {63, 0, 1653, 1215}, 0.15: {146, 2, 2512, 1951}}

// CrimpTargets is what is to be reached at each loss, in milliseconds added: with forward
// error correction, and without.
var CrimpTargets = map[float64]struct{ Forward, Without float64 }{0.05: {2, 5}, 0.10: {4, 11}, 0.15: {7, 21}}

// Check says in what a result falls short of what is to be reached.
func (r *CrimpResult) Check() error {
	var wrong []error
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%d members, %v loss of %.0f %%, %s: "+format,
			append([]any{r.Members, r.Topology, r.Loss * 100, r.Way}, args...)...))
	}
	if r.Twice > 0 {
		say("%d packets were delivered twice or altered", r.Twice)
	}
	if r.Undelivered > 0 {
		say("%d packets were neither delivered nor given up", r.Undelivered)
	}
	if r.Way == "paper" || r.Way == "paper+fec" {
		return errors.Join(wrong...)
	}
	if r.GivenUp > 0 {
		say("%d packets were given up", r.GivenUp)
	}
	if t, ok := CrimpTargets[r.Loss]; ok && r.Topology == "separate" {
		most := t.Without
		if r.Way == "adaptive+fec" {
			most = t.Forward
		}
		if r.Mean > most {
			say("%.2f ms above the path, %.0f are to be reached", r.Mean, most)
		}
	}
	if r.Members == 16 && (r.RequestsPerLoss >= 1.3 || r.RepairsPerLoss >= 1.3) {
		say("%.2f requests and %.2f repairs a loss, fewer than 1.3 are to be reached", r.RequestsPerLoss, r.RepairsPerLoss)
	}
	return errors.Join(wrong...)
}

// delays is a histogram with bins of a twentieth of a millisecond.
type delays struct {
	bins  []uint32
	count int
	sum   float64
	most  float64
}

const delayBin = 0.05 // milliseconds

func (d *delays) add(ms float64) {
	ms = max(ms, 0)
	i := int(ms / delayBin)
	for i >= len(d.bins) {
		d.bins = append(d.bins, make([]uint32, max(256, i+1-len(d.bins)))...)
	}
	d.bins[i]++
	d.count++
	d.sum += ms
	d.most = max(d.most, ms)
}

func (d *delays) mean() float64 {
	if d.count == 0 {
		return math.NaN()
	}
	return d.sum / float64(d.count)
}

func (d *delays) quantile(q float64) float64 {
	want := int(math.Ceil(q * float64(d.count)))
	for i, n := range d.bins {
		if want -= int(n); want <= 0 {
			return float64(i) * delayBin
		}
	}
	return d.most
}
