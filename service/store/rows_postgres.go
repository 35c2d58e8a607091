//go:build !js

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store/sqldb"
)

// An inPostgres is how rows are in PostgreSQL.
//
// Transactions read what is committed, and lock each row that they read or write, and the fences
// that they pass. Whoever reads a row that there is not puts an empty one there to hold its place.
// So of two transactions that have a row in common one runs after the other, as if they were alone.
type inPostgres struct{}

func (inPostgres) upsert(ctx context.Context, tx *sql.Tx, rows []kept.Row) error {
	if len(rows) == 0 {
		return nil
	}
	n := len(rows)
	classes, whose := make([]string, n), make([]string, n)
	scopes, schemas, data := make([]int16, n), make([]int64, n), make([][]byte, n)
	for i := range rows {
		r := &rows[i]
		classes[i], scopes[i], whose[i] = r.Key.Class, int16(r.Key.Scope), r.Key.Of
		schemas[i], data[i] = int64(r.Schema), r.Data
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO coeval_rows (class, scope, whose, schema, data)
		SELECT * FROM unnest($1::text[], $2::smallint[], $3::text[], $4::bigint[], $5::bytea[])
		ON CONFLICT (class, scope, whose) DO UPDATE
		SET schema = excluded.schema, data = excluded.data`, classes, scopes, whose, schemas, data)
	return err
}

func (inPostgres) fences(
	ctx context.Context, tx *sql.Tx, subjects []string,
) (map[string]claim, error) {
	rows, err := tx.QueryContext(ctx, `SELECT subject, epoch, owner FROM coeval_fences
		WHERE subject = ANY($1) ORDER BY subject FOR SHARE`, subjects)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make(map[string]claim, len(subjects))
	for rows.Next() {
		var s string
		var epoch int64
		var c claim
		if err := rows.Scan(&s, &epoch, &c.owner); err != nil {
			return nil, err
		}
		c.epoch = uint64(epoch)
		out[s] = c
	}
	return out, rows.Err()
}

func (inPostgres) get(
	ctx context.Context, tx *sql.Tx, k kept.Key,
) (schema int64, data []byte, err error) {
	find := func() error {
		return tx.QueryRowContext(ctx, `SELECT schema, data FROM coeval_rows
			WHERE class = $1 AND scope = $2 AND whose = $3 FOR UPDATE`,
			k.Class, int64(k.Scope), k.Of).Scan(&schema, &data)
	}
	if err = find(); !errors.Is(err, sql.ErrNoRows) {
		return schema, data, err
	}
	if _, err = tx.ExecContext(ctx, `INSERT INTO coeval_rows (class, scope, whose, schema)
		VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`, k.Class, int64(k.Scope), k.Of); err != nil {
		return 0, nil, err
	}
	if err = find(); errors.Is(err, sql.ErrNoRows) {
		return 0, nil, errVanished
	}
	return schema, data, err
}

// errVanished is that a row was removed by another between two looks.
var errVanished = fmt.Errorf("%w: a row was removed meanwhile", sqldb.ErrAgain)
