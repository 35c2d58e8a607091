package zonetest

import (
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// Rough are the options of a run in which most things go wrong that can: servers die, stand still
// and are cut off, and what is kept refuses, doubts, stalls and is away.
func Rough(seed uint64) Options {
	return Options{Seed: seed, Servers: 4, Zones: 6, Tokens: 60, MovePer: 60, ActPer: 30,
		For: 60 * time.Second, Every: 1500 * time.Millisecond, Skew: 2 * time.Second,
		Odds: Odds{Refused: 300, Away: 300, Doubt: 500, Old: 100_000, Lost: 5000, Twice: 5000,
			Late: 10000}}
}

// Unfenced are the options of a control: the journal takes whatever anyone appends, so owners that
// were cut off or stood still go on beside those that came after them. If the audit found no entity
// with two owners then, it would prove nothing elsewhere.
func Unfenced(seed uint64) Options {
	o := Rough(seed)
	o.For, o.Unfenced, o.NoReplay = 30*time.Second, true, true
	return o
}

// Hasty are the options of the other control: effects leave before the journal has what led to
// them. Entities must be found lost, and others doubled.
func Hasty(seed uint64) Options {
	o := Rough(seed)
	o.Every, o.Odds, o.For = 700*time.Millisecond, Odds{}, 20*time.Second
	o.Hasty, o.NoReplay = true, true
	return o
}

// Lates hands entities over at about so many a second, with nothing going wrong, and counts them by
// how many ticks of theirs were executed late.
func Lates(seed uint64, rate int) (late [zone.MaxMissed + 2]uint64, r *Report) {
	s := New(Options{Seed: seed, Servers: 3, Zones: 6, Tokens: rate / 6, MovePer: 60, ActPer: 60,
		For: 9 * time.Second, NoReplay: true})
	s.until(3 * time.Second)
	before := s.late()
	s.until(8 * time.Second)
	late = s.late()
	for i := range late {
		late[i] -= before[i]
	}
	return late, s.Run()
}

func (s *Sim) late() (sum [zone.MaxMissed + 2]uint64) {
	for _, n := range s.nodes {
		for i, v := range n.machine.Stats().Late {
			sum[i] += v
		}
	}
	return sum
}

// TakenOver kills a server, and says in Report.TakeOvers how long its zones stood still.
func TakenOver(seed uint64, standby bool) (*Sim, *Report) {
	s := New(Options{Seed: seed, Servers: 4, Zones: 8, Tokens: 20, MovePer: 60, ActPer: 60,
		For: 8 * time.Second, NoReplay: true, Standby: standby})
	s.at(4*time.Second+s.some(time.Second), func() {
		s.killAndRestart(s.nodes[0], 3*time.Second)
	})
	return s, s.Run()
}

// A ZoneCost is what a zone costs in each tick, on average.
type ZoneCost struct {
	Zones, Servers         int
	Messages, MessageBytes float64
	Appends, AppendBytes   float64
	MapOps, MapBytes       float64
	StoreBytes             float64
}

// MeasureCost says what a zone costs among so many, four to a server.
func MeasureCost(seed uint64, zones int) ZoneCost {
	s := New(Options{Seed: seed, Servers: max(2, zones/4), Zones: zones, Tokens: 20, MovePer: 60,
		ActPer: 60, For: 20 * time.Second, NoReplay: true})
	s.until(4 * time.Second)
	before, ticks := s.report.Cost, s.ticks()
	s.until(7 * time.Second)
	c, n := s.report.Cost, float64(s.ticks()-ticks)
	per := func(a, b uint64) float64 { return float64(a-b) / n }
	return ZoneCost{zones, len(s.nodes), per(c.Messages, before.Messages),
		per(c.MessageBytes, before.MessageBytes), per(c.Appends, before.Appends),
		per(c.AppendBytes, before.AppendBytes), per(c.MapOps, before.MapOps),
		per(c.MapBytes, before.MapBytes), per(c.StoreBytes, before.StoreBytes)}
}

func (s *Sim) ticks() (n uint64) {
	for _, node := range s.nodes {
		n += node.machine.Stats().Ticks
	}
	return n
}
