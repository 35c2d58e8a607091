//go:build !js

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// Do does a request once for ever. Requests go before writes that wait.
func (s *Store) Do(
	ctx context.Context, name kept.Name, fences []kept.Fence, f func(kept.Tx) ([]byte, error),
) (answer []byte, again bool, err error) {
	err = s.db.Within(ctx, true, func(tx *sql.Tx) error {
		answer, again, err = s.do(ctx, tx, name, fences, f)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return answer, again, nil
}

func (s *Store) do(
	ctx context.Context, tx *sql.Tx, n kept.Name, fences []kept.Fence,
	f func(kept.Tx) ([]byte, error),
) (answer []byte, again bool, err error) {
	key := []any{int64(n.World), int64(n.Tick), int64(n.By), int64(n.Ordinal)}
	err = tx.QueryRowContext(ctx, s.db.Bind(`SELECT answer FROM coeval_answers
		WHERE world = ?1 AND tick = ?2 AND asker = ?3 AND ordinal = ?4`), key...).Scan(&answer)
	if err == nil {
		return present(answer), true, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, false, err
	}
	if err := s.pass(ctx, tx, fences); err != nil {
		return nil, false, err
	}
	t := &transaction{ctx: ctx, store: s, tx: tx}
	if answer, err = f(t); err == nil {
		err = t.finish()
	}
	if err != nil {
		return nil, false, err
	}
	answer = present(answer)
	_, err = tx.ExecContext(ctx, s.db.Bind(`INSERT INTO coeval_answers
		(world, tick, asker, ordinal, answer) VALUES (?1, ?2, ?3, ?4, ?5)`), append(key, answer)...)
	return answer, false, err
}

// pruned is how many answers are forgotten in one transaction, so that requests can pass.
const pruned = 250

// Prune forgets the answers to what was asked in a world up to a tick.
func (s *Store) Prune(ctx context.Context, number uint64, upTo world.Tick) error {
	for more := true; more; {
		err := s.db.Within(ctx, false, func(tx *sql.Tx) error {
			done, err := tx.ExecContext(ctx, s.db.Bind(`DELETE FROM coeval_answers
				WHERE (world, tick, asker, ordinal) IN (
					SELECT world, tick, asker, ordinal FROM coeval_answers
					WHERE world = ?1 AND tick <= ?2 LIMIT ?3)`),
				int64(number), int64(upTo), pruned)
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			more = n == pruned
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A transaction is what a request does.
type transaction struct {
	ctx    context.Context
	store  *Store
	tx     *sql.Tx
	absent map[kept.Key]bool // were looked for, and their places are held
	failed error             // after which nothing is written
}

// Get finds a row, which nobody else changes before the transaction ends.
func (t *transaction) Get(k kept.Key) (kept.Row, bool, error) {
	if err := CheckKey(k); err != nil {
		return kept.Row{}, false, err
	}
	schema, data, err := t.store.rows.get(t.ctx, t.tx, k)
	if err != nil {
		t.failed = err
		return kept.Row{}, false, err
	}
	if data == nil {
		if t.absent == nil {
			t.absent = map[kept.Key]bool{}
		}
		t.absent[k] = true
		return kept.Row{Key: k}, false, nil
	}
	return kept.Row{Key: k, Schema: uint64(schema), Data: data}, true, nil
}

// Put writes a row, or removes it if it has no data.
func (t *transaction) Put(r kept.Row) error {
	if err := CheckKey(r.Key); err != nil {
		return err
	}
	if err := t.store.put(t.ctx, t.tx, []kept.Row{r}); err != nil {
		t.failed = err
		return err
	}
	delete(t.absent, r.Key)
	return nil
}

// finish gives up the places of rows that there are not.
func (t *transaction) finish() error {
	if t.failed != nil {
		return fmt.Errorf("a request went on after an error: %w", t.failed)
	}
	for k := range t.absent {
		if err := t.store.remove(t.ctx, t.tx, k); err != nil {
			return err
		}
	}
	return nil
}
