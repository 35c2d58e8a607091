//go:build !js

package seamlesslab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/zone"
)

// Real is what was found of real processes.
type Real struct {
	Game    string    `json:"game"`
	Servers int       `json:"servers"`
	Zones   int       `json:"zones"`
	Nodes   int       `json:"nodes"`
	Cores   int       `json:"cores"`
	Seconds float64   `json:"seconds"`
	Loads   []Load    `json:"loads"`
	Faults  []Outages `json:"faults,omitempty"`
	Audits  []Audited `json:"audits"`
	News    []string  `json:"news,omitempty"`
}

// A Load is what was measured at a rate of hand-overs.
type Load struct {
	Late
	LateTicks  uint64  `json:"zone_ticks_late" head:"ticks of zones computed late"`
	ZoneTicks  uint64  `json:"zone_ticks" head:"- of so many"`
	AckP50     float64 `json:"ack_p50_ms" head:"journal acknowledges, p50" as:"%.1f ms"`
	AckP99     float64 `json:"ack_p99_ms" head:"- p99" as:"%.1f ms"`
	AckMost    float64 `json:"ack_most_ms" head:"- the longest" as:"%.1f ms"`
	ServerCPU  float64 `json:"servers_cores" head:"cores that servers take" as:"%.2f"`
	BrokerCPU  float64 `json:"brokers_cores" head:"- brokers" as:"%.2f"`
	Recorded   float64 `json:"journal_bytes_per_second" head:"bytes a second into journals" as:"%.0f"`
	Resent     uint64  `json:"resent" head:"times that items were sent again"`
	Unsent     uint64  `json:"unsent" head:"messages for which a line had no room"`
	Overtaken  uint64  `json:"overtaken" head:"items that overtook others"`
	Duplicates uint64  `json:"duplicates" head:"- that came again"`
	Refused    uint64  `json:"refused" head:"appends refused although right"`
	Doubts     uint64  `json:"doubts" head:"- in doubt"`
	LineBytes  float64 `json:"line_bytes_per_second" head:"bytes a second between servers" as:"%.0f"`
	Stood      float64 `json:"stood_share" head:"time that servers were not run" as:"%.2f %%"`
	MachineUse string  `json:"machine_load" head:"the machine's load"`
}

// load is what servers have counted up to a moment.
type load struct {
	at               time.Time
	stats            zone.Stats
	lates            uint64
	unsent, sent     uint64
	stood            time.Duration
	servers, brokers time.Duration
}

// count adds up what processes have said. The lock is held.
func (s *session) count() (l load) {
	l.at = time.Now()
	for _, p := range s.servers {
		x := &p.last
		l.stats.HandOvers += x.Stats.HandOvers
		l.stats.Ticks += x.Stats.Ticks
		l.stats.Resent += x.Stats.Resent
		l.stats.Overtaken += x.Stats.Overtaken
		l.stats.Duplicates += x.Stats.Duplicates
		l.stats.Refused += x.Stats.Refused
		l.stats.Doubts += x.Stats.Doubts
		l.stats.Recorded += x.Stats.Recorded
		for i, n := range x.Stats.Late {
			l.stats.Late[i] += n
		}
		l.lates += x.Lates
		l.unsent += x.Lines.Unsent
		l.stood += x.Stood
		l.sent += x.Lines.SentBytes
		l.servers += x.CPU
	}
	for _, p := range s.brokers {
		l.brokers += p.last.CPU
	}
	return l
}

