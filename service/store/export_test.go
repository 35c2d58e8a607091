package store

import (
	"context"
	"errors"

	"github.com/coeval-dev/coeval/service/store/sqldb"
)

// Exec runs a statement on a database, whatever it holds.
func Exec(ctx context.Context, url, statement string) (err error) {
	s, err := connect(ctx, url, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	_, err = s.db.Edit.ExecContext(ctx, statement)
	return err
}

// OpenBy opens a database with these migrations in place of the program's own, by version from 1.
func OpenBy(ctx context.Context, url string, o Options, texts ...string) (version int, err error) {
	s, err := connect(ctx, url, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	k := *kind
	k.Migrations = nil
	for i, text := range texts {
		k.Migrations = append(k.Migrations, sqldb.Migration{Version: i + 1, Text: text})
	}
	if _, err := s.db.Migrate(ctx, &k, sqldb.Options{Of: o.Game, Migrate: o.Migrate}); err != nil {
		return 0, err
	}
	is, err := s.db.Describe(ctx, kind, s.db.Read)
	return is.Version, err
}

// First is the text of the first migration.
func First() string { return kind.Migrations[0].Text }

// Tables lists the tables of a database.
func Tables(ctx context.Context, url string) (out []string, err error) {
	s, err := connect(ctx, url, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.db.Tables(ctx, s.db.Read)
}

// Lock has another program write to a file of SQLite until unlock is called.
func Lock(ctx context.Context, url string) (unlock func() error, err error) {
	s, err := connect(ctx, url, true)
	if err != nil {
		return nil, err
	}
	tx, err := s.db.Edit.BeginTx(ctx, nil)
	return func() error { return errors.Join(tx.Rollback(), s.Close()) }, err
}
