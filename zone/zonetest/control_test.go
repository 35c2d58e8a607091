package zonetest

import (
	"testing"

	"github.com/coeval-dev/coeval/zone/zonetest/audit"
)

// TestWithoutFence has an owner that is cut off go on beside its successor.
func TestWithoutFence(t *testing.T) {
	o := Unfenced(7)
	r := New(o).Run()
	n := r.Audit.Count(audit.Owned)
	t.Logf("seed %d: %d times an entity had two owners, in %d hand-overs", o.Seed, n,
		r.Audit.HandOvers)
	if n == 0 {
		t.Error("without the fence no entity had two owners")
	}
}

// TestHasty has effects leave before the journal has what led to them. What comes of that depends
// on the seed, so there are more runs until the audit has found both.
func TestHasty(t *testing.T) {
	lost, doubled, moved := 0, 0, uint64(0)
	seed := uint64(8)
	for ; seed < 12 || (lost == 0 || doubled == 0) && seed < 40; seed++ {
		r := New(Hasty(seed)).Run()
		lost += r.Audit.LostEntities
		doubled += r.Audit.DoubledEntities
		moved += r.Audit.HandOvers
	}
	t.Logf("seeds 8 to %d: %d entities lost and %d doubled, in %d hand-overs", seed-1, lost,
		doubled, moved)
	if lost == 0 || doubled == 0 {
		t.Error("with effects before the acknowledgement no entity was lost, or none was doubled")
	}
}
