//go:build !js

package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/kept"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration brings a database from the version before to its own.
type migration struct {
	version int
	text    string
}

var migrations = readMigrations(migrationFiles, "migrations")

// readMigrations reads files named by version: 001_rows.sql. They are part of the program.
func readMigrations(files fs.FS, folder string) []migration {
	list, err := fs.Glob(files, path.Join(folder, "*.sql"))
	if err != nil || len(list) == 0 {
		panic("store: there are no migrations")
	}
	slices.Sort(list)
	var out []migration
	for i, name := range list {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			panic("store: the migration " + name + " is not version " + strconv.Itoa(i+1))
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		out = append(out, migration{version, string(text)})
	}
	return out
}

// identity is the table that says what a database is.
const identity = "coeval_store"

// format is what it says first.
const format = "coeval store"

// A description is what a database says of itself.
type description struct {
	version int // 0: it is empty
	game    string
}

// describe reads what a database is, and refuses what is not one of ours.
func (s *Store) describe(ctx context.Context, q querier) (description, error) {
	tables, err := s.d.tables(ctx, q)
	if err != nil {
		return description{}, err
	}
	if len(tables) == 0 {
		return description{}, nil
	}
	if !slices.Contains(tables, identity) {
		return description{},
			fmt.Errorf("%w: it holds tables of another program (%s): give coeval "+
				"a database of its own, or in PostgreSQL a schema by ?search_path=NAME", kept.ErrOther,
				tables[0])
	}
	values := map[string]string{}
	rows, err := q.QueryContext(ctx, `SELECT name, value FROM `+identity)
	if err != nil {
		return description{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return description{}, err
		}
		values[name] = value
	}
	if err := rows.Err(); err != nil {
		return description{}, err
	}
	d := description{game: values["game"]}
	d.version, err = strconv.Atoi(values["version"])
	if values["format"] != format || err != nil || d.version < 1 || d.game == "" {
		return d, fmt.Errorf("%w: its table %s says nothing that this program knows: restore a "+
			"backup into another database", kept.ErrOther, identity)
	}
	return d, nil
}

// check says why a database cannot be used, if it cannot.
func (d description) check(o Options, latest int) error {
	switch {
	case d.version == 0 && o.Game == "":
		return fmt.Errorf("%w: nothing is in it; serve a game with it, or restore a backup into it",
			kept.ErrOther)
	case d.version > latest:
		return fmt.Errorf("%w: it is of version %d, and this program knows up to %d: use the "+
			"program that wrote it, or a newer one", kept.ErrOther, d.version, latest)
	case d.version > 0 && o.Game != "" && d.game != o.Game:
		return fmt.Errorf("%w: it holds the game %q, and not %q: name another database",
			kept.ErrOther, d.game, o.Game)
	case d.version > 0 && d.version < latest && !o.Migrate:
		return fmt.Errorf("%w: it is of version %d, and this program needs %d: make a backup, stop "+
			"older programs, and run store migrate", kept.ErrOther, d.version, latest)
	}
	return nil
}

// migrate brings the database to the latest version, if it may.
func (s *Store) migrate(ctx context.Context, o Options, list []migration) error {
	latest := list[len(list)-1].version
	d, err := s.describe(ctx, s.read)
	if err != nil {
		return err
	}
	if err := d.check(o, latest); err != nil {
		return err
	}
	for d.version < latest {
		if err := s.step(ctx, o, list, &d); err != nil {
			return err
		}
	}
	s.game = d.game
	return nil
}

// step does one migration, all of it or nothing.
func (s *Store) step(ctx context.Context, o Options, list []migration, d *description) error {
	return s.within(ctx, false, func(tx *sql.Tx) (err error) {
		if err := s.d.exclude(ctx, tx); err != nil {
			return err
		}
		if *d, err = s.describe(ctx, tx); err != nil { // another may have done it
			return err
		}
		if err := d.check(o, list[len(list)-1].version); err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(m migration) bool { return m.version == d.version+1 })
		if i < 0 {
			return nil
		}
		if err := s.apply(ctx, tx, list[i], cmp.Or(d.game, o.Game)); err != nil {
			return fmt.Errorf("migration to version %d failed, and nothing of it was done: %w",
				list[i].version, err)
		}
		d.version, d.game = list[i].version, cmp.Or(d.game, o.Game)
		return nil
	})
}

// apply runs a migration, and writes down the version.
func (s *Store) apply(ctx context.Context, tx *sql.Tx, m migration, game string) error {
	if m.version == 1 {
		if err := checkText("the name of a game", game); err != nil {
			return err
		}
		if err := s.identify(ctx, tx, game); err != nil {
			return err
		}
	}
	for _, statement := range statements(m.text, s.d.types()) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	done, err := tx.ExecContext(ctx, s.d.bind(`UPDATE `+identity+` SET value = ?1
		WHERE name = 'version'`), strconv.Itoa(m.version))
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, errors.New("the version could not be written down"))
	}
	return nil
}

// identify makes the table that says what the database is.
func (s *Store) identify(ctx context.Context, tx *sql.Tx, game string) error {
	types := s.d.types()
	if _, err := tx.ExecContext(ctx, `CREATE TABLE `+identity+` (name `+types["text"]+
		` PRIMARY KEY, value `+types["text"]+` NOT NULL)`); err != nil {
		return err
	}
	for _, v := range [][2]string{{"format", format}, {"version", "0"}, {"game", game},
		{"id", rand.Text()}} {
		if _, err := tx.ExecContext(ctx, s.d.bind(`INSERT INTO `+identity+
			` (name, value) VALUES (?1, ?2)`), v[0], v[1]); err != nil {
			return err
		}
	}
	return nil
}

// statements are those of a migration, in the words of a database.
func statements(text string, types map[string]string) []string {
	var words []string
	for name, word := range types {
		words = append(words, "{"+name+"}", word)
	}
	var out []string
	for s := range strings.SplitSeq(strings.NewReplacer(words...).Replace(text), ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
