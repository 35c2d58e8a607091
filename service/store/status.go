//go:build !js

package store

import (
	"context"
	"database/sql"

	"github.com/coeval-dev/coeval/service/store/database"
)

// Driver is what package use gives to programs.
type Driver struct{}

// Open opens a database.
func (Driver) Open(ctx context.Context, url string, o Options) (database.Database, error) {
	s, err := Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Restore fills an empty database from a file that Backup wrote.
func (Driver) Restore(ctx context.Context, file, url string) (database.Copied, error) {
	return Restore(ctx, file, url)
}

// shownFences is how many a status lists.
const shownFences = 100

// Status counts what there is, all at one moment.
func (s *Store) Status(ctx context.Context) (out database.Status, err error) {
	tx, err := s.db.Snapshot(ctx)
	if err != nil {
		return out, s.db.Explain(err)
	}
	defer tx.Rollback() // it only reads
	out = database.Status{URL: s.db.URL, Kind: s.db.Kind(), Game: s.game,
		Classes: []database.Class{}, Fences: []database.Fence{}}
	if out.Server, out.Durable, err = s.db.Server(ctx, tx); err != nil {
		return out, s.db.Explain(err)
	}
	d, err := s.db.Describe(ctx, kind, tx)
	if err != nil {
		return out, s.db.Explain(err)
	}
	out.Version = d.Version
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM coeval_answers`).Scan(&out.Answers)
	if err == nil {
		err = classes(ctx, tx, &out)
	}
	if err == nil {
		err = s.listFences(ctx, tx, &out)
	}
	return out, s.db.Explain(err)
}

// classes counts rows by class and schema.
func classes(ctx context.Context, tx *sql.Tx, out *database.Status) error {
	rows, err := tx.QueryContext(ctx, `SELECT r.class, r.schema, r.n, s.text FROM
		(SELECT class, schema, count(*) AS n FROM coeval_rows WHERE data IS NOT NULL
			GROUP BY class, schema) AS r
		LEFT JOIN coeval_schemas AS s ON s.hash = r.schema ORDER BY r.class, r.schema`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var c database.Class
		var schema int64
		var text sql.NullString
		if err := rows.Scan(&c.Class, &schema, &c.Rows, &text); err != nil {
			return err
		}
		c.Schema, c.Text = uint64(schema), text.String
		out.Rows += c.Rows
		if !text.Valid {
			out.Unknown += c.Rows
		}
		out.Classes = append(out.Classes, c)
	}
	return rows.Err()
}

func (s *Store) listFences(ctx context.Context, tx *sql.Tx, out *database.Status) error {
	rows, err := tx.QueryContext(ctx, s.db.Bind(`SELECT subject, epoch, owner FROM coeval_fences
		ORDER BY subject LIMIT ?1`), shownFences)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var f database.Fence
		var epoch int64
		if err := rows.Scan(&f.Subject, &epoch, &f.Owner); err != nil {
			return err
		}
		f.Epoch = uint64(epoch)
		out.Fences = append(out.Fences, f)
	}
	return rows.Err()
}
