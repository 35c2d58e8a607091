//go:build !js

package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/coeval-dev/coeval/kept"
)

// An inFile is how rows are in a file of SQLite.
type inFile struct{}

func (inFile) upsert(ctx context.Context, tx *sql.Tx, rows []kept.Row) error {
	if len(rows) == 0 {
		return nil
	}
	put, err := tx.PrepareContext(ctx, `INSERT INTO coeval_rows (class, scope, whose, schema, data)
		VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE
		SET schema = excluded.schema, data = excluded.data`)
	if err != nil {
		return err
	}
	defer put.Close()
	// With a context that can end, the driver starts a goroutine for each row to wait for it.
	each := context.WithoutCancel(ctx)
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := &rows[i]
		if _, err := put.ExecContext(each, r.Key.Class, int64(r.Key.Scope), r.Key.Of,
			int64(r.Schema), r.Data); err != nil {
			return err
		}
	}
	return nil
}

func (inFile) fences(
	ctx context.Context, tx *sql.Tx, subjects []string,
) (map[string]claim, error) {
	out := make(map[string]claim, len(subjects))
	for _, s := range subjects {
		var epoch int64
		var c claim
		err := tx.QueryRowContext(ctx, `SELECT epoch, owner FROM coeval_fences WHERE subject = ?1`,
			s).Scan(&epoch, &c.owner)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.epoch = uint64(epoch)
		out[s] = c
	}
	return out, nil
}

func (inFile) get(ctx context.Context, tx *sql.Tx, k kept.Key) (schema int64, data []byte,
	err error) {
	err = tx.QueryRowContext(ctx, `SELECT schema, data FROM coeval_rows
		WHERE class = ?1 AND scope = ?2 AND whose = ?3 AND data IS NOT NULL`,
		k.Class, int64(k.Scope), k.Of).Scan(&schema, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, nil
	}
	return schema, present(data), err
}
