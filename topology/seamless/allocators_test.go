package seamless

import (
	"testing"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// TestAllocators: each number that a zone can lease is one that a world can spawn from.
func TestAllocators(t *testing.T) {
	if zone.MaxAllocators >= world.Predicted {
		t.Errorf("allocator %d is that of worlds that predict", zone.MaxAllocators)
	}
}
