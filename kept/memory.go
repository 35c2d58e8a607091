package kept

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"github.com/coeval-dev/coeval/world"
)

// Memory is a store that lasts as long as its program: for a game alone, for tests, and for servers
// that have no other. It belongs to one goroutine at a time. The zero value is empty.
type Memory struct {
	rows    map[Key]Row
	schemas map[uint64]string
	epochs  map[string]uint64
	answers map[Name][]byte
}

func (m *Memory) fill() {
	if m.rows == nil {
		m.rows, m.schemas = map[Key]Row{}, map[uint64]string{}
		m.epochs, m.answers = map[string]uint64{}, map[Name][]byte{}
	}
}

// Claim raises the epoch of a subject.
func (m *Memory) Claim(_ context.Context, subject, _ string) (Fence, error) {
	m.fill()
	m.epochs[subject]++
	return Fence{subject, m.epochs[subject]}, nil
}

// Schema says what Row.Schema means.
func (m *Memory) Schema(_ context.Context, hash uint64, text string) error {
	m.fill()
	if old, ok := m.schemas[hash]; ok && old != text {
		return fmt.Errorf("%w: schema %016x means something else", ErrOther, hash)
	}
	m.schemas[hash] = text
	return nil
}

// Schemas are those that Schema was told.
func (m *Memory) Schemas(context.Context) (map[uint64]string, error) {
	return maps.Clone(m.schemas), nil
}

// Load finds rows.
func (m *Memory) Load(_ context.Context, keys []Key) ([]Row, error) {
	out := make([]Row, len(keys))
	for i, k := range keys {
		out[i] = Row{Key: k}
		if row, ok := m.rows[k]; ok {
			out[i] = row
		}
	}
	return out, nil
}

// pass refuses fences that are old, and learns of those that are newer.
func (m *Memory) pass(fences []Fence) error {
	m.fill()
	for _, f := range fences {
		if f.Epoch < m.epochs[f.Subject] {
			return fmt.Errorf("%w: %s by epoch %d, and this is %d", ErrFenced, f.Subject,
				m.epochs[f.Subject], f.Epoch)
		}
	}
	for _, f := range fences {
		m.epochs[f.Subject] = f.Epoch
	}
	return nil
}

// Write writes rows.
func (m *Memory) Write(_ context.Context, fences []Fence, rows []Row) error {
	if err := m.pass(fences); err != nil {
		return err
	}
	for _, r := range rows {
		m.put(r)
	}
	return nil
}

func (m *Memory) put(r Row) {
	if r.Data == nil {
		delete(m.rows, r.Key)
		return
	}
	r.Data = bytes.Clone(r.Data)
	m.rows[r.Key] = r
}

// Do does a request once.
func (m *Memory) Do(_ context.Context, name Name, fences []Fence, f func(Tx) ([]byte, error)) (
	answer []byte, again bool, err error) {
	m.fill()
	if answer, again = m.answers[name]; again {
		return answer, true, nil
	}
	if err := m.pass(fences); err != nil {
		return nil, false, err
	}
	tx := memoryTx{m, map[Key]Row{}}
	if answer, err = f(tx); err != nil {
		return nil, false, err
	}
	for _, r := range tx.changed {
		m.put(r)
	}
	m.answers[name] = answer
	return answer, false, nil
}

// Prune forgets answers.
func (m *Memory) Prune(_ context.Context, number uint64, upTo world.Tick) error {
	maps.DeleteFunc(m.answers, func(n Name, _ []byte) bool {
		return n.World == number && n.Tick <= upTo
	})
	return nil
}

// Answers is how many are kept.
func (m *Memory) Answers() int { return len(m.answers) }

// A memoryTx changes nothing until it has succeeded.
type memoryTx struct {
	m       *Memory
	changed map[Key]Row
}

func (t memoryTx) Get(k Key) (Row, bool, error) {
	if r, ok := t.changed[k]; ok {
		return r, r.Data != nil, nil
	}
	r, ok := t.m.rows[k]
	return r, ok, nil
}

func (t memoryTx) Put(r Row) error {
	if r.Data != nil {
		r.Data = bytes.Clone(r.Data)
	}
	t.changed[r.Key] = r
	return nil
}
