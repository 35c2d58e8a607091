package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// A worldMap is a stream that keeps the last message of each key. A revision is a sequence of the
// stream. A key that was deleted keeps a message that says so, so that a write that is late cannot
// take its absence for the one that it expected.
//
// It is no bucket of NATS's own: those lose a key's time to live when it is updated, refuse short
// ones, and their watches go blind when a node dies. Nothing here lives for a time, and nothing is
// watched; who wants to know asks.
type worldMap struct{ n *connection }

func (w *worldMap) Get(ctx context.Context, key string) (seamless.Entry, error) {
	ctx, cancel := w.n.bound(ctx)
	defer cancel()
	subject, err := w.n.world.subject(key)
	if err != nil {
		return seamless.Entry{}, err
	}
	m, err := w.n.tail(ctx, &w.n.world, subject)
	if err != nil {
		return seamless.Entry{}, err
	}
	r, err := valueOf(m)
	if err != nil {
		return seamless.Entry{}, fmt.Errorf("%w: %q", err, key)
	}
	return seamless.Entry{Key: key, Value: r.data, Revision: m.sequence}, nil
}

// valueOf gives the record of a message, or ErrNone if there is none or it was deleted.
func valueOf(m message) (record, error) {
	if m.sequence == 0 {
		return record{}, seamless.ErrNone
	}
	r, err := decodeRecord(m.payload)
	if err != nil {
		return r, fmt.Errorf("%w: message %d", ErrBroken, m.sequence)
	}
	if r.kind == kindDeleted {
		return r, seamless.ErrNone
	}
	return r, nil
}

func (w *worldMap) Set(ctx context.Context, key string, value []byte, expect uint64,
) (uint64, error) {
	ctx, cancel := w.n.bound(ctx)
	defer cancel()
	return w.n.set(ctx, &w.n.world, key, record{kind: kindValue, data: value}, expect)
}

func (w *worldMap) Delete(ctx context.Context, key string, expect uint64) error {
	ctx, cancel := w.n.bound(ctx)
	defer cancel()
	_, err := w.n.set(ctx, &w.n.world, key, record{kind: kindDeleted}, expect)
	return err
}

// set writes the record of a key. Expecting that there is none, it finds out whether there is one
// that says so. Each call has a mark of its own: of two that set the same value, one is stale.
func (n *connection) set(ctx context.Context, s *stream, key string, r record, expect uint64,
) (uint64, error) {
	subject, err := s.subject(key)
	if err != nil {
		return 0, err
	}
	r.writer, r.before = mark(), expect
	sequence, err := n.write(ctx, write{s, subject, expect, r.encode(), true})
	if expect != 0 || !errors.Is(err, seamless.ErrStale) {
		return sequence, err
	}
	m, tailErr := n.tail(ctx, s, subject)
	if tailErr != nil {
		return 0, tailErr
	}
	if _, valueErr := valueOf(m); valueErr == nil {
		return 0, err
	} else if !errors.Is(valueErr, seamless.ErrNone) {
		return 0, valueErr
	}
	r.before = m.sequence
	return n.write(ctx, write{s, subject, m.sequence, r.encode(), true})
}

// mark draws what tells a writer's records from those of others.
func mark() (m [8]byte) {
	_, _ = rand.Read(m[:]) // it ends the program rather than fail
	return m
}

func (w *worldMap) List(ctx context.Context, prefix string) ([]seamless.Entry, error) {
	ctx, cancel := w.n.bound(ctx)
	defer cancel()
	found, err := w.n.scan(ctx, &w.n.world)
	if err != nil {
		return nil, err
	}
	var list []seamless.Entry
	for key, m := range found {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		r, err := valueOf(m)
		if errors.Is(err, seamless.ErrNone) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %q", err, key)
		}
		list = append(list, seamless.Entry{Key: key, Value: r.data, Revision: m.sequence})
	}
	slices.SortFunc(list, func(a, b seamless.Entry) int { return strings.Compare(a.Key, b.Key) })
	return list, nil
}
