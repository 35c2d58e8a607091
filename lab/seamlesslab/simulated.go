//go:build !js

package seamlesslab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/zone"
	"github.com/coeval-dev/coeval/zone/zonetest"
	"github.com/coeval-dev/coeval/zone/zonetest/audit"
)

// Simulated is what was found in virtual time.
type Simulated struct {
	Rough     Rough      `json:"rough"`
	Controls  []Control  `json:"controls"`
	Late      []Late     `json:"late"`
	TakeOvers []TakeOver `json:"take_overs"`
	Costs     []Cost     `json:"costs"`
}

// Rough is a number of runs in which most things go wrong that can.
type Rough struct {
	Runs      int            `json:"runs" head:"runs"`
	HandOvers uint64         `json:"handovers" head:"hand-overs"`
	Actions   uint64         `json:"actions" head:"actions on others' entities"`
	Forwards  uint64         `json:"forwarded" head:"- forwarded, as the entity had moved on"`
	Waited    uint64         `json:"waited" head:"- that waited for an entity on its way"`
	Events    uint64         `json:"events" head:"strict events"`
	Crashes   int            `json:"crashes" head:"crashes"`
	Faults    map[string]int `json:"faults"`
	TakenOver uint64         `json:"taken_over" head:"zones taken over"`
	Fenced    uint64         `json:"fenced" head:"- from owners that lived"`
	Ahead     uint64         `json:"ahead" head:"records held by buddies before the journal had them"`
	Helped    uint64         `json:"helped" head:"- appended by who took over"`
	Refused   uint64         `json:"refused" head:"appends refused although right"`
	Doubts    uint64         `json:"doubts" head:"- in doubt"`
	Replayed  uint64         `json:"replayed" head:"ticks that servers replayed"`
	Records   uint64         `json:"records" head:"records that the audit has read"`
	Frames    uint64         `json:"ticks" head:"- ticks in them, computed again"`
	Hashes    uint64         `json:"hashes" head:"- hashes compared"`
	Found
	Stuck  int      `json:"stuck" head:"zones that came to no end"`
	Halted int      `json:"halted" head:"zones halted"`
	Wrong  []string `json:"wrong,omitempty"`
}

// Found is what an audit has found to be wrong, by kind.
type Found struct {
	Lost    int `json:"lost" head:"lost"`
	Doubled int `json:"doubled" head:"doubled"`
	Owned   int `json:"owned_twice" head:"owned twice"`
	Sum     int `json:"sums_wrong" head:"sums that are others"`
	Hash    int `json:"hashes_wrong" head:"hashes that are others"`
	Order   int `json:"out_of_order" head:"out of order, or not as it is written down"`
}

// add counts what an audit has found.
func (f *Found) add(a *audit.Audit) {
	f.Lost += a.Count(audit.Lost)
	f.Doubled += a.Count(audit.Doubled)
	f.Owned += a.Count(audit.Owned)
	f.Sum += a.Count(audit.Sum)
	f.Hash += a.Count(audit.Hash)
	f.Order += a.Count(audit.Order) + a.Count(audit.Form)
}

// all is how much there is.
func (f *Found) all() int { return f.Lost + f.Doubled + f.Owned + f.Sum + f.Hash + f.Order }

// A Control is a run with a mistake that the audit must find.
type Control struct {
	Name      string `json:"name" head:"on purpose"`
	Runs      int    `json:"runs" head:"runs"`
	HandOvers uint64 `json:"handovers" head:"hand-overs"`
	Lost      int    `json:"entities_lost" head:"entities lost"`
	Doubled   int    `json:"entities_doubled" head:"entities doubled"`
	Owned     int    `json:"owned_twice" head:"owned twice"`
	Caught    bool   `json:"caught" head:"the audit finds it"`
}

