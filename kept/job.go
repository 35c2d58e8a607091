package kept

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/world"
)

// A Job is something that a store is to do for a desk. Run it on any goroutine, one after the
// other in the order in which Take gives them, and give it back by Done.
type Job struct {
	kind  jobKind
	plan  *plan
	tick  world.Tick // what it follows from must be durable up to here
	now   world.Tick // when it was taken
	game  Fence
	books map[uint64]*Schema // a copy that is the job's own
	state jobState

	rows   []Row
	fences []Fence // of each row
	drop   []bool  // rows that are not to be written any more
	skip   []bool  // those of them that were so when it was taken
	ids    []world.ID
	of     []*shadow // the tick's thread alone looks at what changes of them
	seen   seen      // of those, where rows are to be made of it

	name    Name
	to      world.Name
	id      world.ID // to be loaded
	asked   world.Tick
	request *requestKind
	data    []byte
	short   bool // a party is missing
	owner   string

	pruned world.Tick // up to there answers are forgotten
	upTo   world.Tick // and are to be

	ending
}

// An ending is what came of a job.
type ending struct {
	epoch  uint64
	patch  []byte
	answer []byte
	again  bool
	failed string // why it cannot be loaded
	lost   []int  // rows whose fence is old
	fenced bool   // another process writes for the world
	behind bool   // one before has executed more than is known here
}

type jobKind uint8

const (
	jobClaim jobKind = iota
	jobLoad
	jobWrite
	jobDo
	jobPrune
)

type jobState uint8

const (
	jobIdle jobState = iota
	jobWaits
	jobRuns
)

// Kind says what a job is: "claim", "load", "write", "request" or "prune".
func (j *Job) Kind() string {
	return [...]string{"claim", "load", "write", "request", "prune"}[j.kind]
}

// Rows is how many rows a job writes.
func (j *Job) Rows() int { return j.count() }

// Run does the job. The error is that the store cannot do it now: it is to be tried again, which is
// harmless whatever became of it.
func (j *Job) Run(ctx context.Context, s Store) (err error) {
	j.lost, j.fenced, j.failed = j.lost[:0], false, ""
	switch j.kind {
	case jobClaim:
		err = j.claim(ctx, s)
	case jobLoad:
		err = j.load(ctx, s)
	case jobWrite:
		j.encode()
		err = j.write(ctx, s)
	case jobDo:
		err = j.do(ctx, s)
	case jobPrune:
		err = j.forget(ctx, s)
	}
	return err
}

// claim makes this the one process that writes for its world. Then no other executes a request any
// more; and what others have executed is known here if the world has come as far as theirs had.
func (j *Job) claim(ctx context.Context, s Store) error {
	j.behind = false
	if j.game.Epoch == 0 {
		f, err := s.Claim(ctx, j.game.Subject, j.owner)
		if err != nil {
			return err
		}
		j.game.Epoch = f.Epoch
	}
	err := s.Write(ctx, []Fence{j.game, j.executed()}, nil)
	if err == nil {
		// From now on nobody else prunes.
		j.pruned, err = j.prunedBefore(ctx, s)
	}
	if !errors.Is(err, ErrFenced) {
		return err
	}
	old, err := j.isOld(ctx, s)
	j.behind = !old
	return err
}

// executed is a fence that tells up to which tick requests were executed: of the one who claims a
// world, the world must have come as far.
func (j *Job) executed() Fence {
	return Fence{"requests" + strings.TrimPrefix(j.game.Subject, "game"), uint64(j.now)}
}

// session claims an account or character for an entity: by a number that is drawn once for each
// time that an entity asks for it, whoever asks the store. So who leads after another has the same.
func (j *Job) session(ctx context.Context, s Store, key Key) error {
	answer, _, err := s.Do(ctx, j.name, []Fence{j.game}, func(tx Tx) ([]byte, error) {
		k := Key{sessionClass, key.Scope, key.Of}
		row, _, err := tx.Get(k)
		if err != nil {
			return nil, err
		}
		n, _ := binary.Uvarint(row.Data)
		row = Row{k, sessionOf(key.Scope).Hash(), binary.AppendUvarint(nil, n+1)}
		return row.Data, tx.Put(row)
	})
	if errors.Is(err, ErrFenced) {
		_, err = j.isOld(ctx, s)
		return err
	}
	if err != nil {
		return err
	}
	j.epoch, _ = binary.Uvarint(answer)
	err = s.Write(ctx, []Fence{{key.subject(), j.epoch}}, nil)
	if errors.Is(err, ErrFenced) {
		j.failed = "another session has taken it over"
		return nil
	}
	return err
}

// sessionClass is the class of rows that count the sessions of accounts and characters.
const sessionClass = "kept.session"

func sessionOf(s Scope) *Schema {
	return &Schema{Class: sessionClass, Scope: s, leaves: []leaf{
		{path: "Epoch", kind: kindUint, limits: limits{most: 1<<64 - 1}}}}
}

// load claims what an entity is, and reads what the store has of it.
func (j *Job) load(ctx context.Context, s Store) error {
	key, c := j.rows[0].Key, j.plan.named(j.rows[0].Key.Class)
	if key.Scope != Thing {
		if err := j.session(ctx, s, key); err != nil || j.fenced || j.failed != "" {
			return err
		}
	}
	rows, err := s.Load(ctx, []Key{key})
	if err != nil {
		return err
	}
	if len(rows) != 1 || rows[0].Data == nil {
		return nil
	}
	if j.books[rows[0].Schema] == nil {
		if err := j.fetch(ctx, s); err != nil {
			return err
		}
	}
	schema := j.books[rows[0].Schema]
	if schema == nil {
		j.failed = fmt.Sprintf("its row has schema %016x, which the store does not have",
			rows[0].Schema)
		return nil
	}
	if j.patch, err = c.load(schema, rows[0].Data); err != nil {
		j.failed = shorten(err.Error())
	} else if len(j.patch) > maxAnswer {
		j.failed = "its row is too long"
	}
	return nil
}

