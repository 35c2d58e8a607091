//go:build !js

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// A DB is an open database. Its methods may be called by any goroutine.
type DB struct {
	// URL is what the database was named by, without a password.
	URL string
	// Read is for what only reads. Edit is for Within; of SQLite it is one connection, as SQLite
	// has one writer, of PostgreSQL the same as Read. It is nil of a file that is only read.
	Read, Edit *sql.DB

	d    dialect
	turn *turn // who writes next, where there is one writer
}

// A dialect is what differs between the databases.
type dialect interface {
	kind() string
	// bind writes the parameters ?1, ?2 as the database has them.
	bind(query string) string
	// types are what the names in migrations stand for.
	types() map[string]string
	// open connects, without changing anything. Nothing is made unless create says so.
	open(ctx context.Context, create bool) (read, edit *sql.DB, err error)
	// exclude lets nobody else migrate until the transaction ends.
	exclude(ctx context.Context, tx *sql.Tx) error
	// tables lists the tables that there are.
	tables(ctx context.Context, q Querier) ([]string, error)
	// explain says what an error means.
	explain(err error) error
	// again says that a transaction failed only because others ran beside it.
	again(err error) bool
	// server is the version of the database program, and whether a commit is durable.
	server(ctx context.Context, q Querier) (version string, durable bool, err error)
}

// A Querier is a database, a connection or a transaction.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Check says whether a text names a database, and gives it as it may be shown.
func Check(url string) (shown string, err error) {
	_, shown, err = parse(url)
	return shown, err
}

// Open opens a database: "postgres://USER@HOST/NAME" is one of PostgreSQL, "sqlite:FILE" or a plain
// file name one of SQLite, whose file is made if it is not there and create says so. An error that
// wraps kept.ErrAway is that the database cannot be reached just now.
func Open(ctx context.Context, url string, create bool) (*DB, error) {
	d, shown, err := parse(url)
	if err != nil {
		return nil, err
	}
	return open(ctx, d, shown, create)
}

// OpenFile opens a file of SQLite to read it.
func OpenFile(ctx context.Context, name string) (*DB, error) {
	return open(ctx, &file{name: name, readOnly: true}, name, false)
}

func open(ctx context.Context, d dialect, shown string, create bool) (_ *DB, err error) {
	db := &DB{URL: shown, d: d}
	if db.Read, db.Edit, err = d.open(ctx, create); err != nil {
		_ = db.Close()
		return nil, db.Named(err)
	}
	if db.Read != db.Edit {
		db.turn = new(turn)
	}
	return db, nil
}

// Close closes the connections.
func (db *DB) Close() error {
	var err error
	if db.Edit != nil {
		err = db.Edit.Close()
	}
	if db.Read != nil && db.Read != db.Edit {
		err = errors.Join(err, db.Read.Close())
	}
	return err
}

// Kind is what people call the database program.
func (db *DB) Kind() string { return db.d.kind() }

// SQLite says whether it is a file of SQLite.
func (db *DB) SQLite() bool { return db.turn != nil }

// Bind writes the parameters ?1, ?2 of a statement as the database has them.
func (db *DB) Bind(query string) string { return db.d.bind(query) }

// Tables lists the tables that there are.
func (db *DB) Tables(ctx context.Context, q Querier) ([]string, error) {
	return db.d.tables(ctx, q)
}

// Exclude lets nobody else migrate until the transaction ends.
func (db *DB) Exclude(ctx context.Context, tx *sql.Tx) error { return db.d.exclude(ctx, tx) }

// Server is the version of the database program, and whether a commit is durable.
func (db *DB) Server(ctx context.Context, q Querier) (version string, durable bool, err error) {
	return db.d.server(ctx, q)
}

// Snapshot begins a transaction that only reads, and reads all of one moment.
func (db *DB) Snapshot(ctx context.Context) (*sql.Tx, error) {
	level := sql.LevelDefault // SQLite has no other
	if db.turn == nil {
		level = sql.LevelRepeatableRead
	}
	return db.Read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: level})
}

// ErrAgain is for what a transaction does to say that it failed only because others ran beside it.
var ErrAgain = errors.New("another transaction was in the way")

// tries is how often a transaction is tried that only others have stopped.
const tries = 50

// Within runs f in a transaction. Urgent ones go before the others that wait.
func (db *DB) Within(ctx context.Context, urgent bool, f func(tx *sql.Tx) error) error {
	if db.turn != nil {
		if err := db.turn.take(ctx, urgent); err != nil {
			return err
		}
		defer db.turn.leave()
	}
	var err error
	for range tries {
		if err = db.attempt(ctx, f); err == nil || ctx.Err() != nil ||
			!errors.Is(err, ErrAgain) && !db.d.again(err) {
			break
		}
	}
	return db.Explain(err)
}

func (db *DB) attempt(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := db.Edit.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after a commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// An explained error says already what it means.
type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// Explain says once what an error of a database means.
func (db *DB) Explain(err error) error {
	if err == nil || errors.As(err, &explained{}) {
		return err
	}
	return explained{db.d.explain(err)}
}

// Named is an error that says what it means, and of which database.
func (db *DB) Named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", db.URL, db.Explain(err))
}

// Hold begins to write to a database, and does not let go before what it gives is called: as
// another program might.
func Hold(ctx context.Context, url string) (release func() error, err error) {
	db, err := Open(ctx, url, true)
	if err != nil {
		return nil, err
	}
	tx, err := db.Edit.BeginTx(ctx, nil)
	return func() error { return errors.Join(tx.Rollback(), db.Close()) }, err
}
