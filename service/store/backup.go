//go:build !js

package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store/database"
	"github.com/coeval-dev/coeval/service/store/sqldb"
)

// Backup writes all that is there at one moment into a new file, while others write: a database of
// SQLite, whichever this one is, so that either can be restored from it. It is loaded again before
// it has its name.
func (s *Store) Backup(ctx context.Context, name string) (out database.Copied, err error) {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("%s is there already: name a file that is not", name)
	}
	dir, err := os.MkdirTemp(filepath.Dir(name), ".backup-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir) // what is left of a backup that failed
	made := filepath.Join(dir, "new")
	want := ""
	if s.db.SQLite() {
		_, err = s.db.Read.ExecContext(ctx, `VACUUM INTO ?1`, made)
		err = s.db.Explain(err)
	} else {
		want, err = s.copyInto(ctx, made)
	}
	if err != nil {
		return out, err
	}
	if out, err = verify(ctx, made); err != nil {
		return out, fmt.Errorf("the backup cannot be loaded: %w", err)
	}
	if want != "" && want != out.Sum {
		return out,
			errors.New("the backup holds something else than what was read: the disk is bad")
	}
	return out, install(made, name)
}

// install flushes a file and gives it its name, if there is none of that name.
func install(made, name string) error {
	f, err := os.OpenFile(made, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(made, name); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(name)); err == nil {
		_ = dir.Sync() // some systems cannot
		_ = dir.Close()
	}
	return nil
}

// copyInto copies this database into a new file of SQLite, and gives the sum of what was read.
func (s *Store) copyInto(ctx context.Context, name string) (sum string, err error) {
	to, err := Open(ctx, "sqlite:"+name, Options{Game: s.game})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	from, err := s.db.Snapshot(ctx)
	if err != nil {
		return "", s.db.Explain(err)
	}
	defer from.Rollback() // it only reads
	err = to.db.Within(ctx, false, func(tx *sql.Tx) error {
		c := &copier{ctx: ctx, to: tx, bind: to.db.Bind, sum: sha256.New()}
		if err := c.all(from); err != nil {
			return err
		}
		sum = hex.EncodeToString(c.sum.Sum(nil))
		return nil
	})
	if err == nil { // one file, with nothing beside it
		_, err = to.db.Edit.ExecContext(ctx, `PRAGMA journal_mode = DELETE`)
	}
	return sum, s.db.Explain(err)
}

// verify loads all of a backup.
func verify(ctx context.Context, name string) (out database.Copied, err error) {
	s, err := openFile(ctx, name)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	d, err := s.db.Describe(ctx, kind, s.db.Read)
	if err != nil {
		return out, s.db.Explain(err)
	}
	out.Game, out.Version = d.Of, d.Version
	problems, err := sqldb.Column(ctx, s.db.Read, `PRAGMA integrity_check`)
	if err != nil {
		return out, s.db.Explain(err)
	}
	if len(problems) != 1 || problems[0] != "ok" {
		return out, fmt.Errorf("the file is damaged: %s", strings.Join(problems, "; "))
	}
	c := &copier{ctx: ctx, sum: sha256.New()}
	if err := c.all(s.db.Read); err != nil {
		return out, s.db.Explain(err)
	}
	c.report(&out)
	info, err := os.Stat(name)
	if err != nil {
		return out, err
	}
	out.Bytes = info.Size()
	return out, nil
}

// openFile opens a store to read it, of this version or an older one.
func openFile(ctx context.Context, name string) (*Store, error) {
	db, err := sqldb.OpenFile(ctx, name)
	if err != nil {
		return nil, errors.Unwrap(err) // whoever calls names the file
	}
	s := in(db)
	d, err := db.Describe(ctx, kind, db.Read)
	if err == nil {
		err = d.Check(kind, sqldb.Options{Migrate: true})
	}
	if err != nil {
		return nil, errors.Join(db.Explain(err), s.Close())
	}
	s.game = d.Of
	return s, nil
}

// Restore fills an empty database from a file that Backup wrote, all of it or nothing, and compares
// what it holds then.
func Restore(ctx context.Context, name, url string) (out database.Copied, err error) {
	if out, err = verify(ctx, name); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	from, done, err := upToDate(ctx, name, out)
	if err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { err = errors.Join(err, done()) }()
	to, err := connect(ctx, url, true)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return out, to.db.Named(to.fill(ctx, from, &out))
}

