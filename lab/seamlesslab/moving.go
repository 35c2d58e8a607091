//go:build !js

package seamlesslab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/zone"
	"github.com/coeval-dev/coeval/zone/zonetest/audit"
)

// Moving is what was found of borders that move.
type Moving struct {
	Servers int       `json:"servers"`
	Nodes   int       `json:"nodes"`
	Cores   int       `json:"cores"`
	Crowds  []Crowd   `json:"crowds"`
	Runs    []Shifts  `json:"runs"`
	Audits  []Audited `json:"audits"`
	News    []string  `json:"news,omitempty"`
}

// A Crowd is what it took for a border to move so many at once.
type Crowd struct {
	Moved   uint64  `json:"moved" head:"entities moved by one border"`
	Took    float64 `json:"took_s" head:"- from the plan's tick until the last" as:"%.2f s"`
	Worst   float64 `json:"worst_tick_ms" head:"- the longest tick of a zone since" as:"%.1f ms"`
	Over    uint64  `json:"ticks_over_budget" head:"- ticks over 16.7 ms"`
	Stood   float64 `json:"stood_share" head:"time that servers were not run" as:"%.2f %%"`
	Machine string  `json:"machine_load" head:"the machine's load"`
}

// Shifts are what was measured while borders moved for a while.
type Shifts struct {
	Seconds float64 `json:"seconds" head:"seconds" as:"%.0f"`
	Splits  int     `json:"splits" head:"splits"`
	Merges  int     `json:"merges" head:"merges"`
	Moves   int     `json:"moves" head:"zones moved to another server"`
	Refused int     `json:"refused" head:"orders refused"`
	Killed  int     `json:"killed" head:"servers killed meanwhile"`
	Order   float64 `json:"order_p50_s" head:"an order took, median" as:"%.2f s"`
	Most    float64 `json:"order_most_s" head:"- the longest" as:"%.2f s"`
	Late
	Over      uint64  `json:"ticks_over_budget" head:"ticks of zones over 16.7 ms"`
	ZoneTicks uint64  `json:"zone_ticks" head:"- of so many"`
	Zones     int     `json:"zones" head:"zones at the end"`
	Spare     int     `json:"spare" head:"- spare ones"`
	Stood     float64 `json:"stood_share" head:"time that servers were not run" as:"%.2f %%"`
	Machine   string  `json:"machine_load" head:"the machine's load"`
}

// move measures borders that move: of a crowd that stands still, and under load.
func move(ctx context.Context, o *Options, p lab.Progress) (*Moving, error) {
	if In() == nil {
		return nil, errors.New("this program has no brokers: use coevald")
	}
	out := &Moving{Servers: o.Servers, Nodes: o.Nodes, Cores: runtime.NumCPU()}
	dir := o.Keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "seamlesslab-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir) // a temporary one
	}
	if err := out.crowd(ctx, o, filepath.Join(dir, "crowd"), p.Nth(0, 2)); err != nil {
		return out, err
	}
	return out, out.shifts(ctx, o, filepath.Join(dir, "borders"), p.Nth(1, 2))
}

// over adds up ticks that were too long, and gives the longest. The lock is held.
func (s *session) over() (over uint64, worst time.Duration) {
	for _, p := range s.servers {
		for _, z := range p.last.Zones {
			over += z.Over
			worst = max(worst, z.Worst)
		}
	}
	return over, worst
}

// crowd has one border move many who stand still, by a split of their zone.
func (m *Moving) crowd(ctx context.Context, o *Options, dir string, p lab.Progress) error {
	few := *o
	few.Zones, few.still = 2, 4*o.Crowd // each zone has twice as many as are to move
	s, err := begin(ctx, &few, dir, 1, 0, p)
	if s != nil {
		defer s.end()
	}
	if err != nil {
		return err
	}
	if err := sleep(ctx, max(o.Settle, 2*time.Second)); err != nil { // until all runs evenly
		return err
	}
	s.mu.Lock()
	before := s.count()
	over, _ := s.over()
	s.mu.Unlock()
	cut := hallWide / 2
	half := seamless.Order{Kind: seamless.Split, Zone: 1, Cut: &cut}
	if _, err := s.order(ctx, half); err != nil {
		return err
	}
	at, err := s.counts(ctx)
	if err != nil {
		return err
	}
	c := Crowd{Machine: machineLoad()}
	err = s.wait(ctx, "all have moved", time.Minute, func() bool {
		after := s.count()
		n := after.stats.HandOvers - before.stats.HandOvers
		if n > c.Moved {
			c.Moved, c.Took = n, s.heardAt().Sub(at).Seconds()
		}
		return c.Moved > 0 && time.Since(at) > 3*time.Second
	})
	s.mu.Lock()
	after := s.count()
	now, worst := s.over()
	s.mu.Unlock()
	c.Over, c.Worst = now-over, lab.Millis(worst)
	c.Stood = (after.stood - before.stood).Seconds() / after.at.Sub(before.at).Seconds() /
		float64(len(s.servers))
	m.Crowds = append(m.Crowds, c)
	if err != nil {
		return err
	}
	return m.settle(ctx, s, p)
}

