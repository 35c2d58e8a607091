//go:build !js

package sqldb

import (
	"context"
	"slices"
	"sync"
)

// A turn says who writes next into a database that has one writer. Of those who wait, the urgent
// ones go first, each in the order in which they came.
type turn struct {
	mu           sync.Mutex
	taken        bool
	urgent, rest []chan struct{}
}

// take waits for the turn.
func (t *turn) take(ctx context.Context, urgent bool) error {
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	line := &t.rest
	if urgent {
		line = &t.urgent
	}
	*line = append(*line, mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(*line, mine)
	if i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // it was given at the same moment
		t.leave()
	}
	return ctx.Err()
}

// leave gives the turn to the next.
func (t *turn) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range []*[]chan struct{}{&t.urgent, &t.rest} {
		if len(*line) > 0 {
			close((*line)[0])
			*line = slices.Delete(*line, 0, 1)
			return
		}
	}
	t.taken = false
}