// Late is how many ticks were executed late at hand-overs.
type Late struct {
	Rate      int      `json:"rate" head:"aimed at, a second"`
	PerSecond float64  `json:"per_second" head:"hand-overs a second" as:"%.0f"`
	HandOvers uint64   `json:"handovers" head:"hand-overs"`
	Median    int      `json:"late_p50_ticks" head:"ticks late, median"`
	P99       int      `json:"late_p99_ticks" head:"- p99"`
	Counts    []uint64 `json:"late_counts"`
}

// A TakeOver is for how long zones stood still after their server's death.
type TakeOver struct {
	What   string  `json:"what" head:"after a server's death, its zones"`
	Zones  int     `json:"zones" head:"zones"`
	Median float64 `json:"p50_s" head:"durable again, median" as:"%.2f s"`
	P95    float64 `json:"p95_s" head:"- p95" as:"%.2f s"`
	Most   float64 `json:"most_s" head:"- the longest" as:"%.2f s"`
}

// A Cost is what a zone costs in each tick.
type Cost struct {
	Zones    int     `json:"zones" head:"zones"`
	Servers  int     `json:"servers" head:"servers"`
	Messages float64 `json:"messages" head:"messages" as:"%.2f"`
	Bytes    float64 `json:"message_bytes" head:"- bytes" as:"%.0f"`
	Appends  float64 `json:"appends" head:"records" as:"%.2f"`
	Recorded float64 `json:"append_bytes" head:"- bytes" as:"%.0f"`
	MapOps   float64 `json:"map_operations" head:"map operations" as:"%.3f"`
	Store    float64 `json:"store_bytes" head:"bytes of snapshots" as:"%.1f"`
}

// simulate does all that is done in virtual time.
func simulate(ctx context.Context, o *Options, p lab.Progress) (*Simulated, error) {
	s := &Simulated{}
	var jobs []lab.Job
	s.control(o, &jobs)
	s.figures(o, &jobs)
	if err := lab.Spread(ctx, jobs, p.Within(0, 0.3)); err != nil {
		return nil, err
	}
	return s, s.rough(ctx, o, p.Within(0.3, 0.7))
}

// rough hands over as many entities as are asked for, a batch of runs after the other.
func (s *Simulated) rough(ctx context.Context, o *Options, p lab.Progress) error {
	const batch = 8
	r := &s.Rough
	r.Faults = map[string]int{}
	for first := o.Seed; r.HandOvers < uint64(o.HandOvers); first += batch {
		reports := make([]*zonetest.Report, batch)
		var jobs []lab.Job
		for i := range reports {
			seed := first + uint64(i)
			jobs = append(jobs, lab.Job{What: fmt.Sprint("seed ", seed), Work: 1,
				Do: func(context.Context) error {
					opt := zonetest.Rough(seed)
					opt.Standby, opt.Buddies = seed%2 == 0, seed%4 > 1
					reports[i] = zonetest.New(opt).Run()
					return nil
				}})
		}
		if err := lab.Spread(ctx, jobs, nil); err != nil {
			return err
		}
		for i, report := range reports {
			r.add(first+uint64(i), report)
		}
		p.Tell(min(1, float64(r.HandOvers)/float64(o.HandOvers)),
			fmt.Sprintf("%d hand-overs, %d crashes, %d wrong", r.HandOvers, r.Crashes, r.all()))
	}
	return nil
}

func (r *Rough) add(seed uint64, x *zonetest.Report) {
	r.Runs++
	r.Crashes += x.Crashes
	for kind, n := range x.Faults {
		r.Faults[kind] += n
	}
	a, m := x.Audit, &x.Stats
	r.HandOvers += a.HandOvers
	r.Actions += a.Actions
	r.Forwards += a.Forwards
	r.Events += a.Events
	r.Records += a.Records
	r.Frames += a.Frames
	r.Hashes += a.Hashes
	r.Waited += m.Waited
	r.TakenOver += m.TakenOver
	r.Fenced += m.Fenced
	r.Ahead += m.Ahead
	r.Helped += m.Helped
	r.Refused += m.Refused
	r.Doubts += m.Doubts
	r.Replayed += m.Replayed
	r.Found.add(a)
	r.Stuck += len(x.Stuck)
	r.Halted += len(x.Halted)
	for _, f := range a.Faults {
		r.wrong(seed, f.String())
	}
	for _, text := range x.Stuck {
		r.wrong(seed, text)
	}
	for _, err := range x.Halted {
		r.wrong(seed, err.Error())
	}
}