// heardAt is when a server last said how it does. The lock is held.
func (s *session) heardAt() (at time.Time) {
	for _, p := range s.servers {
		if p.last.At.After(at) {
			at = p.last.At
		}
	}
	return at
}

// counts is when the newest plan counts, or has begun to.
func (s *session) counts(ctx context.Context) (time.Time, error) {
	x, err := seamless.Look(ctx, s.kept.Map())
	if err != nil {
		return time.Time{}, err
	}
	return x.Zero.Add(time.Duration(x.Counts) * s.title.Game.TickLength()), nil
}

// order has something done with the world, and learns of zones that are new by it.
func (s *session) order(ctx context.Context, x seamless.Order) (time.Duration, error) {
	began := time.Now()
	x.By = "bench seamless"
	once, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	_, err := seamless.Do(once, s.kept.Map(), x)
	took := time.Since(began)
	return took, errors.Join(err, s.meet(ctx))
}

// meet gets the first snapshots of zones that were founded meanwhile.
func (s *session) meet(ctx context.Context) error {
	x, err := seamless.Look(ctx, s.kept.Map())
	if err != nil {
		return err
	}
	for _, z := range x.Zones {
		if slices.Contains(s.zones, uint32(z.Zone)) {
			continue
		}
		keys, err := s.kept.Store().Keys(ctx, fmt.Sprintf("snapshot.%08x.", uint32(z.Zone)))
		if err != nil || len(keys) == 0 {
			return errors.Join(err, fmt.Errorf("zone %d has no snapshot", z.Zone))
		}
		data, err := s.kept.Store().Get(ctx, keys[0])
		if err != nil {
			return err
		}
		shot, err := audit.ReadSnapshot(data)
		if err != nil || shot.Sequence != 0 {
			return fmt.Errorf("zone %d: its first snapshot is of sequence %d: %w", z.Zone,
				shot.Sequence, err)
		}
		s.mu.Lock()
		s.zones, s.first = append(s.zones, uint32(z.Zone)), append(s.first, data)
		s.mu.Unlock()
	}
	return nil
}

// shifts has borders move under load for a while.
func (m *Moving) shifts(ctx context.Context, o *Options, dir string, p lab.Progress) error {
	rate := o.Rates[0]
	s, err := begin(ctx, o, dir, rate, o.Settle+4*time.Second+o.Time+10*time.Second, p)
	if s != nil {
		defer s.end()
	}
	if err != nil {
		return err
	}
	if err := sleep(ctx, 2*time.Second); err != nil {
		return err
	}
	s.mu.Lock()
	before := s.count()
	over, _ := s.over()
	s.mu.Unlock()
	x, err := s.disturb(ctx, o, p)
	if err != nil {
		return err
	}
	s.mu.Lock()
	after := s.count()
	now, _ := s.over()
	s.mu.Unlock()
	var late [zone.MaxMissed + 2]uint64
	for i := range late {
		late[i] = after.stats.Late[i] - before.stats.Late[i]
	}
	took := after.at.Sub(before.at)
	x.Late, x.Seconds = lateOf(rate, late, took), took.Seconds()
	x.ZoneTicks, x.Machine = after.stats.Ticks-before.stats.Ticks, machineLoad()
	if x.Killed == 0 { // whoever was killed has taken its figures along
		x.Over = now - over
		x.Stood = (after.stood - before.stood).Seconds() / took.Seconds() / float64(len(s.servers))
	}
	if look, err := seamless.Look(ctx, s.kept.Map()); err == nil {
		for _, z := range look.Zones {
			x.Zones++
			if z.Spare {
				x.Spare++
			}
		}
	}
	m.Runs = append(m.Runs, *x)
	return m.settle(ctx, s, p)
}

