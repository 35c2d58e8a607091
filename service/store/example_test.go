package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store"
)

// A purchase is done once, however often it is asked for.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(ctx, filepath.Join(dir, "tanks.db"), store.Options{Game: "tanks"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	garage := kept.Key{Class: "Garage", Scope: kept.Account, Of: "ann"}
	name := kept.Name{World: 7, Tick: 120, By: 3}
	for range 2 {
		answer, again, err := s.Do(ctx, name, nil, func(tx kept.Tx) ([]byte, error) {
			r, _, err := tx.Get(garage)
			if err != nil {
				return nil, err
			}
			r.Data = append(r.Data, "tank "...)
			return r.Data, tx.Put(r)
		})
		fmt.Printf("%q again: %v error: %v\n", answer, again, err)
	}
	// Output:
	// "tank " again: false error: <nil>
	// "tank " again: true error: <nil>
}