// upToDate opens a backup as this version has it, by a copy if it is older.
func upToDate(
	ctx context.Context, name string, is database.Copied,
) (from *Store, done func() error, err error) {
	if is.Version == kind.Latest() {
		from, err = openFile(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		return from, from.Close, nil
	}
	dir, err := os.MkdirTemp("", "coeval-restore-")
	if err != nil {
		return nil, nil, err
	}
	done = func() error { return os.RemoveAll(dir) }
	made := filepath.Join(dir, "store")
	if err := copyFile(made, name); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	from, err = Open(ctx, "sqlite:"+made, Options{Game: is.Game, Migrate: true})
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return from, func() error { return errors.Join(from.Close(), os.RemoveAll(dir)) }, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// fill makes all tables and copies all that another holds, in one transaction.
func (s *Store) fill(ctx context.Context, from *Store, out *database.Copied) error {
	return s.db.Within(ctx, false, func(tx *sql.Tx) error {
		if err := s.db.Exclude(ctx, tx); err != nil {
			return err
		}
		tables, err := s.db.Tables(ctx, tx)
		if err != nil {
			return err
		}
		if len(tables) > 0 {
			return fmt.Errorf("%w: it is not empty (there is %s): restore into a new file, or a new "+
				"database", kept.ErrOther, tables[0])
		}
		for _, m := range kind.Migrations {
			if err := s.db.Apply(ctx, tx, kind, m, from.game); err != nil {
				return err
			}
		}
		c := &copier{ctx: ctx, to: tx, bind: s.db.Bind, sum: sha256.New()}
		if err := c.all(from.db.Read); err != nil {
			return err
		}
		there := &copier{ctx: ctx, sum: sha256.New()}
		if err := there.all(tx); err != nil {
			return err
		}
		c.report(out)
		if got := hex.EncodeToString(there.sum.Sum(nil)); got != out.Sum {
			return errors.New("what was written is not what was read: nothing was restored")
		}
		return nil
	})
}

// The tables that are copied, with their keys first.
var copied = []struct {
	name    string
	columns []string
	where   string
}{
	{"coeval_schemas", []string{"hash", "text"}, ""},
	{"coeval_fences", []string{"subject", "epoch", "owner"}, ""},
	{"coeval_rows", []string{"class", "scope", "whose", "schema", "data"},
		" WHERE data IS NOT NULL"},
	{"coeval_answers", []string{"world", "tick", "asker", "ordinal", "answer"}, ""},
}

// keys is how many of the columns of each are its key.
var keys = []int{1, 1, 3, 4}

// A copier reads all tables in order, sums up what is in them, and writes it elsewhere.
type copier struct {
	ctx  context.Context
	to   *sql.Tx // or nil
	bind func(string) string
	sum  hash.Hash
	n    []int64 // rows of each table
	buf  []byte
}

func (c *copier) report(out *database.Copied) {
	out.Rows, out.Answers, out.Sum = c.n[2], c.n[3], hex.EncodeToString(c.sum.Sum(nil))
}

func (c *copier) all(from sqldb.Querier) error {
	for i := range copied {
		n, err := c.table(from, i)
		if err != nil {
			return fmt.Errorf("%s: %w", copied[i].name, err)
		}
		c.n = append(c.n, n)
	}
	return nil
}

func (c *copier) table(from sqldb.Querier, i int) (n int64, err error) {
	t := &copied[i]
	columns := strings.Join(t.columns, ", ")
	var put *sql.Stmt
	if c.to != nil {
		marks := "?1"
		for j := range t.columns[1:] {
			marks += fmt.Sprintf(", ?%d", j+2)
		}
		if put, err = c.to.PrepareContext(c.ctx, c.bind(`INSERT INTO `+t.name+` (`+columns+
			`) VALUES (`+marks+`)`)); err != nil {
			return 0, err
		}
		defer put.Close()
	}
	rows, err := from.QueryContext(c.ctx, `SELECT `+columns+` FROM `+t.name+t.where+` ORDER BY `+
		strings.Join(t.columns[:keys[i]], ", "))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values, at := make([]any, len(t.columns)), make([]any, len(t.columns))
	for j := range values {
		at[j] = &values[j]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return n, err
		}
		if err := c.add(i, values); err != nil {
			return n, err
		}
		n++
		if put != nil {
			if _, err := put.ExecContext(c.ctx, values...); err != nil {
				return n, err
			}
		}
	}
	return n, rows.Err()
}

// add has a row count in the sum.
func (c *copier) add(table int, values []any) error {
	c.buf = append(c.buf[:0], byte(table))
	for i, v := range values {
		switch v := v.(type) {
		case int64:
			c.buf = binary.LittleEndian.AppendUint64(append(c.buf, 'i'), uint64(v))
		case string:
			c.buf = append(binary.AppendUvarint(append(c.buf, 's'), uint64(len(v))), v...)
		case []byte:
			values[i] = present(v) // nil would be written as nothing at all
			c.buf = append(binary.AppendUvarint(append(c.buf, 'b'), uint64(len(v))), v...)
		default:
			return fmt.Errorf("a value is of type %T, which no table has", v)
		}
	}
	_, err := c.sum.Write(c.buf)
	return err
}
