//go:build !js

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/coeval-dev/coeval/kept"
)

// A postgres is the dialect of PostgreSQL.
type postgres struct{ conf *pgx.ConnConfig }

func (p *postgres) kind() string { return "PostgreSQL" }

var parameter = regexp.MustCompile(`\?(\d)`)

func (p *postgres) bind(query string) string { return parameter.ReplaceAllString(query, `$$$1`) }

func (p *postgres) types() map[string]string {
	return map[string]string{"text": `TEXT COLLATE "C"`, "small": "SMALLINT", "int": "BIGINT",
		"bytes": "BYTEA", "plain": "",
		// Pages keep room for new versions of their rows, so that no index is touched.
		"updated": "WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05)"}
}

// patience is how long a connection may take, and what a transaction may wait for its own program.
const patience = 10 * time.Second

func (p *postgres) open(ctx context.Context, _ bool) (read, edit *sql.DB, err error) {
	conf := p.conf.Copy()
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = patience
	}
	for name, value := range map[string]string{
		"application_name": "coeval", "timezone": "UTC",
		// An answer is durable, whatever the server does for others.
		"synchronous_commit": "on",
		// A program that is cut off must not hold locks.
		"idle_in_transaction_session_timeout": fmt.Sprint(patience.Milliseconds()),
	} {
		if _, set := conf.RuntimeParams[name]; !set {
			conf.RuntimeParams[name] = value
		}
	}
	db := stdlib.OpenDB(*conf)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	return db, db, db.PingContext(ctx)
}

// migrating is the number of the lock that whoever migrates takes: "coeval" as a number.
const migrating = 0x636f6576616c

func (p *postgres) exclude(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrating))
	return err
}

func (p *postgres) tables(ctx context.Context, q Querier) ([]string, error) {
	return Column(ctx, q, `SELECT tablename::text FROM pg_tables
		WHERE schemaname = current_schema() ORDER BY tablename`)
}

func (p *postgres) again(err error) bool {
	var e *pgconn.PgError
	// A serialization failure, a deadlock, or the same request by two at once.
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01" || e.Code == "23505")
}

func (p *postgres) explain(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return explainCode(e, err)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.Timeout(err) || pgconn.SafeToRetry(err) || isBroken(err) {
		return fmt.Errorf("%w: %w", kept.ErrAway, err)
	}
	return err
}

// isBroken finds errors of a connection that have no type.
func isBroken(err error) bool {
	text := err.Error()
	return strings.Contains(text, "conn closed") || strings.Contains(text, "bad connection") ||
		strings.Contains(text, "broken pipe") || strings.Contains(text, "conn busy")
}

// explainCode says what an error of the server means; see its manual, appendix A.
func explainCode(e *pgconn.PgError, err error) error {
	switch class := e.Code[:min(2, len(e.Code))]; {
	case class == "28":
		return fmt.Errorf("the user or password is wrong: correct the URL, or ask whoever runs the "+
			"database: %w", err)
	case e.Code == "3D000":
		return fmt.Errorf("there is no such database: make it with createdb: %w", err)
	case e.Code == "3F000":
		return fmt.Errorf("there is no such schema, or the user of the URL may not use it: CREATE "+
			"SCHEMA, and GRANT ALL on it: %w", err)
	case e.Code == "42501":
		return fmt.Errorf("the user of the URL may not do that: GRANT ALL on the database and its "+
			"schema to it: %w", err)
	case class == "08" || class == "53" || class == "57" || class == "58" || e.Code == "25006":
		return fmt.Errorf("%w: %w", kept.ErrAway, err)
	}
	return err
}

func (p *postgres) server(
	ctx context.Context, q Querier,
) (version string, durable bool, err error) {
	var fsync, commit string
	err = q.QueryRowContext(ctx, `SELECT current_setting('server_version'),
		current_setting('fsync'), current_setting('synchronous_commit')`).Scan(
		&version, &fsync, &commit)
	return version, fsync == "on" && commit != "off", err
}
