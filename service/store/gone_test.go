package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store"
)

// TestDatabaseGone: a database crashes, or another program does not let go of its file, while a
// game writes and trades. Whoever asks is told to try again; when the database is back, all is
// there, once.
func TestDatabaseGone(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		fence, err := s.Claim(t.Context(), "game", "one")
		must(t, err)
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("ann", 1000)}))
		attempt := func(n int) error { // the nth thing that is written, and the nth trade
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if err := s.Write(ctx, []kept.Fence{fence}, []kept.Row{{Key: thing(n),
				Data: fmt.Append(nil, n)}}); err != nil {
				return err
			}
			_, _, err := s.Do(ctx, kept.Name{Ordinal: uint16(n)}, []kept.Fence{fence},
				trade("ann", "bob", 1))
			return err
		}
		back := func() {}
		for n, failed := 0, 0; n < 20; {
			if n == 10 && failed == 0 {
				back = away(t, url)
			}
			err := attempt(n)
			switch {
			case err == nil:
				n++
				continue
			case !errors.Is(err, kept.ErrAway) && !errors.Is(err, context.DeadlineExceeded):
				t.Fatalf("a database that is gone: %v", err)
			}
			if failed++; failed == 3 {
				back()
			}
		}
		rows, err := s.Load(t.Context(), []kept.Key{purse("ann"), purse("bob"), thing(9),
			thing(19)})
		must(t, err)
		if in(rows[0]) != 980 || in(rows[1]) != 20 || string(rows[2].Data) != "9" ||
			string(rows[3].Data) != "19" {
			t.Errorf("there is %v", rows)
		}
	})
}

// away takes a database away until the function that it returns is called.
func away(t *testing.T, url string) (back func()) {
	t.Helper()
	if strings.HasPrefix(url, "postgres") {
		pg := server(t)
		must(t, pg.Crash())
		return func() { must(t, pg.Resume()) }
	}
	unlock, err := store.Lock(t.Context(), url)
	must(t, err)
	return func() { must(t, unlock()) }
}