func (r *Rough) wrong(seed uint64, text string) {
	if len(r.Wrong) < 20 {
		r.Wrong = append(r.Wrong, fmt.Sprintf("seed %d: %s", seed, text))
	}
}

// control makes mistakes on purpose.
func (s *Simulated) control(o *Options, jobs *[]lab.Job) {
	const least, most = 4, 32 // runs, until it is found
	kinds := []struct {
		name string
		run  func(uint64) *zonetest.Report
		sees func(*Control) bool
	}{
		{"no fence: owners that were cut off go on", run(zonetest.Unfenced),
			func(c *Control) bool { return c.Owned > 0 }},
		{"effects leave before the journal has them", run(zonetest.Hasty),
			func(c *Control) bool { return c.Lost > 0 && c.Doubled > 0 }},
		{"nobody asks those who hold what the journal lacks",
			func(seed uint64) *zonetest.Report { return zonetest.Together(seed, true) },
			func(c *Control) bool { return c.Lost > 0 && c.Doubled > 0 }},
	}
	s.Controls = make([]Control, len(kinds))
	for i, k := range kinds {
		*jobs = append(*jobs, lab.Job{What: k.name, Work: 4, Do: func(context.Context) error {
			c := &s.Controls[i]
			c.Name = k.name
			for ; c.Runs < least || !c.Caught && c.Runs < most; c.Runs++ {
				a := k.run(o.Seed + 7 + uint64(c.Runs)).Audit
				c.HandOvers += a.HandOvers
				c.Lost += a.LostEntities
				c.Doubled += a.DoubledEntities
				c.Owned += a.Count(audit.Owned)
				c.Caught = k.sees(c)
			}
			return nil
		}})
	}
}

func run(make func(uint64) zonetest.Options) func(uint64) *zonetest.Report {
	return func(seed uint64) *zonetest.Report { return zonetest.New(make(seed)).Run() }
}

// figures measures what hand-overs, take-overs and zones cost.
func (s *Simulated) figures(o *Options, jobs *[]lab.Job) {
	rates, zones := []int{1000, 2000}, o.Costs
	s.Late, s.Costs = make([]Late, len(rates)), make([]Cost, len(zones))
	s.TakeOvers = make([]TakeOver, 2)
	add := func(work float64, what string, do func()) {
		*jobs = append(*jobs, lab.Job{What: what, Work: work, Do: func(context.Context) error {
			do()
			return nil
		}})
	}
	for i, rate := range rates {
		add(1, "hand-overs", func() {
			late, _ := zonetest.Lates(o.Seed, rate)
			s.Late[i] = lateOf(rate, late, 5*time.Second)
		})
	}
	for i, n := range zones {
		add(float64(n)/16, fmt.Sprint(n, " zones"), func() {
			c := zonetest.MeasureCost(o.Seed, n)
			s.Costs[i] = Cost{n, c.Servers, c.Messages, c.MessageBytes, c.Appends, c.AppendBytes,
				c.MapOps, c.StoreBytes}
		})
	}
	for i, what := range []string{"are read from store and journal", "were followed by standbys"} {
		add(1, "taking over", func() {
			var all []time.Duration
			for n := range uint64(20) {
				_, r := zonetest.TakenOver(o.Seed+n, i == 1)
				all = append(all, r.TakeOvers...)
			}
			s.TakeOvers[i] = TakeOver{what, len(all), seconds(all, 0.5), seconds(all, 0.95),
				seconds(all, 1)}
		})
	}
}

