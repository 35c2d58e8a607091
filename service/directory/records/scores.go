package records

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/coeval-dev/coeval/service/directory"
)

var _ directory.Scorer = (*Records)(nil)

// Secret is a secret of the database's own, which is made when it is first asked for.
func (r *Records) Secret(ctx context.Context, name string, size int) (out []byte, err error) {
	err = r.db.Within(ctx, true, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, r.db.Bind(`SELECT value FROM coeval_directory_secrets
			WHERE name = ?1`), name).Scan(&out)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		out = make([]byte, size)
		_, _ = rand.Read(out) // it never fails
		_, err = tx.ExecContext(ctx, r.db.Bind(`INSERT INTO coeval_directory_secrets
			(name, value) VALUES (?1, ?2)`), name, out)
		return err
	})
	return out, r.db.Named(err)
}

// Report counts a result, all of it or nothing, or says that it was counted before.
func (r *Records) Report(ctx context.Context, p *directory.Report) (counted bool, err error) {
	text, err := json.Marshal(p.Players)
	if err != nil {
		return false, err
	}
	r.scoring.Lock() // ratings are read before they are written
	defer r.scoring.Unlock()
	err = r.db.Within(ctx, true, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, r.db.Bind(`INSERT INTO coeval_directory_results
			(entry, match, reported, result) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING`),
			p.Entry, p.Match, p.At, text)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if counted = n == 1; err != nil || !counted {
			return err
		}
		for _, b := range p.Boards {
			if err := r.count(ctx, tx, p, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, directory.ErrBoard) {
		return false, r.db.Named(err)
	}
	return counted && err == nil, err
}

// count has a result count on one board.
func (r *Records) count(
	ctx context.Context, tx *sql.Tx, p *directory.Report, b directory.Board,
) error {
	if err := r.board(ctx, tx, p.Game, b); err != nil {
		return err
	}
	if b.How == directory.Rating {
		return r.rate(ctx, tx, p, b)
	}
	value := "coeval_directory_scores.value + excluded.value"
	if b.How == directory.Best {
		value = `CASE WHEN excluded.value > coeval_directory_scores.value THEN excluded.value
			ELSE coeval_directory_scores.value END`
	}
	for _, x := range p.Players {
		if err := r.put(ctx, tx, p.Game, b.Name, x, x.Score, value); err != nil {
			return err
		}
	}
	return nil
}

// put writes a line of a board. The value is what is put in place of one that is there.
func (r *Records) put(
	ctx context.Context, tx *sql.Tx, game, board string, x directory.Reported, first int64,
	value string,
) error {
	_, err := tx.ExecContext(ctx, r.db.Bind(`INSERT INTO coeval_directory_scores
		(game, board, client, name, value, matches) VALUES (?1, ?2, ?3, ?4, ?5, 1)
		ON CONFLICT (game, board, client) DO UPDATE SET name = excluded.name,
		matches = coeval_directory_scores.matches + 1, value = `+value), game, board,
		number(x.Client), x.Name, first)
	return err
}

// number is a player's number as it is written: of the same length, so that it sorts.
func number(client uint64) string {
	const zeros = "00000000000000000000"
	text := strconv.FormatUint(client, 10)
	return zeros[len(text):] + text
}

// board makes sure that there is a board, and that results count on it as is said.
func (r *Records) board(ctx context.Context, tx *sql.Tx, game string, b directory.Board) error {
	var how string
	err := tx.QueryRowContext(ctx, r.db.Bind(`SELECT how FROM coeval_directory_boards
		WHERE game = ?1 AND board = ?2`), game, b.Name).Scan(&how)
	if !errors.Is(err, sql.ErrNoRows) {
		if err == nil && how != b.How {
			return directory.ErrBoard
		}
		return err
	}
	var n int
	if err := tx.QueryRowContext(ctx, r.db.Bind(`SELECT count(*) FROM coeval_directory_boards
		WHERE game = ?1`), game).Scan(&n); err != nil {
		return err
	}
	if n >= directory.MaxBoards {
		return directory.ErrBoard
	}
	_, err = tx.ExecContext(ctx, r.db.Bind(`INSERT INTO coeval_directory_boards
		(game, board, how) VALUES (?1, ?2, ?3)`), game, b.Name, b.How)
	return err
}

// rate has a match change the ratings of those who played it.
func (r *Records) rate(
	ctx context.Context, tx *sql.Tx, p *directory.Report, b directory.Board,
) error {
	ratings, ranks := make([]int64, len(p.Players)), make([]int, len(p.Players))
	for i, x := range p.Players {
		err := tx.QueryRowContext(ctx, r.db.Bind(`SELECT value FROM coeval_directory_scores
			WHERE game = ?1 AND board = ?2 AND client = ?3`), p.Game, b.Name,
			number(x.Client)).Scan(&ratings[i])
		if errors.Is(err, sql.ErrNoRows) {
			ratings[i], err = directory.FirstRating, nil
		}
		if err != nil {
			return err
		}
		ranks[i] = x.Rank
	}
	for i, value := range directory.Rate(ratings, ranks) {
		if err := r.put(ctx, tx, p.Game, b.Name, p.Players[i], value,
			"excluded.value"); err != nil {
			return err
		}
	}
	return nil
}

// Boards are those of a game.
func (r *Records) Boards(ctx context.Context, game string) (out []directory.Board, err error) {
	rows, err := r.db.Read.QueryContext(ctx, r.db.Bind(`SELECT board, how
		FROM coeval_directory_boards WHERE game = ?1 ORDER BY board`), game)
	if err != nil {
		return nil, r.db.Named(err)
	}
	defer rows.Close()
	for rows.Next() {
		var b directory.Board
		if err := rows.Scan(&b.Name, &b.How); err != nil {
			return nil, r.db.Named(err)
		}
		out = append(out, b)
	}
	return out, r.db.Named(rows.Err())
}

// Standings are a part of a board.
func (r *Records) Standings(
	ctx context.Context, q directory.BoardQuestion,
) (out []directory.Standing, err error) {
	const what = `SELECT client, name, value, matches FROM coeval_directory_scores
		WHERE game = ?1 AND board = ?2 AND `
	const end = ` ORDER BY value DESC, client LIMIT ?5`
	query := what + `(value < ?3 OR value = ?3 AND client > ?4)` + end
	after := directory.Standing{Value: 1<<63 - 1}
	if q.After != nil {
		after = *q.After
	}
	args := []any{q.Game, q.Board, after.Value, number(after.Client), q.Limit}
	if q.Of != 0 {
		query, args = what+`client = ?3`, []any{q.Game, q.Board, number(q.Of)}
	}
	rows, err := r.db.Read.QueryContext(ctx, r.db.Bind(query), args...)
	if err != nil {
		return nil, r.db.Named(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s directory.Standing
		var client string
		if err := rows.Scan(&client, &s.Name, &s.Value, &s.Matches); err != nil {
			return nil, r.db.Named(err)
		}
		if s.Client, err = strconv.ParseUint(client, 10, 64); err != nil {
			return nil, r.db.Named(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil || len(out) == 0 {
		return nil, r.db.Named(err)
	}
	rank, err := r.rank(ctx, &q, &out[0])
	for i := range out {
		out[i].Rank = rank + i
	}
	return out, err
}

// rank is how many stand before somebody, and one more.
func (r *Records) rank(
	ctx context.Context, q *directory.BoardQuestion, s *directory.Standing,
) (n int, err error) {
	err = r.db.Read.QueryRowContext(ctx, r.db.Bind(`SELECT count(*) FROM coeval_directory_scores
		WHERE game = ?1 AND board = ?2 AND (value > ?3 OR value = ?3 AND client < ?4)`), q.Game,
		q.Board, s.Value, number(s.Client)).Scan(&n)
	return n + 1, r.db.Named(err)
}

// Forget removes results that were reported before a time.
func (r *Records) Forget(ctx context.Context, before int64) error {
	return r.db.Named(r.db.Within(ctx, false, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, r.db.Bind(`DELETE FROM coeval_directory_results
			WHERE reported < ?1`), before)
		return err
	}))
}
