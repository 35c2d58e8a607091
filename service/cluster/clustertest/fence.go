package clustertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// testFence has owners take a zone from each other. Each raises the fence by a record of its own,
// and writes until it is refused. The journal must be whole: what one was told is there, and
// nothing of an owner comes behind the fence of another.
func testFence(t *testing.T, a, b Cluster, r *rand.Rand) {
	const owners, turns = 6, 3
	ctx := t.Context()
	var mu sync.Mutex
	told := map[string]uint64{}
	var wg sync.WaitGroup
	for o := range owners {
		c := []Cluster{a, b}[o%2]
		limit := 5 + r.IntN(10)
		wg.Go(func() {
			for turn := range turns {
				epoch := fmt.Sprintf("owner %d turn %d", o, turn)
				if err := own(ctx, c, epoch, limit, func(record string, at uint64) {
					mu.Lock()
					defer mu.Unlock()
					told[record] = at
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	CheckFenced(t, a, "fenced", told)
}

// own takes a zone and writes so many records, unless it is fenced off.
func own(ctx context.Context, c Cluster, epoch string, limit int, told func(string, uint64)) error {
	at := uint64(0)
	for n := 0; n < limit; {
		data := fmt.Sprintf("%s: %d", epoch, n)
		s, err := add(ctx, c, "fenced", at, []byte(data))
		if err == nil {
			told(data, s)
			at = s
			n++
			continue
		}
		if !errors.Is(err, seamless.ErrStale) {
			return err
		}
		if n > 0 {
			return nil // another one owns it
		}
		last, err := c.Journal().Last(ctx, "fenced")
		if err != nil {
			return err
		}
		at = last.Sequence
	}
	return nil
}

// CheckFenced is the checker of a journal that several owners wrote. Its records are named by
// epoch and number, "epoch: number". Those that were told as written are there, once, at the
// sequence that was told; each epoch is one run of records, numbered from 0.
func CheckFenced(t testing.TB, c Cluster, zone string, told map[string]uint64) {
	t.Helper()
	if _, err := c.Journal().Last(t.Context(), zone); err != nil {
		t.Fatal(err)
	}
	found := map[string]uint64{}
	over := map[string]bool{}
	now, next := "", 0
	for _, r := range pieces(t, c, zone, 0, 64<<10) {
		epoch, number, ok := strings.Cut(string(r.Data), ": ")
		if !ok {
			t.Fatalf("record %d is %q", r.Sequence, r.Data)
		}
		if epoch != now {
			if over[epoch] {
				t.Fatalf("%q wrote again behind %q, as record %d", epoch, now, r.Sequence)
			}
			over[now] = true
			now, next = epoch, 0
		}
		if number != fmt.Sprint(next) {
			t.Fatalf("%q has %s where %d is due, at %d", epoch, number, next, r.Sequence)
		}
		next++
		found[string(r.Data)] = r.Sequence
	}
	for record, at := range told {
		if found[record] != at {
			t.Errorf("%q was told as record %d, and is %d", record, at, found[record])
		}
	}
}
