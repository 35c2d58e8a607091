// Package kepttest has a store in memory that is away, slow and silent at times, from a seed: so
// that what uses a store can be tried without a database.
package kepttest

import (
	"context"
	"fmt"
	"sync"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// Faults are what is wrong with a store. The zero value is a good one.
type Faults struct {
	// Away is how often an operation is not done, as the store cannot be reached, and Silent how
	// often it is done and the answer does not arrive; of 1. Both are kept.ErrAway.
	Away, Silent float64
	// Twice is how often a transaction fails when it is to be committed, and the request is
	// executed again within one Do; of 1.
	Twice float64
	// Before is called before each operation, by name, and may wait. An error is the operation's.
	Before func(operation string) error
}

// A Store keeps rows as long as the test runs, whatever becomes of those who use it. All its
// methods may be called by any goroutine.
type Store struct {
	// Committed is called with each request that was committed, once.
	Committed func(name kept.Name, answer []byte)

	mu     sync.Mutex
	faults Faults
	rand   det.Rand
	memory kept.Memory
	calls  int
}

// New makes an empty store.
func New(seed uint64) *Store { return &Store{rand: det.At(seed, 78, 0)} }

// Set says from now on what is wrong with the store.
func (s *Store) Set(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// Calls is how many operations were asked for.
func (s *Store) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// do does an operation, or not.
func (s *Store) do(ctx context.Context, operation string, f func(Faults) error) error {
	s.mu.Lock()
	faults := s.faults
	s.calls++
	away, silent := s.rand.Chance(faults.Away), s.rand.Chance(faults.Silent)
	s.mu.Unlock()
	if faults.Before != nil {
		if err := faults.Before(operation); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case away:
		return fmt.Errorf("%w: %s", kept.ErrAway, operation)
	}
	s.mu.Lock()
	err := f(faults)
	s.mu.Unlock()
	if err == nil && silent {
		return fmt.Errorf("%w: %s was done, and nobody heard it", kept.ErrAway, operation)
	}
	return err
}

// Claim raises the epoch of a subject.
func (s *Store) Claim(ctx context.Context, subject, owner string) (f kept.Fence, err error) {
	err = s.do(ctx, "claim", func(Faults) (err error) {
		f, err = s.memory.Claim(ctx, subject, owner)
		return err
	})
	return f, err
}

// Schema says what Row.Schema means.
func (s *Store) Schema(ctx context.Context, hash uint64, text string) error {
	return s.do(ctx, "schema", func(Faults) error { return s.memory.Schema(ctx, hash, text) })
}

// Schemas are those that Schema was told.
func (s *Store) Schemas(ctx context.Context) (m map[uint64]string, err error) {
	err = s.do(ctx, "schemas", func(Faults) (err error) {
		m, err = s.memory.Schemas(ctx)
		return err
	})
	return m, err
}

// Load finds rows.
func (s *Store) Load(ctx context.Context, keys []kept.Key) (rows []kept.Row, err error) {
	err = s.do(ctx, "load", func(Faults) (err error) {
		rows, err = s.memory.Load(ctx, keys)
		return err
	})
	return rows, err
}

// Write writes rows.
func (s *Store) Write(ctx context.Context, fences []kept.Fence, rows []kept.Row) error {
	return s.do(ctx, "write", func(Faults) error { return s.memory.Write(ctx, fences, rows) })
}

// Prune forgets answers.
func (s *Store) Prune(ctx context.Context, number uint64, upTo world.Tick) error {
	return s.do(ctx, "prune", func(Faults) error { return s.memory.Prune(ctx, number, upTo) })
}

// Answers is how many are kept.
func (s *Store) Answers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.Answers()
}

// Do does a request once.
func (s *Store) Do(ctx context.Context, name kept.Name, fences []kept.Fence,
	f func(kept.Tx) ([]byte, error)) (answer []byte, again bool, err error) {
	err = s.do(ctx, "do", func(faults Faults) (err error) {
		if s.rand.Chance(faults.Twice) {
			_, _, _ = s.memory.Do(ctx, name, fences, func(tx kept.Tx) ([]byte, error) {
				_, _ = f(tx)
				return nil, kept.ErrAway
			})
		}
		answer, again, err = s.memory.Do(ctx, name, fences, f)
		if err == nil && !again && s.Committed != nil {
			s.Committed(name, answer)
		}
		return err
	})
	return answer, again, err
}
