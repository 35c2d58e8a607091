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

// TestHasty has effects leave before the journal has what led to them.
func TestHasty(t *testing.T) {
	lost, doubled, moved := 0, 0, uint64(0)
	for seed := range uint64(4) {
		r := New(Hasty(8 + seed)).Run()
		lost += r.Audit.LostEntities
		doubled += r.Audit.DoubledEntities
		moved += r.Audit.HandOvers
	}
	t.Logf("seeds 8 to 11: %d entities lost and %d doubled, in %d hand-overs", lost, doubled, moved)
	if lost == 0 || doubled == 0 {
		t.Error("with effects before the acknowledgement no entity was lost, or none was doubled")
	}
}
