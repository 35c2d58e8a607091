package zonetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

func calm(seed uint64) Options {
	return Options{Seed: seed, Servers: 3, Zones: 6, Tokens: 40, MovePer: 60, ActPer: 30,
		For: 12 * time.Second}
}

// TestMapAway has nobody reach the map for eight seconds, longer than any patience. All leases look
// old then, and no zone may change its owner.
func TestMapAway(t *testing.T) {
	s := New(calm(1))
	s.at(4*time.Second, func() { s.stalls.away = s.now + 8*time.Second })
	r := s.Run()
	check(t, r)
	if r.Stats.Claims != 6 {
		t.Errorf("%d zones were claimed, 6 of them at the start", r.Stats.Claims)
	}
}

// TestMapAwayAndDeath has a server die while the map is away: its zones, and no others, are taken
// over when it is back.
func TestMapAwayAndDeath(t *testing.T) {
	s := New(calm(2))
	had := 0
	s.at(4*time.Second, func() { s.stalls.away = s.now + 6*time.Second })
	s.at(5*time.Second, func() {
		had = len(s.nodes[0].machine.Zones())
		s.kill(s.nodes[0])
	})
	r := s.Run()
	check(t, r)
	if had == 0 || int(r.Stats.TakenOver) != 6+had {
		t.Errorf("%d zones were taken over, want 6 at the start and %d of the one that died",
			r.Stats.TakenOver, had)
	}
}

// TestDoubt has many appends be refused although they are right, and many be in doubt. Owners find
// that out, and go on.
func TestDoubt(t *testing.T) {
	o := calm(10)
	o.Odds = Odds{Refused: 5000, Doubt: 10_000}
	r := New(o).Run()
	check(t, r)
	if r.Stats.Refused == 0 || r.Stats.Doubts == 0 || r.Stats.Fenced > 0 || r.Stats.Claims != 6 {
		t.Errorf("%d refused, %d in doubt, %d owners gave up, %d claims", r.Stats.Refused,
			r.Stats.Doubts, r.Stats.Fenced, r.Stats.Claims)
	}
}

// TestAllRestart ends all servers at once and starts others a while later.
func TestAllRestart(t *testing.T) {
	s := New(calm(3))
	var back time.Duration
	s.at(5*time.Second, func() {
		for _, n := range s.nodes {
			s.kill(n)
		}
	})
	s.at(8*time.Second, func() {
		for _, n := range s.nodes {
			s.start(n)
		}
		back = s.now
	})
	r := s.Run()
	check(t, r)
	worst := slices.Max(r.TakeOvers) - (back - 5*time.Second)
	t.Logf("all zones went on %v after the servers had started", worst)
	if len(r.TakeOvers) != 6 || worst > 10*time.Second {
		t.Errorf("%d zones went on, the last after %v", len(r.TakeOvers), worst)
	}
}

// TestJournalGone has somebody delete a zone's records by mistake.
func TestJournalGone(t *testing.T) {
	s := New(calm(4))
	s.at(5*time.Second, func() { s.kept.journals[2] = &journal{} })
	s.at(9*time.Second, func() {
		for _, n := range s.nodes {
			if n.owns[2] {
				s.killAndRestart(n, time.Second)
				return
			}
		}
	})
	r := s.Run()
	check(t, r)
	if r.Notices[zone.JournalGone] != 1 {
		t.Errorf("it was told %d times that the journal is gone", r.Notices[zone.JournalGone])
	}
}

// TestJournalFull has the journal take nothing for half a minute, as when its disk is full. Zones
// stand still when too much of them is not durable, and go on where they were.
func TestJournalFull(t *testing.T) {
	o := calm(9)
	o.For = 40 * time.Second
	s := New(o)
	s.at(4*time.Second, func() { s.stalls.full = s.now + 30*time.Second })
	s.at(33*time.Second, func() {
		for _, n := range s.nodes {
			for _, v := range n.machine.Zones() {
				if v.Tick-v.Durable > 1024+1024 {
					t.Errorf("zone %d is %d ticks ahead of its journal", v.Zone, v.Tick-v.Durable)
				}
			}
		}
	})
	r := s.Run()
	check(t, r)
	if r.Stats.Standstill == 0 || r.Stats.Claims != 6 {
		t.Errorf("zones stood still %d times, and %d were claimed", r.Stats.Standstill,
			r.Stats.Claims)
	}
}

// TestPoison has each tick of a zone fail into which a certain entity comes. It is set aside, and
// all else goes on.
func TestPoison(t *testing.T) {
	o := calm(5)
	o.NoReplay, o.ActPer = true, 1<<40
	o.Panics = func(id zone.ID, in *zone.Input) bool {
		return id == 3 && slices.ContainsFunc(in.Arrivals, func(a zone.Arrival) bool {
			return a.Entity == 7 || a.Entity == 50
		})
	}
	r := New(o).Run()
	check(t, r)
	t.Logf("%d failures, %d set aside", r.Stats.Panics, r.Audit.Aside)
	if r.Audit.Aside != 2 || r.Stats.Panics > 10 {
		t.Errorf("%d entities were set aside after %d failures", r.Audit.Aside, r.Stats.Panics)
	}
}

