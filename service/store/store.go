//go:build !js

package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store/database"
	"github.com/coeval-dev/coeval/service/store/sqldb"
)

// Options say what a database is opened for.
type Options = database.Options

// A Store is a database that keeps rows. Its methods may be called by any goroutine.
type Store struct {
	db   *sqldb.DB
	rows rows
	game string
}

var _ database.Database = (*Store)(nil)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// kind is what the database of a store is.
var kind = &sqldb.Kind{Table: "coeval_store", Format: "coeval store", Of: "game",
	Migrations: sqldb.ReadMigrations(migrationFiles, "migrations")}

// rows are what differs between the databases in how rows are read and written.
type rows interface {
	// upsert writes rows that have data, in the order of their keys.
	upsert(ctx context.Context, tx *sql.Tx, rows []kept.Row) error
	// fences finds the epochs and owners of subjects, and lets nobody change them meanwhile.
	fences(ctx context.Context, tx *sql.Tx, subjects []string) (map[string]claim, error)
	// get finds a row, and lets nobody change it meanwhile, even if there is none.
	get(ctx context.Context, tx *sql.Tx, k kept.Key) (schema int64, data []byte, err error)
}

// A claim is who has a subject.
type claim struct {
	epoch uint64
	owner string
}

// Open opens a database: "postgres://USER@HOST/NAME" is one of PostgreSQL, "sqlite:FILE" or a plain
// file name one of SQLite, whose file is made if it is not there. An error that wraps
// kept.ErrOther is that the database holds something else; kept.ErrAway is that it cannot be
// reached just now.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Game != "" {
		if err := checkText("the name of a game", o.Game); err != nil {
			return nil, err
		}
	}
	s, err := connect(ctx, url, o.Game != "")
	if err != nil {
		return nil, err
	}
	d, err := s.db.Migrate(ctx, kind, sqldb.Options{Of: o.Game, Migrate: o.Migrate})
	if err != nil {
		_ = s.Close()
		return nil, s.db.Named(err)
	}
	s.game = d.Of
	return s, nil
}

// connect opens a database, whatever is in it.
func connect(ctx context.Context, url string, create bool) (*Store, error) {
	db, err := sqldb.Open(ctx, url, create)
	if err != nil {
		return nil, err
	}
	return in(db), nil
}

// in is the store in a database.
func in(db *sqldb.DB) *Store {
	if db.SQLite() {
		return &Store{db: db, rows: inFile{}}
	}
	return &Store{db: db, rows: inPostgres{}}
}

// Close closes the connections.
func (s *Store) Close() error { return s.db.Close() }

// Game is the name of the game whose data it holds.
func (s *Store) Game() string { return s.game }

// Claim raises the epoch of a subject.
func (s *Store) Claim(ctx context.Context, subject, owner string) (kept.Fence, error) {
	f := kept.Fence{Subject: subject}
	if err := errors.Join(checkText("a subject", subject), checkText("an owner",
		owner)); err != nil {
		return f, err
	}
	err := s.db.Within(ctx, true, func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, s.db.Bind(`INSERT INTO coeval_fences (subject, epoch, owner)
			VALUES (?1, 1, ?2) ON CONFLICT (subject)
			DO UPDATE SET epoch = coeval_fences.epoch + 1, owner = excluded.owner
			RETURNING epoch`), subject, owner)
		var epoch int64
		if err := row.Scan(&epoch); err != nil {
			return err
		}
		f.Epoch = uint64(epoch)
		return nil
	})
	return f, err
}

// Schema says what a number in Row.Schema means.
func (s *Store) Schema(ctx context.Context, hash uint64, text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("the text of schema %016x is not text", hash)
	}
	return s.db.Within(ctx, true, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.db.Bind(`INSERT INTO coeval_schemas (hash, text)
			VALUES (?1, ?2) ON CONFLICT DO NOTHING`), int64(hash), text)
		if err != nil {
			return err
		}
		var there string
		if err := tx.QueryRowContext(ctx, s.db.Bind(
			`SELECT text FROM coeval_schemas WHERE hash = ?1`),
			int64(hash)).Scan(&there); err != nil {
			return err
		}
		if there != text {
			return fmt.Errorf("%w: schema %016x is %q there, and %q here", kept.ErrOther, hash,
				there,
				text)
		}
		return nil
	})
}

// Schemas are the texts that Schema has said, by their numbers.
func (s *Store) Schemas(ctx context.Context) (map[uint64]string, error) {
	rows, err := s.db.Read.QueryContext(ctx, `SELECT hash, text FROM coeval_schemas`)
	if err != nil {
		return nil, s.db.Explain(err)
	}
	defer rows.Close()
	out := map[uint64]string{}
	for rows.Next() {
		var hash int64
		var text string
		if err := rows.Scan(&hash, &text); err != nil {
			return nil, s.db.Explain(err)
		}
		out[uint64(hash)] = text
	}
	return out, s.db.Explain(rows.Err())
}

// Write writes rows in one transaction. Of several with one key the last counts.
func (s *Store) Write(ctx context.Context, fences []kept.Fence, rows []kept.Row) error {
	for i := range rows {
		if err := CheckKey(rows[i].Key); err != nil {
			return err
		}
	}
	rows = distinct(rows)
	return s.db.Within(ctx, false, func(tx *sql.Tx) error {
		if err := s.pass(ctx, tx, fences); err != nil {
			return err
		}
		return s.put(ctx, tx, rows)
	})
}

