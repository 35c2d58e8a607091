//go:build !js

package sqldb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/kept"
)

// A Kind is what a database is for: whose it is, and what brings it up to date.
type Kind struct {
	// Table says what a database is, and Format is what it says first.
	Table, Format string
	// Of is the name of what a database is of, such as its game, or nothing.
	Of string
	// Migrations make the tables, by version from 1.
	Migrations []Migration
}

// A Migration brings a database from the version before to its own.
type Migration struct {
	Version int
	Text    string
}

// Latest is the version that a program needs.
func (k *Kind) Latest() int { return k.Migrations[len(k.Migrations)-1].Version }

// Options say what a database is opened for.
type Options struct {
	// Of is what it must be of. A database without anything is made that. Without Of the database
	// must be there, unless its kind is of nothing.
	Of string
	// Migrate brings a database of an older version up to date, where it is refused otherwise.
	Migrate bool
}

// ReadMigrations reads files named by version: 001_rows.sql. They are part of the program.
func ReadMigrations(files fs.FS, folder string) []Migration {
	list, err := fs.Glob(files, path.Join(folder, "*.sql"))
	if err != nil || len(list) == 0 {
		panic("sqldb: there are no migrations")
	}
	slices.Sort(list)
	var out []Migration
	for i, name := range list {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			panic("sqldb: the migration " + name + " is not version " + strconv.Itoa(i+1))
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		out = append(out, Migration{version, string(text)})
	}
	return out
}

// A Description is what a database says of itself.
type Description struct {
	Version int    // 0: it is empty
	Of      string // its game, or what else its kind is of
}

// Describe reads what a database is, and refuses what is not one of ours.
func (db *DB) Describe(ctx context.Context, k *Kind, q Querier) (Description, error) {
	tables, err := db.d.tables(ctx, q)
	if err != nil {
		return Description{}, err
	}
	if len(tables) == 0 {
		return Description{}, nil
	}
	if !slices.Contains(tables, k.Table) {
		return Description{},
			fmt.Errorf("%w: it holds tables of another program (%s): give coeval "+
				"a database of its own, or in PostgreSQL a schema by ?search_path=NAME", kept.ErrOther,
				tables[0])
	}
	values := map[string]string{}
	rows, err := q.QueryContext(ctx, `SELECT name, value FROM `+k.Table)
	if err != nil {
		return Description{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return Description{}, err
		}
		values[name] = value
	}
	if err := rows.Err(); err != nil {
		return Description{}, err
	}
	d := Description{Of: values[k.Of]}
	d.Version, err = strconv.Atoi(values["version"])
	if values["format"] != k.Format || err != nil || d.Version < 1 || (d.Of == "") != (k.Of == "") {
		return d, fmt.Errorf("%w: its table %s says nothing that this program knows: restore a "+
			"backup into another database", kept.ErrOther, k.Table)
	}
	return d, nil
}

// Check says why a database cannot be used, if it cannot.
func (d Description) Check(k *Kind, o Options) error {
	latest := k.Latest()
	switch {
	case d.Version == 0 && o.Of == "" && k.Of != "":
		return fmt.Errorf("%w: nothing is in it; serve a game with it, or restore a backup into it",
			kept.ErrOther)
	case d.Version > latest:
		return fmt.Errorf("%w: it is of version %d, and this program knows up to %d: use the "+
			"program that wrote it, or a newer one", kept.ErrOther, d.Version, latest)
	case d.Version > 0 && o.Of != "" && d.Of != o.Of:
		return fmt.Errorf("%w: it holds the %s %q, and not %q: name another database",
			kept.ErrOther, k.Of, d.Of, o.Of)
	case d.Version > 0 && d.Version < latest && !o.Migrate:
		return fmt.Errorf("%w: it is of version %d, and this program needs %d: make a backup, stop "+
			"older programs, and run store migrate", kept.ErrOther, d.Version, latest)
	}
	return nil
}

// Migrate brings the database to the latest version, if it may.
func (db *DB) Migrate(ctx context.Context, k *Kind, o Options) (Description, error) {
	d, err := db.Describe(ctx, k, db.Read)
	if err != nil {
		return d, db.Explain(err)
	}
	if err := d.Check(k, o); err != nil {
		return d, err
	}
	for d.Version < k.Latest() {
		if err := db.step(ctx, k, o, &d); err != nil {
			return d, err
		}
	}
	return d, nil
}

// step does one migration, all of it or nothing.
func (db *DB) step(ctx context.Context, k *Kind, o Options, d *Description) error {
	return db.Within(ctx, false, func(tx *sql.Tx) (err error) {
		if err := db.d.exclude(ctx, tx); err != nil {
			return err
		}
		if *d, err = db.Describe(ctx, k, tx); err != nil { // another may have done it
			return err
		}
		if err := d.Check(k, o); err != nil {
			return err
		}
		i := slices.IndexFunc(k.Migrations,
			func(m Migration) bool { return m.Version == d.Version+1 })
		if i < 0 {
			return nil
		}
		if err := db.Apply(ctx, tx, k, k.Migrations[i], cmp.Or(d.Of, o.Of)); err != nil {
			return fmt.Errorf("migration to version %d failed, and nothing of it was done: %w",
				k.Migrations[i].Version, err)
		}
		d.Version, d.Of = k.Migrations[i].Version, cmp.Or(d.Of, o.Of)
		return nil
	})
}

// Apply runs a migration, and writes down the version.
func (db *DB) Apply(ctx context.Context, tx *sql.Tx, k *Kind, m Migration, of string) error {
	if m.Version == 1 {
		if err := db.identify(ctx, tx, k, of); err != nil {
			return err
		}
	}
	for _, statement := range statements(m.Text, db.d.types()) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	done, err := tx.ExecContext(ctx, db.d.bind(`UPDATE `+k.Table+` SET value = ?1
		WHERE name = 'version'`), strconv.Itoa(m.Version))
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, errors.New("the version could not be written down"))
	}
	return nil
}

// identify makes the table that says what the database is.
func (db *DB) identify(ctx context.Context, tx *sql.Tx, k *Kind, of string) error {
	types := db.d.types()
	if _, err := tx.ExecContext(ctx, `CREATE TABLE `+k.Table+` (name `+types["text"]+
		` PRIMARY KEY, value `+types["text"]+` NOT NULL)`); err != nil {
		return err
	}
	values := [][2]string{{"format", k.Format}, {"version", "0"}, {"id", rand.Text()}}
	if k.Of != "" {
		values = append(values, [2]string{k.Of, of})
	}
	for _, v := range values {
		if _, err := tx.ExecContext(ctx, db.d.bind(`INSERT INTO `+k.Table+
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