// fetch reads the schemas anew: another program may have written with a newer one.
func (j *Job) fetch(ctx context.Context, s Store) error {
	texts, err := s.Schemas(ctx)
	if err != nil {
		return err
	}
	j.books = readSchemas(texts)
	return nil
}

// readSchemas reads all that are schemas.
func readSchemas(texts map[uint64]string) map[uint64]*Schema {
	out := map[uint64]*Schema{}
	for hash, text := range texts {
		if schema, err := ParseSchema(text); err == nil {
			out[hash] = schema
		}
	}
	return out
}

// write writes rows. Where one is refused the others are written all the same.
func (j *Job) write(ctx context.Context, s Store) error {
	fences := []Fence{j.game}
	for i, f := range j.fences {
		if f.Subject != "" && !j.skip[i] {
			fences = append(fences, f)
		}
	}
	rows := j.rows
	if slices.Contains(j.skip, true) {
		rows = make([]Row, 0, len(j.rows))
		for i, row := range j.rows {
			if !j.skip[i] {
				rows = append(rows, row)
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	err := s.Write(ctx, fences, rows)
	if !errors.Is(err, ErrFenced) {
		return err
	}
	if old, err := j.isOld(ctx, s); old || err != nil {
		return err
	}
	for i := range j.rows {
		if j.skip[i] {
			continue
		}
		own := []Fence{j.game}
		if j.fences[i].Subject != "" {
			own = append(own, j.fences[i])
		}
		switch err := s.Write(ctx, own, j.rows[i:i+1]); {
		case errors.Is(err, ErrFenced):
			j.lost = append(j.lost, i)
		case err != nil:
			return err
		}
	}
	return nil
}

// isOld says whether it is this process that is refused.
func (j *Job) isOld(ctx context.Context, s Store) (bool, error) {
	err := s.Write(ctx, []Fence{j.game}, nil)
	j.fenced = errors.Is(err, ErrFenced)
	if j.fenced {
		return true, nil
	}
	return false, err
}

// do executes a request, or finds what came of it before.
func (j *Job) do(ctx context.Context, s Store) error {
	for _, row := range j.rows {
		if row.Data != nil && j.books[row.Schema] == nil {
			return fmt.Errorf("schema %016x of this program is not known", row.Schema)
		}
	}
	fences := []Fence{j.game, j.executed()}
	for _, f := range j.fences {
		if f.Subject != "" {
			fences = append(fences, f)
		}
	}
	answer, again, err := s.Do(ctx, j.name, fences, func(tx Tx) ([]byte, error) {
		if j.name.Tick <= j.pruned {
			o := outcome{question: j.question(), refused: errPruned}
			return o.append(nil), nil
		}
		if j.short {
			o := outcome{question: j.question(), refused: "one of the parties has left"}
			return o.append(nil), nil
		}
		d := &Deal{plan: j.plan, tx: tx, schemas: j.books, parties: j.rows}
		return d.execute(j.request, j.data, j.question())
	})
	switch {
	case errors.Is(err, ErrFenced):
		return j.refuse(ctx, s)
	case err != nil:
		return err
	}
	j.answer, j.again = answer, again
	return j.renew(ctx, s)
}

// question tells a request from others that have the same name: as when a world was restored to a
// moment before it was asked, and went on differently.
func (j *Job) question() uint64 { return hashOf(j.request.typ.Name() + "\n" + string(j.data)) }

// refuse finds out which of the parties is another's by now.
func (j *Job) refuse(ctx context.Context, s Store) error {
	if old, err := j.isOld(ctx, s); old || err != nil {
		return err
	}
	for i, f := range j.fences {
		if f.Subject == "" {
			continue
		}
		err := s.Write(ctx, []Fence{f}, nil)
		if errors.Is(err, ErrFenced) {
			j.lost = append(j.lost, i)
		} else if err != nil {
			return err
		}
	}
	o := outcome{refused: "another session has taken one of the parties over"}
	j.answer = o.append(nil)
	return nil
}

// renew has an answer that a program with other classes has left name the fields of this one: as
// the store has them now.
func (j *Job) renew(ctx context.Context, s Store) error {
	if !j.again {
		return nil
	}
	o, err := readOutcome(j.answer)
	if err != nil {
		return nil // the world says so
	}
	if o.question != j.question() {
		o = outcome{refused: "another request had its name, before the world was restored"}
	}
	for i := range o.changes {
		c := &o.changes[i]
		if c.party >= len(j.rows) {
			continue
		}
		class := j.plan.named(j.rows[c.party].Key.Class)
		if class == nil || c.schema == class.hash {
			continue
		}
		load := Job{plan: j.plan, books: j.books, rows: []Row{{Key: j.rows[c.party].Key}}}
		rows, err := s.Load(ctx, []Key{j.rows[c.party].Key})
		if err != nil {
			return err
		}
		if err := load.fetch(ctx, s); err != nil {
			return err
		}
		c.schema, c.patch = class.hash, nil
		if schema := load.books[rows[0].Schema]; schema != nil && rows[0].Data != nil {
			if patch, err := class.load(schema, rows[0].Data); err == nil {
				c.patch = patch
			}
		}
	}
	j.answer = o.append(nil)
	return nil
}
