//go:build !js

package stores

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store/database"
)

// A Flag is --store: the database in which a game keeps what outlives its matches.
type Flag struct{ url string }

// Add adds the flag.
func (s *Flag) Add(f *pflag.FlagSet) {
	f.StringVar(&s.url, "store", "",
		"database in which what outlives matches is kept: sqlite:FILE, FILE or "+
			"postgres://USER@HOST/NAME (default: none, and it ends with the program)")
}

// openTime is how long a database may take to answer at the start.
const openTime = 30 * time.Second

// Use opens the database that the flag names, has run use it, and closes it. Without the flag it is
// nil.
func (s *Flag) Use(ctx context.Context, t *game.Title, run func(kept.Store) error) (err error) {
	if s.url == "" {
		return run(nil)
	}
	if uses, err := kept.Uses(t.Game); err != nil {
		return err
	} else if !uses {
		return cli.Usagef("--store: nothing of %s outlives its matches: leave it out, or declare what "+
			"does (docs/kept.md)", t.Name())
	}
	opening, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	db, err := database.Open(opening, s.url, database.Options{Game: t.Name()})
	if err != nil {
		return err
	}
	err = run(db)
	if closed := db.Close(); err == nil {
		err = closed
	}
	return err
}
