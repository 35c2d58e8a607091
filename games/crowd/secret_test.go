package crowd

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// TestGemsCannotBeForeseen: a player who knows the seed and sees a gem being taken does not know
// where the next one will lie.
func TestGemsCannotBeForeseen(t *testing.T) {
	s := SettingsFor(60, 1)
	s.Secret = 0x5eed0f5ec4e75
	r := newRun(t, 60, s)
	side := world.StateOf[Plaza](r.w).Side
	gems, foreseen, known := 0, 0, 0
	for range 900 {
		before := map[world.ID]bool{}
		for id := range world.All[Gem](r.w) {
			before[id] = true
		}
		r.step(t)
		for id, g := range world.All[Gem](r.w) {
			if before[id] {
				continue
			}
			gems++
			by, tick := uint64(r.w.Origin(id).By), uint64(r.w.Tick())
			public, secret := det.At(s.Seed, by, tick), det.Keyed(s.Secret, by, tick)
			if g.Pos.Sub(somewhere(&public, side)).LenSq() < 4 {
				foreseen++
			}
			if g.Pos.Sub(somewhere(&secret, side)).LenSq() < 4 {
				known++
			}
		}
	}
	t.Logf("of %d gems %d foreseen by the public stream, %d by the secret", gems, foreseen, known)
	if gems < 30 || foreseen > gems/10 || known != gems {
		t.Errorf("of %d gems %d foreseen by the public stream, %d by the secret", gems, foreseen,
			known)
	}
}
