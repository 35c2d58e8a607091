package zonetest

import (
	"slices"
	"testing"
	"time"
)

// TestJournalAwayWithBuddies has the journal and the map stand still for nine seconds, as while a
// broker is replaced. Hand-overs go on meanwhile.
func TestJournalAwayWithBuddies(t *testing.T) {
	for _, with := range []bool{false, true} {
		o := Buddied(1)
		o.Buddies = with
		s := New(o)
		var before, after uint64
		s.at(4*time.Second, func() {
			s.stalls.journal, s.stalls.maps = s.now+7*time.Second, s.now+7*time.Second
		})
		s.at(5*time.Second, func() { before = s.handOvers() })
		s.at(10900*time.Millisecond, func() { after = s.handOvers() })
		r := s.Run()
		check(t, r)
		t.Logf("with buddies %v: %d hand-overs in 6 s without a journal, %d records ahead of it",
			with, after-before, r.Stats.Ahead)
		if with != (after-before > 400) || with != (r.Stats.Ahead > 500) {
			t.Errorf("with buddies %v: %d hand-overs without a journal, %d records ahead of it",
				with, after-before, r.Stats.Ahead)
		}
	}
}

// TestDeathWithBuddies has a server die while the journal stands still, after its zones have handed
// over what the journal does not have. Its successors learn that from its buddies.
func TestDeathWithBuddies(t *testing.T) {
	for seed := range uint64(4) {
		s := New(Buddied(20 + seed))
		s.at(4*time.Second, func() { s.stalls.journal = s.now + 4*time.Second })
		s.at(6*time.Second, func() {
			who := s.holdersOf(1)
			s.kill(s.nodes[slices.IndexFunc(s.nodes, func(n *node) bool { return n.id == who[0] })])
		})
		r := s.Run()
		check(t, r)
		if r.Stats.Helped == 0 || r.Stats.Forsaken > 0 {
			t.Errorf("seed %d: %d records were appended by others; %d times nobody was heard",
				20+seed, r.Stats.Helped, r.Stats.Forsaken)
		}
	}
}

// TestCutOffTogether: whoever takes over waits until it hears those who hold the records.
func TestCutOffTogether(t *testing.T) {
	for seed := uint64(30); seed < 34; seed++ {
		r := Together(seed, false)
		check(t, r)
		if r.Stats.Ahead == 0 || r.Stats.Forsaken > 0 {
			t.Errorf("seed %d: %d records ahead; %d times nobody was heard", seed, r.Stats.Ahead,
				r.Stats.Forsaken)
		}
	}
}

// TestLiars has nobody wait for what others hold: then entities are lost, and others doubled.
func TestLiars(t *testing.T) {
	lost, doubled := 0, 0
	for seed := uint64(30); seed < 34; seed++ {
		r := Together(seed, true)
		lost += r.Audit.LostEntities
		doubled += r.Audit.DoubledEntities
	}
	t.Logf("seeds 30 to 33: %d entities lost and %d doubled", lost, doubled)
	if lost == 0 || doubled == 0 {
		t.Error("where nobody asks who holds records, no entity was lost, or none was doubled")
	}
}

// TestRoughBuddies is TestRough with buddies; of the servers one dies at a time.
func TestRoughBuddies(t *testing.T) {
	want := uint64(20_000)
	if soak() {
		want = 1_000_000
	}
	var sum totals
	var ahead, helped, forsaken uint64
	for seed := uint64(1); sum.handOvers < want; seed++ {
		o := Rough(seed)
		o.Standby, o.Buddies = seed%2 == 0, true
		r := New(o).Run()
		sum.add(r)
		together(t, r)
		if check(t, r); t.Failed() {
			t.Fatalf("seed %d: %v", seed, r.Faults)
		}
		ahead, helped = ahead+r.Stats.Ahead, helped+r.Stats.Helped
		forsaken += r.Stats.Forsaken
		if soak() && seed%10 == 0 {
			t.Log(sum.handOvers, "hand-overs")
		}
	}
	t.Log(sum.String())
	t.Logf("%d records left ahead of the journal, %d were appended by others, %d times not awaited",
		ahead, helped, forsaken)
	if ahead == 0 || helped == 0 {
		t.Error("buddies were of no use")
	}
}

func (s *Sim) handOvers() (n uint64) {
	for _, node := range s.nodes {
		if node.alive {
			n += node.machine.Stats().HandOvers
		}
	}
	return n
}
