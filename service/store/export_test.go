package store

import (
	"context"
	"errors"
	"fmt"
)

// Exec runs a statement on a database, whatever it holds.
func Exec(ctx context.Context, url, statement string) (err error) {
	d, _, err := parse(url)
	if err != nil {
		return err
	}
	read, edit, err := d.open(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, edit.Close(), read.Close()) }()
	_, err = edit.ExecContext(ctx, statement)
	return err
}

// OpenBy opens a database with these migrations in place of the program's own, by version from 1.
func OpenBy(ctx context.Context, url string, o Options, texts ...string) (version int, err error) {
	d, _, err := parse(url)
	if err != nil {
		return 0, err
	}
	s := &Store{d: d}
	if s.read, s.edit, err = d.open(ctx, true); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.read != s.edit {
		s.turn = new(turn)
	}
	var list []migration
	for i, text := range texts {
		list = append(list, migration{i + 1, text})
	}
	if err := s.migrate(ctx, o, list); err != nil {
		return 0, err
	}
	is, err := s.describe(ctx, s.read)
	return is.version, err
}

// First is the text of the first migration.
func First() string { return migrations[0].text }

// Tables lists the tables of a database.
func Tables(ctx context.Context, url string) (out []string, err error) {
	d, _, err := parse(url)
	if err != nil {
		return nil, err
	}
	read, edit, err := d.open(ctx, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, edit.Close(), read.Close()) }()
	return d.tables(ctx, read)
}

// Parse is parse, for fuzzing.
func Parse(url string) (shown string, err error) {
	d, shown, err := parse(url)
	if (d == nil) == (err == nil) {
		return "", fmt.Errorf("a dialect %v with the error %v", d, err)
	}
	return shown, err
}

// Lock has another program write to a file of SQLite until unlock is called.
func Lock(ctx context.Context, url string) (unlock func() error, err error) {
	d, _, err := parse(url)
	if err != nil {
		return nil, err
	}
	read, edit, err := d.open(ctx, true)
	if err != nil {
		return nil, err
	}
	tx, err := edit.BeginTx(ctx, nil)
	return func() error { return errors.Join(tx.Rollback(), edit.Close(), read.Close()) }, err
}
