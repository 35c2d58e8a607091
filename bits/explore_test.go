package bits

import "testing"

// In each of these a branch is hidden in a way that only one manner of trying finds.
type (
	combination struct { // all combinations
		Flags [10]bool
		X     int
	}
	selection struct { // one choice at a time
		Mode  uint8
		After [4]bool
		X     [250]int
	}
	window struct { // random numbers
		Level int
		X     int
	}
	jointly struct { // all at their last
		A, B, C int
		X       int
	}
)

func (v *combination) Sync(s *Sync) {
	opens := true
	for i := range v.Flags {
		opens = s.Bool(&v.Flags[i]) == (i%2 == 0) && opens
	}
	if opens {
		s.Int(&v.X, 0, 10)
	}
}

func (v *selection) Sync(s *Sync) {
	Enum(s, &v.Mode, len(v.X))
	for i := range v.After {
		s.Bool(&v.After[i])
	}
	s.Int(&v.X[v.Mode], 0, 10)
}

func (v *window) Sync(s *Sync) {
	s.Int(&v.Level, 0, 1000)
	if v.Level > 400 && v.Level < 500 {
		s.Int(&v.X, 0, 10)
	}
}

func (v *jointly) Sync(s *Sync) {
	s.Int(&v.A, 0, 1_000_000)
	s.Int(&v.B, 0, 1_000_000)
	s.Int(&v.C, 0, 1_000_000)
	if v.A+v.B+v.C == 3_000_000 {
		s.Int(&v.X, 0, 10)
	}
}

func TestExplorationFindsBranches(t *testing.T) {
	for _, tt := range []struct {
		v    Syncer
		want int
	}{
		{(*combination)(nil), 11},
		{(*selection)(nil), 255},
		{(*window)(nil), 2},
		{(*jointly)(nil), 4},
	} {
		l, err := NewLayout(tt.v)
		if err != nil {
			t.Errorf("%T: %v", tt.v, err)
			continue
		}
		if l.Len() != tt.want {
			t.Errorf("%T has %d slots, not %d", tt.v, l.Len(), tt.want)
		}
	}
}