// lateOf makes figures of counts of hand-overs by how many ticks they missed.
func lateOf(rate int, late [zone.MaxMissed + 2]uint64, took time.Duration) Late {
	l := Late{Rate: rate, Counts: late[:]}
	for _, n := range late {
		l.HandOvers += n
	}
	l.PerSecond = float64(l.HandOvers) / took.Seconds()
	at := func(part float64) int {
		seen := uint64(0)
		for i, n := range late {
			if seen += n; float64(seen) >= part*float64(l.HandOvers) {
				return i
			}
		}
		return len(late)
	}
	l.Median, l.P99 = at(0.5), at(0.99)
	return l
}

func (s *Simulated) report(p *lab.Report) {
	p.Say("Under simulation, in virtual time: %d runs of a minute of %d hand-overs in all, 4 "+
		"servers and 6 zones each. What went wrong: %s", s.Rough.Runs, s.Rough.HandOvers,
		faultsOf(s.Rough.Faults))
	p.Figures([]Rough{s.Rough}, "HandOvers, Actions, Forwards, Waited, Events, Crashes, "+
		"TakenOver, Fenced, Ahead, Helped, Refused, Doubts, Replayed, Records, Frames, Hashes, "+
		"Lost, Doubled, Owned, Sum, Hash, Order, Stuck, Halted")
	for _, text := range s.Rough.Wrong {
		p.Add("%s", text)
	}
	p.Say("Mistakes on purpose, which the audit has to find:")
	p.Table(s.Controls, "Name, Runs, HandOvers, Lost, Doubled, Owned, Caught")
	p.Say("With nothing going wrong, 3 servers and 6 zones:")
	p.Table(s.Late, "Rate, PerSecond, HandOvers, Median, P99")
	p.Table(s.TakeOvers, "What, Zones, Median, P95, Most")
	p.Say("What a zone costs in each tick:")
	p.Table(s.Costs, "Zones, Servers, Messages, Bytes, Appends, Recorded, MapOps, Store")
}

// faultsOf lists what went wrong, and how often.
func faultsOf(m map[string]int) string {
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%s %d", kind, m[kind]))
	}
	return strings.Join(list, ", ")
}

func (s *Simulated) check() error {
	var all []error
	for _, text := range s.Rough.Wrong {
		all = append(all, errors.New(text))
	}
	for _, c := range s.Controls {
		if !c.Caught {
			all = append(all, fmt.Errorf("the audit has not found what was wrong on purpose (%s), "+
				"so what it finds elsewhere proves nothing", c.Name))
		}
	}
	return errors.Join(all...)
}

func (s *Simulated) targets() (list []lab.Target) {
	r := &s.Rough
	list = append(list, lab.Target{What: "lost, doubled, owned twice, not conserved (simulated)",
		Got: float64(r.all() + r.Stuck + r.Halted), Want: "0",
		Reached: r.all()+r.Stuck+r.Halted == 0})
	for _, l := range s.Late {
		list = append(list, lab.Target{What: fmt.Sprintf(
			"ticks late at %d hand-overs a second, p99 (simulated)", l.Rate), Got: float64(l.P99),
			Want: fmt.Sprint("at most ", l.Rate/1000), Reached: l.P99 <= l.Rate/1000})
	}
	for i, want := range []float64{1.5, 1.5} {
		t := &s.TakeOvers[i]
		list = append(list, lab.Target{What: "seconds until zones go on that " + t.What + ", p95",
			Got: t.P95, Want: fmt.Sprint("at most ", want), Reached: t.P95 <= want})
	}
	least, most := math.Inf(1), 0.0
	for _, c := range s.Costs {
		least, most = min(least, c.Recorded), max(most, c.Recorded)
	}
	return append(list, lab.Target{What: "a zone's record, most by least", Got: most / least,
		Want: "at most 1.15", Reached: most <= 1.15*least})
}