// TestPutBack has what was set aside be tried again: in vain while the ticks with it fail, and then
// with success, although the server dies that did it. Everything is computed again and compared,
// and the entities have executed all ticks but those for which they were set aside.
func TestPutBack(t *testing.T) {
	o := calm(5)
	mended := false
	o.Panics = func(id zone.ID, in *zone.Input) bool {
		return !mended && id == 3 && slices.ContainsFunc(in.Arrivals, func(a zone.Arrival) bool {
			return a.Entity == 7 || a.Entity == 50
		})
	}
	s := New(o)
	try := func() (tried int) {
		for _, n := range s.nodes {
			if k, err := n.machine.PutBack(3); err == nil {
				tried += k
			}
		}
		return tried
	}
	inVain, tried, left := 0, 0, uint64(0)
	s.at(8*time.Second, func() { inVain = try() })
	s.at(9*time.Second, func() {
		left = s.report.Audit.Aside
		mended = true
		tried = try()
	})
	s.at(9*time.Second+80*time.Millisecond, func() {
		for _, n := range s.nodes {
			if n.owns[3] {
				s.killAndRestart(n, time.Second)
			}
		}
	})
	r := s.Run()
	check(t, r)
	if inVain != 2 || left != 2 || tried != 2 || r.Audit.Aside != 0 || r.Stats.Panics > 12 {
		t.Errorf("%d were tried in vain, so that %d were left; %d were tried when it was mended, "+
			"and %d are left; the game failed %d times", inVain, left, tried, r.Audit.Aside,
			r.Stats.Panics)
	}
}

// TestPoisonedForGood has a zone fail whatever comes in. It is halted and said, and its server and
// the other zones go on.
func TestPoisonedForGood(t *testing.T) {
	o := calm(6)
	o.NoReplay = true
	o.Panics = func(id zone.ID, in *zone.Input) bool { return id == 3 && in.Tick >= 300 }
	s := New(o)
	s.opt.Zones = 2 // the ends of these are waited for
	s.until(20 * time.Second)
	r := &s.report
	if len(r.Halted) != 1 || r.Notices[zone.Halted] != 1 {
		t.Errorf("halted: %v", r.Halted)
	}
	owned := 0
	for _, n := range s.nodes {
		s.collect(n)
		for _, v := range n.machine.Zones() {
			owned++
			if due := n.machine.Due(n.clock()); v.Tick+2 < due {
				t.Errorf("zone %d stands at tick %d of %d", v.Zone, v.Tick, due)
			}
		}
	}
	if owned != 5 || r.Stats.Panics == 0 || r.Stats.Panics > 10 {
		t.Errorf("%d zones go on, after %d failures", owned, r.Stats.Panics)
	}
}

// TestDiverged has a zone computed again come to something else than its owner before.
func TestDiverged(t *testing.T) {
	o := calm(7)
	o.NoReplay = true
	s := New(o)
	other := false
	s.rules.Panics = func(id zone.ID, in *zone.Input) bool {
		if other && id == 2 && in.Tick > 200 {
			in.Arrivals = nil
		}
		return false
	}
	s.at(5*time.Second, func() {
		other = true
		for _, n := range s.nodes {
			if n.owns[2] {
				s.kill(n)
			}
		}
	})
	s.until(15 * time.Second)
	if h := s.report.Halted; len(h) != 1 || !errors.Is(h[0], zone.ErrDiverged) {
		t.Errorf("halted: %v", h)
	}
}

// TestLeave has servers give their zones away and go, one after the other come back.
func TestLeave(t *testing.T) {
	s := New(calm(8))
	for i, n := range s.nodes {
		s.at(time.Duration(3+2*i)*time.Second, func() {
			n.machine.Leave()
			s.drain(n)
		})
		s.at(time.Duration(4+2*i)*time.Second, func() {
			if left := n.machine.Zones(); len(left) > 0 {
				t.Errorf("server %d still has %d zones", n.slot, len(left))
			}
			s.kill(n)
			s.start(n)
		})
	}
	r := s.Run()
	check(t, r)
	if len(r.TakeOvers) > 0 {
		t.Errorf("%d zones were taken over, and all had been given", len(r.TakeOvers))
	}
	if late := r.Stats.Late[zone.MaxMissed+1]; late > r.Stats.HandOvers/20 {
		t.Errorf("%d of %d came too late to be stepped for all they missed", late,
			r.Stats.HandOvers)
	}
}

// TestRepeats plays one seed twice.
func TestRepeats(t *testing.T) {
	o := Rough(11)
	o.For = 20 * time.Second
	a, b := New(o).Run(), New(o).Run()
	if a.Stats != b.Stats || a.Cost != b.Cost || a.Actions != b.Actions ||
		a.Audit.Bytes != b.Audit.Bytes {
		t.Errorf("two runs of one seed differ:\n%+v\n%+v", a.Stats, b.Stats)
	}
	check(t, a)
}