// measure measures for a while.
func (s *session) measure(ctx context.Context, rate int, d time.Duration) (Load, error) {
	if err := sleep(ctx, 2*time.Second); err != nil { // until all runs evenly
		return Load{}, err
	}
	s.mu.Lock()
	before := s.count()
	s.acks = s.acks[:0]
	s.mu.Unlock()
	if err := sleep(ctx, d); err != nil {
		return Load{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	after := s.count()
	var late [zone.MaxMissed + 2]uint64
	for i := range late {
		late[i] = after.stats.Late[i] - before.stats.Late[i]
	}
	took := after.at.Sub(before.at)
	return Load{Late: lateOf(rate, late, took), LateTicks: after.lates - before.lates,
		ZoneTicks: after.stats.Ticks - before.stats.Ticks,
		AckP50:    share(s.acks, 0.5), AckP99: share(s.acks, 0.99), AckMost: share(s.acks, 1),
		ServerCPU:  (after.servers - before.servers).Seconds() / took.Seconds(),
		BrokerCPU:  (after.brokers - before.brokers).Seconds() / took.Seconds(),
		Recorded:   float64(after.stats.Recorded-before.stats.Recorded) / took.Seconds(),
		Resent:     after.stats.Resent - before.stats.Resent,
		Unsent:     after.unsent - before.unsent,
		Overtaken:  after.stats.Overtaken - before.stats.Overtaken,
		Duplicates: after.stats.Duplicates - before.stats.Duplicates,
		Refused:    after.stats.Refused - before.stats.Refused,
		Doubts:     after.stats.Doubts - before.stats.Doubts,
		LineBytes:  float64(after.sent-before.sent) / took.Seconds(),
		Stood: (after.stood - before.stood).Seconds() / took.Seconds() /
			float64(len(s.servers)),
		MachineUse: machineLoad()}, s.failed()
}

// machineLoad is how many processes want to run, where the system says so.
func machineLoad() string {
	text, _ := os.ReadFile("/proc/loadavg") // elsewhere there is none
	var one, five string
	_, _ = fmt.Sscan(string(text), &one, &five)
	return one
}

// play runs real processes: a world for each rate, and one in which there are faults.
func play(ctx context.Context, o *Options, p lab.Progress) (*Real, error) {
	if In() == nil {
		return nil, errors.New("this program has no brokers: use coevald")
	}
	out := &Real{Game: cmp.Or(o.Game, "purses"), Servers: o.Servers, Zones: o.Zones,
		Nodes: o.Nodes, Cores: runtime.NumCPU(), Seconds: o.Time.Seconds()}
	dir := o.Keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "seamlesslab-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir) // a temporary one
	}
	rates := o.Rates
	if o.FaultsOnly {
		rates = nil
	}
	parts := len(rates)
	if o.Faults > 0 {
		parts++
	}
	for i, rate := range rates {
		err := out.one(ctx, o, filepath.Join(dir, fmt.Sprint("rate", i)), rate, 0, p.Nth(i, parts))
		if err != nil {
			return out, err
		}
	}
	if o.Faults == 0 {
		return out, nil
	}
	return out, out.one(ctx, o, filepath.Join(dir, "faults"), o.Rates[0], o.Faults,
		p.Nth(parts-1, parts))
}

// extra is by how much longer than Options.Every it is from one fault to the next, on average, as
// everything has to be as before first.
const extra = 2 * time.Second

// one plays a world, with faults or without, and has its journals read.
func (r *Real) one(ctx context.Context, o *Options, dir string, rate, faults int, p lab.Progress,
) error {
	last := o.Settle + 2*time.Second + o.Time
	if faults > 0 {
		last = o.Settle + o.Every + time.Duration(faults)*(o.Every+min(extra, o.Every))
	}
	s, err := begin(ctx, o, dir, rate, last, p)
	if s != nil {
		defer s.end()
	}
	if err != nil {
		return err
	}
	if faults > 0 {
		list, err := s.trouble(ctx, faults, p)
		if r.Faults = list; err != nil {
			return err
		}
	} else {
		p.Tell(0.4, fmt.Sprint(rate, " hand-overs a second"))
		l, err := s.measure(ctx, rate, o.Time)
		if err != nil {
			return err
		}
		r.Loads = append(r.Loads, l)
	}
	if err := s.rest(ctx, p); err != nil {
		return err
	}
	s.mu.Lock()
	servers := s.servers
	r.News = append(r.News, s.news...)
	s.mu.Unlock()
	for _, x := range servers { // what they have not written down never was
		s.kill(x)
	}
	p.Tell(0.95, "reading journals")
	a, err := s.audit(ctx)
	if err != nil {
		return err
	}
	r.Audits = append(r.Audits, *a)
	return nil
}

func (r *Real) report(p *lab.Report) {
	p.Say("For real: %d servers with %d zones and %d brokers, each a process of its own, on a "+
		"machine with %d cores; %s for %.0f s at each rate", r.Servers, r.Zones, r.Nodes, r.Cores,
		r.Game, r.Seconds)
	p.Figures(r.Loads, "Rate, PerSecond, HandOvers, Median, P99, LateTicks, ZoneTicks, AckP50, "+
		"AckP99, AckMost, Refused, Doubts, Recorded, ServerCPU, BrokerCPU, LineBytes, Resent, "+
		"Overtaken, Duplicates, Unsent, Stood, MachineUse")
	if len(r.Faults) > 0 {
		p.Say("For how long zones stood still, until a tick was durable again:")
		p.Table(r.Faults, "What, Times, Zones, Median, P95, Most, Stuck")
	}
	p.Say("What the journals say:")
	reportAudits(p, r.Audits)
	for i, text := range r.News {
		if i < 20 {
			p.Add("told: %s", text)
		}
	}
}

// reportAudits says what audits have found.
func reportAudits(p *lab.Report, list []Audited) {
	p.Figures(list, "Records, Bytes, Frames, Fences, HandOvers, Actions, Forwards, Events, "+
		"Gone, Aside, LeftOut, Entities, Lost, Doubled, Owned, Sum, Order, Caught")
	for _, a := range list {
		for _, text := range a.Wrong {
			p.Add("%s", text)
		}
	}
}

func (r *Real) check() error { return checkAudits(r.Audits) }

// checkAudits is an error if anything was lost or doubled.
func checkAudits(list []Audited) error {
	var all []error
	for _, a := range list {
		if !a.Caught {
			all = append(all, errors.New("the audit has not missed a record that was left out on "+
				"purpose, so what it finds proves nothing"))
		}
		for _, text := range a.Wrong {
			all = append(all, errors.New(text))
		}
	}
	return errors.Join(all...)
}

func (r *Real) targets() (list []lab.Target) {
	for i := range r.Loads {
		l := &r.Loads[i]
		want := max(1, l.Rate/1000)
		list = append(list, lab.Target{What: fmt.Sprintf("ticks late, p99, at %.0f hand-overs a "+
			"second", l.PerSecond), Got: float64(l.P99), Want: fmt.Sprint("at most ", want),
			Reached: l.P99 <= want && l.Median == 0})
	}
	for i := range r.Faults {
		f := &r.Faults[i]
		if want := f.want; want > 0 {
			list = append(list, lab.Target{What: "seconds until zones go on, p95: " + f.What,
				Got: f.P95, Want: fmt.Sprint("at most ", want), Reached: f.P95 <= want})
		}
	}
	if len(r.Audits) == 0 {
		return list
	}
	wrong := 0
	for _, a := range r.Audits {
		wrong += len(a.Wrong)
	}
	return append(list, lab.Target{What: "lost, doubled, owned twice, not conserved (real)",
		Got: float64(wrong), Want: "0", Reached: wrong == 0})
}
