package zonetest

import (
	"fmt"
	"testing"
)

func check(t *testing.T, r *Report) {
	t.Helper()
	for i, f := range r.Audit.Faults {
		if i == 10 {
			t.Errorf("and %d more", len(r.Audit.Faults)-10)
			break
		}
		t.Error(f)
	}
	for _, h := range r.Halted {
		t.Error("halted:", h)
	}
	for _, h := range r.Stuck {
		t.Error("stuck:", h)
	}
}

// together is for runs in which no game panics: then items are tried one at a time.
func together(t *testing.T, r *Report) {
	t.Helper()
	if r.Audit.Apart > 0 {
		t.Errorf("%d times what left in one tick was not taken in one", r.Audit.Apart)
	}
}

// TestRough hands over 20,000 entities, or with COEVAL_SOAK a million, while servers die, stand
// still and are cut off, and what is kept refuses, doubts, stalls and is away.
func TestRough(t *testing.T) {
	want := uint64(20_000)
	if soak() {
		want = 1_000_000
	}
	var sum totals
	for seed := uint64(1); sum.handOvers < want; seed++ {
		o := Rough(seed)
		o.Standby = seed%2 == 0
		r := New(o).Run()
		sum.add(r)
		together(t, r)
		if check(t, r); t.Failed() {
			t.Fatalf("seed %d: %v", seed, r.Faults)
		}
		if soak() && seed%10 == 0 {
			t.Log(sum.handOvers, "hand-overs")
		}
	}
	t.Log(sum.String())
}

// totals add up what several runs did.
type totals struct {
	runs, crashes, faults                                int
	handOvers, actions, forwards, events, hashes         uint64
	waited, refused, doubts, fenced, takenOver, replayed uint64
}

func (s *totals) add(r *Report) {
	s.runs++
	s.crashes += r.Crashes
	for _, n := range r.Faults {
		s.faults += n
	}
	a, m := r.Audit, &r.Stats
	s.handOvers += a.HandOvers
	s.actions += a.Actions
	s.forwards += a.Forwards
	s.events += a.Events
	s.hashes += a.Hashes
	s.refused += m.Refused
	s.waited += m.Waited
	s.doubts += m.Doubts
	s.fenced += m.Fenced
	s.takenOver += m.TakenOver
	s.replayed += m.Replayed
}

func (s *totals) String() string {
	return fmt.Sprintf("%d runs, seeds from 1: %d hand-overs, %d actions (%d forwarded, "+
		"%d waited), %d events; "+
		"%d faults, %d of them crashes; %d zones taken over, %d from owners that lived; "+
		"%d appends refused although right, %d in doubt; %d ticks replayed, %d hashes compared",
		s.runs, s.handOvers, s.actions, s.forwards, s.waited, s.events, s.faults, s.crashes,
		s.takenOver, s.fenced, s.refused, s.doubts, s.replayed, s.hashes)
}
