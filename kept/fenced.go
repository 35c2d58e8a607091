package kept

import "fmt"

// A FencedError says which fence is old. It is an ErrFenced.
type FencedError struct {
	Fence Fence
	Epoch uint64 // that counts now
	Owner string // who has claimed it
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("%s of epoch %d: %v (%s, epoch %d)", e.Fence.Subject, e.Fence.Epoch,
		ErrFenced, e.Owner, e.Epoch)
}

func (e *FencedError) Unwrap() error { return ErrFenced }
