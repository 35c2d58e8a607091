package store_test

import (
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// TestPrune: answers of one world up to a tick go, however many, and no others.
func TestPrune(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		const worlds, ticks = 2, 600
		// Beyond what a database counts to.
		number := func(w int) uint64 { return 1<<63 + uint64(w) }
		answers := func() int64 {
			st, err := s.Status(t.Context())
			must(t, err)
			return int64(st.Answers)
		}
		for w := range worlds {
			for i := range ticks {
				_, _, err := s.Do(t.Context(), kept.Name{World: number(w), Tick: world.Tick(i / 2),
					By: 3, Ordinal: uint16(i % 2)}, nil,
					func(kept.Tx) ([]byte, error) { return []byte("yes"), nil })
				must(t, err)
			}
		}
		must(t, s.Prune(t.Context(), number(0), 249))
		if n := answers(); n != worlds*ticks-500 {
			t.Errorf("%d answers are left", n)
		}
		must(t, s.Prune(t.Context(), number(0), 249))
		must(t, s.Prune(t.Context(), number(7), 1<<40))
		must(t, s.Prune(t.Context(), number(1), 1<<40))
		if n := answers(); n != ticks-500 {
			t.Errorf("%d answers are left", n)
		}
		_, again, err := s.Do(t.Context(), kept.Name{World: number(0), Tick: 250, By: 3}, nil, nil)
		if must(t, err); !again {
			t.Error("one that was to stay is gone")
		}
	})
}