// disturb gives orders for as long as is measured, Changes of them a minute, and kills servers.
func (s *session) disturb(ctx context.Context, o *Options, p lab.Progress) (*Shifts, error) {
	x, chance := &Shifts{}, rand.New(rand.NewPCG(o.Seed, 25))
	t := &trouble{session: s, ctx: ctx, chance: chance}
	var list []time.Duration
	end := time.Now().Add(o.Time)
	each := time.Minute / time.Duration(o.Changes)
	for n := 0; time.Now().Before(end); n++ {
		next := time.Now().Add(each)
		look, err := seamless.Look(ctx, s.kept.Map())
		if err != nil {
			return nil, err
		}
		want := disturbance(look, chance, n)
		p.Tell(1-time.Until(end).Seconds()/o.Time.Seconds(), fmt.Sprint(want.Kind, " ", want.Zone))
		took, err := s.order(ctx, want)
		if err != nil {
			x.Refused++
			s.note("%s of zone %d: %v", want.Kind, want.Zone, err)
		} else {
			list = append(list, took)
			*map[seamless.OrderKind]*int{seamless.Split: &x.Splits, seamless.Merge: &x.Merges,
				seamless.Move: &x.Moves}[want.Kind]++
		}
		if o.Faults > x.Killed && n%3 == 2 {
			if err := t.one(&kinds[0], &Outages{}); err != nil {
				return nil, err
			}
			x.Killed++
		}
		if err := sleep(ctx, time.Until(next)); err != nil {
			return nil, err
		}
	}
	x.Order, x.Most = seconds(list, 0.5), seconds(list, 1)
	return x, nil
}

// disturbance is what is ordered next: splits and merges by turns, a shift or a move now and then.
func disturbance(look *seamless.Status, chance *rand.Rand, n int) seamless.Order {
	var zones, pairs []zone.ID
	for _, z := range look.Zones {
		if z.Spare {
			continue
		}
		zones = append(zones, z.Zone)
		if with, ok := look.Sibling(z.Zone); ok && with != look.Home {
			pairs = append(pairs, z.Zone)
		}
	}
	pick := func(list []zone.ID) zone.ID { return list[chance.IntN(len(list))] }
	switch {
	case n%6 == 5 && len(look.Servers) > 0:
		return seamless.Order{Kind: seamless.Move, Zone: pick(zones),
			Server: look.Servers[chance.IntN(len(look.Servers))].Server}
	case n%2 == 1 && len(pairs) > 0:
		return seamless.Order{Kind: seamless.Merge, Zone: pick(pairs)}
	default:
		return seamless.Order{Kind: seamless.Split, Zone: pick(zones)}
	}
}

// settle waits until all stands still, and has the journals read.
func (m *Moving) settle(ctx context.Context, s *session, p lab.Progress) error {
	if err := s.rest(ctx, p); err != nil {
		return err
	}
	s.mu.Lock()
	servers := s.servers
	m.News = append(m.News, s.news...)
	s.mu.Unlock()
	for _, x := range servers { // what they have not written down never was
		s.kill(x)
	}
	p.Tell(0.95, "reading journals")
	a, err := s.audit(ctx)
	if err == nil {
		m.Audits = append(m.Audits, *a)
	}
	return err
}

func (m *Moving) report(p *lab.Report) {
	p.Say("Borders that move: %d servers and %d brokers, each a process of its own, on a machine "+
		"with %d cores", m.Servers, m.Nodes, m.Cores)
	p.Figures(m.Crowds, "Moved, Took, Worst, Over, Stood, Machine")
	p.Figures(m.Runs, "Seconds, Splits, Merges, Moves, Refused, Killed, Order, Most, PerSecond, "+
		"HandOvers, Median, P99, Over, ZoneTicks, Zones, Spare, Stood, Machine")
	p.Say("What the journals say:")
	reportAudits(p, m.Audits)
	for i, text := range m.News {
		if i < 20 {
			p.Add("told: %s", text)
		}
	}
}

func (m *Moving) check() error { return checkAudits(m.Audits) }

func (m *Moving) targets() (list []lab.Target) {
	for _, c := range m.Crowds {
		list = append(list,
			lab.Target{What: fmt.Sprintf("%d entities moved by a border, seconds", c.Moved),
				Got: c.Took, Want: "at most 1", Reached: c.Took <= 1},
			lab.Target{What: "- ticks above their budget", Got: float64(c.Over), Want: "0",
				Reached: c.Over == 0})
	}
	for _, r := range m.Runs {
		list = append(list, lab.Target{What: "splits and merges a minute",
			Got:  float64(r.Splits+r.Merges) / r.Seconds * 60,
			Want: "at least 10, for 600 s", Reached: r.Seconds >= 600 &&
				float64(r.Splits+r.Merges) >= r.Seconds/6})
	}
	return list
}
