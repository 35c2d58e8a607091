//go:build !js

// Package records keeps what is registered at a directory, in SQLite or PostgreSQL. It implements
// directory.Keeper.
package records

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/store/sqldb"
)

//go:embed migrations/*.sql
var files embed.FS

// kind is what the database of a directory is.
var kind = &sqldb.Kind{Table: "coeval_directory", Format: "coeval directory",
	Migrations: sqldb.ReadMigrations(files, "migrations")}

// Records are a database.
type Records struct {
	db      *sqldb.DB
	scoring sync.Mutex
}

var _ directory.Keeper = (*Records)(nil)

// Open opens a database, and makes it a directory's if nothing is in it. One of another program is
// refused.
func Open(ctx context.Context, url string) (*Records, error) {
	db, err := sqldb.Open(ctx, url, true)
	if err != nil {
		return nil, err
	}
	if _, err := db.Migrate(ctx, kind, sqldb.Options{Migrate: true}); err != nil {
		_ = db.Close()
		return nil, db.Named(err)
	}
	return &Records{db: db}, nil
}

// Close closes the connections.
func (r *Records) Close() error { return r.db.Close() }

// Load gives all that there is.
func (r *Records) Load(ctx context.Context) (out []directory.Record, err error) {
	rows, err := r.db.Read.QueryContext(ctx, `SELECT id, place, lease, since, announcement
		FROM coeval_directory_places ORDER BY id, place`)
	if err != nil {
		return nil, r.db.Named(err)
	}
	defer rows.Close()
	for rows.Next() {
		var x directory.Record
		var text []byte
		if err := rows.Scan(&x.ID, &x.Place, &x.Lease, &x.Since, &text); err != nil {
			return nil, r.db.Named(err)
		}
		if err := json.Unmarshal(text, &x.Announcement); err != nil {
			return nil, r.db.Named(fmt.Errorf("the record %s %s is damaged: %w", x.ID, x.Place,
				err))
		}
		out = append(out, x)
	}
	return out, r.db.Named(rows.Err())
}

// Change removes records and then writes others, all of it or nothing.
func (r *Records) Change(
	ctx context.Context, remove []directory.Key, put []directory.Record,
) error {
	err := r.db.Within(ctx, true, func(tx *sql.Tx) error {
		for _, k := range remove {
			if _, err := tx.ExecContext(ctx, r.db.Bind(`DELETE FROM coeval_directory_places
				WHERE id = ?1 AND place = ?2`), k.ID, k.Place); err != nil {
				return err
			}
		}
		for i := range put {
			x := &put[i]
			text, err := json.Marshal(x.Announcement)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, r.db.Bind(`INSERT INTO coeval_directory_places
				(id, place, lease, since, announcement) VALUES (?1, ?2, ?3, ?4, ?5)
				ON CONFLICT (id, place) DO UPDATE SET lease = excluded.lease,
				since = excluded.since, announcement = excluded.announcement`),
				x.ID, x.Place, x.Lease, x.Since, text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return r.db.Named(err)
	}
	return nil
}

// Driver is what package use gives to programs.
type Driver struct{}

// Open opens a database.
func (Driver) Open(ctx context.Context, url string) (directory.Keeper, error) {
	r, err := Open(ctx, url)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Shown is a URL without its password, or why it names no database.
func (Driver) Shown(url string) (string, error) { return sqldb.Check(url) }
