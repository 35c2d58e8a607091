package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store"
	"github.com/coeval-dev/coeval/service/store/storetest"
)

// TestDatabase plays both matches on servers with a database, which is closed in between. Bob is
// given two pieces of gold there, so that it shows whether the second match goes on with what
// people had. COEVAL_SOAK=1 tries PostgreSQL, too.
func TestDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays by the clock")
	}
	urls := []string{filepath.Join(t.TempDir(), "market.db")}
	if os.Getenv("COEVAL_SOAK") != "" {
		storetest.Need(t)
		server, err := storetest.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		url, err := server.Database()
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, url)
	}
	for _, url := range urls {
		for match := 1; match <= 2; match++ {
			db, err := store.Open(t.Context(), url, store.Options{Game: title.Name()})
			if err != nil {
				t.Fatal(err)
			}
			if err := play(db, match); err != nil {
				t.Fatal(err)
			}
			// He had ten pieces of gold and five apples, and an apple costs two.
			r, gold, apples := bob(t, db)
			if want := int64(20 + 2*(match-1)); apples < int64(5+2*match) || gold+2*apples != want {
				t.Errorf("%s: after match %d bob has %d gold and %d apples", url, match, gold,
					apples)
			}
			r.Data = binary.AppendVarint(binary.AppendVarint(nil, gold+2), apples)
			if err := db.Write(t.Context(), nil, []kept.Row{r}); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// bob is what is kept of Bob: his gold and his apples.
func bob(t *testing.T, s kept.Store) (r kept.Row, gold, apples int64) {
	t.Helper()
	list, err := s.Load(t.Context(), []kept.Key{{Class: "Trader", Scope: kept.Account, Of: "=bob"}})
	if err != nil {
		t.Fatal(err)
	}
	gold, n := binary.Varint(list[0].Data)
	apples, _ = binary.Varint(list[0].Data[max(n, 0):])
	return list[0], gold, apples
}
