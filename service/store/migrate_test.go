package store_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store"
)

const second = `CREATE TABLE coeval_bans (who {text} PRIMARY KEY, until {int} NOT NULL);
INSERT INTO coeval_bans (who, until) VALUES ('eve', 9);
`

// TestMigrations: an older database is refused until someone says migrate; a migration that fails
// half-way leaves nothing, and can be done later.
func TestMigrations(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("ann", 5)}))
		must(t, s.Close())
		o := store.Options{Game: "market"}
		if _, err := store.OpenBy(t.Context(), url, o, store.First(), second); !errors.Is(err,
			kept.ErrOther) || !strings.Contains(err.Error(), "store migrate") {
			t.Errorf("an older database: %v", err)
		}
		o.Migrate = true
		before, err := store.Tables(t.Context(), url)
		must(t, err)
		_, err = store.OpenBy(t.Context(), url, o, store.First(),
			second+"INSERT INTO nowhere VALUES (1);")
		if err == nil || !strings.Contains(err.Error(), "nothing of it was done") {
			t.Errorf("half a migration: %v", err)
		}
		after, err := store.Tables(t.Context(), url)
		must(t, err)
		if !slices.Equal(before, after) {
			t.Errorf("half a migration left %v, there was %v", after, before)
		}
		must(t, open(t, url).Close()) // the older program goes on
		version, err := store.OpenBy(t.Context(), url, o, store.First(), second)
		if err != nil || version != 2 {
			t.Errorf("version %d, %v", version, err)
		}
		if _, err := store.Open(t.Context(), url, o); !errors.Is(err, kept.ErrOther) {
			t.Errorf("an older program: %v", err)
		}
	})
}

// TestMigrateAtOnce: several programs start on an empty database.
func TestMigrateAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				s, err := store.Open(t.Context(), url, store.Options{Game: "market"})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Claim(t.Context(), "game", "x"); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		st, err := open(t, url).Status(t.Context())
		must(t, err)
		if len(st.Fences) != 1 || st.Fences[0].Epoch != 4 {
			t.Errorf("fences %v", st.Fences)
		}
	})
}
