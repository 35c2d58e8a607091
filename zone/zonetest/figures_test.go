package zonetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// percentile of how many ticks hand-overs missed, from counts by number of ticks.
func percentile(late [zone.MaxMissed + 2]uint64, p float64) int {
	all := uint64(0)
	for _, n := range late {
		all += n
	}
	seen := uint64(0)
	for i, n := range late {
		if seen += n; float64(seen) >= p*float64(all) {
			return i
		}
	}
	return len(late)
}

// TestLate hands entities over at 1,000 and at 2,000 a second, with nothing going wrong, and
// counts ticks that were executed late.
func TestLate(t *testing.T) {
	for _, rate := range []int{1000, 2000} {
		late, r := Lates(1, rate)
		check(t, r)
		mid, most := percentile(late, 0.5), percentile(late, 0.99)
		t.Logf("%d a second: ticks late at the median %d, at p99 %d: %v", rate, mid, most, late)
		if mid > 0 || most > rate/1000 {
			t.Errorf("%d a second: ticks late at the median %d, at p99 %d", rate, mid, most)
		}
	}
}

// TestTakeOver kills servers, and sees how long their zones stand still.
func TestTakeOver(t *testing.T) {
	var all []time.Duration
	for seed := range uint64(20) {
		s, r := TakenOver(seed, false)
		check(t, r)
		s.checkGhosts(t)
		all = append(all, r.TakeOvers...)
	}
	slices.Sort(all)
	p95 := all[len(all)*95/100]
	t.Logf("%d zones: median %v, p95 %v, most %v", len(all), all[len(all)/2], p95, all[len(all)-1])
	if p95 > 1500*time.Millisecond {
		t.Errorf("p95 of taking over is %v", p95)
	}
}

// checkGhosts sees that what zones show each other is new, whoever owned them before.
func (s *Sim) checkGhosts(t *testing.T) {
	t.Helper()
	for _, n := range s.nodes {
		for _, v := range n.machine.Zones() {
			for _, g := range v.Body.(*Tokens).seen {
				if g.tick+30 < v.Tick {
					t.Errorf("at tick %d zone %d sees zone %d at tick %d", v.Tick, v.Zone, g.zone,
						g.tick)
				}
			}
		}
	}
}

// TestCost says what a zone costs where there are few and where there are many, four to a server.
func TestCost(t *testing.T) {
	var lines []string
	var least, most float64
	for _, zones := range []int{4, 16, 64, 256} {
		c := MeasureCost(1, zones)
		lines = append(lines, fmt.Sprintf("%3d zones on %2d servers: %.2f messages of %.0f bytes, "+
			"%.2f records of %.0f bytes, %.3f map operations of %.1f bytes, store %.1f bytes",
			zones, c.Servers, c.Messages, c.MessageBytes, c.Appends, c.AppendBytes, c.MapOps,
			c.MapBytes, c.StoreBytes))
		if c.Messages < 0.9 {
			t.Errorf("%d zones send %.2f messages a tick: they are not spread over %d servers",
				zones, c.Messages, c.Servers)
		}
		if zones == 16 {
			least, most = c.AppendBytes, c.AppendBytes
		}
		if zones >= 16 {
			least, most = min(least, c.AppendBytes), max(most, c.AppendBytes)
		}
	}
	t.Log("per zone and tick:\n" + strings.Join(lines, "\n"))
	if most > 1.15*least {
		t.Errorf("a zone's record takes %.0f to %.0f bytes, depending on how many there are", least,
			most)
	}
}
