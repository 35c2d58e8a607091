package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// What can be wrong with a cluster as a whole. Use errors.Is; those of package seamless apply, too.
var (
	// ErrNotFounded says that NATS is there and has no cluster of this name.
	ErrNotFounded = errors.New("cluster: there is none of this name; to begin one, set Found")
	// ErrOther says that the cluster of this name is not the one that it was.
	ErrOther = errors.New("cluster: another cluster has this name")
	// ErrGone says that something that was acknowledged is not there any more: a stream was
	// deleted, or put back to an earlier state. Nothing is created in its place, as everybody would
	// go on from nothing. Restore the stream from a backup, or found a cluster of another name.
	ErrGone = errors.New("cluster: part of it is gone")
	// ErrFull says that a disk is full, or a limit is reached. Nothing was written.
	ErrFull = errors.New("cluster: there is no room")
	// ErrLarge says that a value is larger than NATS takes. Nothing was written.
	ErrLarge = errors.New("cluster: the value is too large")
	// ErrBroken says that what was read is not what was written.
	ErrBroken = errors.New("cluster: what is stored is damaged")
	// ErrClosed says that the cluster was closed by this program.
	ErrClosed = errors.New("cluster: it is closed")
)

// unsure is the error for a call that has no answer: in doubt if something may have been written.
func unsure(ctx context.Context, maybe bool, cause error) error {
	err := seamless.ErrAway
	if maybe {
		err = seamless.ErrDoubt
	}
	if why := context.Cause(ctx); why != nil && !errors.Is(cause, why) {
		err = fmt.Errorf("%w (%w)", err, why)
	}
	switch {
	case cause == nil:
		return err
	case errors.Is(cause, seamless.ErrAway), errors.Is(cause, seamless.ErrStale):
		// An error is in doubt, or away, or stale, and not two of them.
		return fmt.Errorf("%w: %w", err, &told{cause})
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// A told error is a cause that is not to be taken for what a caller can act on, but for what is
// wrong with the cluster as a whole.
type told struct{ cause error }

func (t *told) Error() string { return t.cause.Error() }

func (t *told) Is(target error) bool {
	switch target {
	case ErrGone, ErrOther, ErrFull, ErrClosed, context.Canceled, context.DeadlineExceeded:
		return errors.Is(t.cause, target)
	}
	return false
}

// pause waits, and says whether the context is still good.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
