//go:build !js

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/coeval-dev/coeval/kept"
)

// A file is the dialect of SQLite.
type file struct {
	name     string
	readOnly bool
}

func (f *file) kind() string { return "SQLite" }

func (f *file) bind(query string) string { return query }

func (f *file) types() map[string]string {
	return map[string]string{"text": "TEXT", "small": "INTEGER", "int": "INTEGER", "bytes": "BLOB",
		"updated": "WITHOUT ROWID", "plain": "WITHOUT ROWID"}
}

// open opens the file twice: once to write, as SQLite has one writer, and for those who read, whom
// a write-ahead log lets read meanwhile.
func (f *file) open(ctx context.Context, create bool) (read, edit *sql.DB, err error) {
	if err := f.prepare(create); err != nil {
		return nil, nil, err
	}
	name, err := filepath.Abs(f.name)
	if err != nil {
		return nil, nil, err
	}
	if name = filepath.ToSlash(name); !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: name}
	q := url.Values{"_pragma": {"busy_timeout(100)", "synchronous(FULL)", "foreign_keys(ON)"}}
	if f.readOnly {
		q.Set("mode", "ro")
	}
	read, err = sql.Open("sqlite", u.String()+"?"+q.Encode())
	if err != nil {
		return nil, nil, err
	}
	read.SetMaxOpenConns(4)
	if f.readOnly {
		return read, nil, read.PingContext(ctx)
	}
	q.Set("_txlock", "immediate")
	q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "journal_size_limit(67108864)",
		"cache_size(-65536)")
	if edit, err = sql.Open("sqlite", u.String()+"?"+q.Encode()); err != nil {
		return read, nil, err
	}
	edit.SetMaxOpenConns(1)
	_, err = f.tables(ctx, read) // before anything is changed
	return read, edit, err
}

// prepare makes the file, for nobody else's eyes, or sees that it is there.
func (f *file) prepare(create bool) error {
	info, err := os.Stat(f.name)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder: name a file in it")
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	case !create || f.readOnly:
		return fmt.Errorf("%w: name the file of a store; serve makes one", err)
	}
	made, err := os.OpenFile(f.name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return made.Close()
}

func (f *file) exclude(context.Context, *sql.Tx) error { return nil } // a transaction does

func (f *file) tables(ctx context.Context, q Querier) ([]string, error) {
	return Column(ctx, q, `SELECT name FROM sqlite_master WHERE type = 'table'
		AND name NOT LIKE 'sqlite_%' ORDER BY name`)
}

// again has another program finish what it writes: SQLite itself would wait whatever the context
// says, so it waits for a short time, and is asked again.
func (f *file) again(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

func (f *file) explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: another program has been writing to the file for too long: %w",
			kept.ErrAway, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: the disk is full: %w", kept.ErrAway, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %w", kept.ErrAway, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return fmt.Errorf("the file cannot be written to: give this user the right, to it and to "+
			"its folder: %w", err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: it is no database of SQLite; name another file: %w", kept.ErrOther,
			err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the file is damaged: move it away and restore a backup "+
			"(store restore FILE URL): %w", err)
	}
	return err
}

func (f *file) server(ctx context.Context, q Querier) (version string, durable bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version)
	return version, true, err
}

// Column is the first column of what a query finds.
func Column(ctx context.Context, q Querier, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