// put writes rows, and removes those without data.
func (s *Store) put(ctx context.Context, tx *sql.Tx, rows []kept.Row) error {
	full := make([]kept.Row, 0, len(rows))
	for i := range rows {
		if rows[i].Data != nil {
			full = append(full, rows[i])
			continue
		}
		if err := s.remove(ctx, tx, rows[i].Key); err != nil {
			return err
		}
	}
	return s.rows.upsert(ctx, tx, full)
}

func (s *Store) remove(ctx context.Context, tx *sql.Tx, k kept.Key) error {
	_, err := tx.ExecContext(ctx, s.db.Bind(`DELETE FROM coeval_rows
		WHERE class = ?1 AND scope = ?2 AND whose = ?3`), k.Class, int64(k.Scope), k.Of)
	return err
}

// pass checks fences. One that is newer than what the store knows counts from now on.
func (s *Store) pass(ctx context.Context, tx *sql.Tx, fences []kept.Fence) error {
	if len(fences) == 0 {
		return nil
	}
	subjects := make([]string, len(fences))
	for i, f := range fences {
		if err := checkText("a subject", f.Subject); err != nil {
			return err
		}
		subjects[i] = f.Subject
	}
	slices.Sort(subjects)
	there, err := s.rows.fences(ctx, tx, slices.Compact(subjects))
	if err != nil {
		return err
	}
	for _, f := range fences {
		now := there[f.Subject]
		if f.Epoch < now.epoch {
			return &kept.FencedError{Fence: f, Epoch: now.epoch, Owner: now.owner}
		}
	}
	for _, f := range fences {
		if f.Epoch == there[f.Subject].epoch {
			continue
		}
		if err := s.raise(ctx, tx, f); err != nil {
			return err
		}
	}
	return nil
}

// raise notes a fence whose epoch others have counted, such as the number of a decree.
func (s *Store) raise(ctx context.Context, tx *sql.Tx, f kept.Fence) error {
	var epoch int64
	err := tx.QueryRowContext(ctx, s.db.Bind(`INSERT INTO coeval_fences (subject, epoch, owner)
		VALUES (?1, ?2, '') ON CONFLICT (subject) DO UPDATE
		SET owner = CASE WHEN excluded.epoch > coeval_fences.epoch THEN '' ELSE coeval_fences.owner END,
			epoch = CASE WHEN excluded.epoch > coeval_fences.epoch THEN excluded.epoch
				ELSE coeval_fences.epoch END
		RETURNING epoch`), f.Subject, int64(f.Epoch)).Scan(&epoch)
	if err == nil && uint64(epoch) > f.Epoch {
		return &kept.FencedError{Fence: f, Epoch: uint64(epoch)}
	}
	return err
}

// Load finds rows, in the order of keys.
func (s *Store) Load(ctx context.Context, keys []kept.Key) ([]kept.Row, error) {
	rows := make([]kept.Row, len(keys))
	for i, k := range keys {
		rows[i].Key = k
		if err := CheckKey(k); err != nil {
			return nil, err
		}
	}
	tx, err := s.db.Snapshot(ctx)
	if err != nil {
		return nil, s.db.Explain(err)
	}
	defer tx.Rollback() // it only reads
	find, err := tx.PrepareContext(ctx, s.db.Bind(`SELECT schema, data FROM coeval_rows
		WHERE class = ?1 AND scope = ?2 AND whose = ?3 AND data IS NOT NULL`))
	if err != nil {
		return nil, s.db.Explain(err)
	}
	defer find.Close()
	for i := range rows {
		k, schema := &rows[i].Key, int64(0)
		err := find.QueryRowContext(ctx, k.Class, int64(k.Scope), k.Of).Scan(&schema, &rows[i].Data)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, s.db.Explain(err)
		}
		if err == nil {
			rows[i].Schema, rows[i].Data = uint64(schema), present(rows[i].Data)
		}
	}
	return rows, nil
}

// present has data that is there and empty not be nil.
func present(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// longest is how long a part of a key may be, in bytes.
const longest = 255

// CheckKey says why a key cannot be kept, if it cannot.
func CheckKey(k kept.Key) error {
	if k.Scope < kept.Account || k.Scope > kept.Thing {
		return fmt.Errorf("a key of %q has the scope %d, which there is not", k.Class, k.Scope)
	}
	return errors.Join(checkText("a class", k.Class), checkText("the name in a key", k.Of))
}

func checkText(what, text string) error {
	switch {
	case text == "":
		return fmt.Errorf("%s is empty", what)
	case len(text) > longest:
		return fmt.Errorf("%s has %d bytes: at most %d can be kept", what, len(text), longest)
	case !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%s is not text: %q", what, text)
	}
	return nil
}

// distinct are the last rows of each key, in the order of keys, so that two who write at once
// wait for each other and never both.
func distinct(rows []kept.Row) []kept.Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b kept.Row) int { return compare(a.Key, b.Key) })
	out := rows[:0]
	for i := range rows {
		if i+1 == len(rows) || rows[i].Key != rows[i+1].Key {
			out = append(out, rows[i])
		}
	}
	return out
}

func compare(a, b kept.Key) int {
	if c := strings.Compare(a.Class, b.Class); c != 0 {
		return c
	}
	if a.Scope != b.Scope {
		return int(a.Scope) - int(b.Scope)
	}
	return strings.Compare(a.Of, b.Of)
}
