package trace

import (
	"errors"
	"fmt"
)

// maxAttached is how long an attachment may be.
const maxAttached = 80 << 20

// Attach writes something of the program's own, which belongs to the next tick that is recorded and
// is given back as Record.Attached. It is for what a program needs beside the world to go on from
// a trace, such as who sits at which player's place. Replays do not look at it. A trace that has
// such things must be made with Options.Attach; each record has at most one.
func (t *Writer) Attach(data []byte) error {
	switch {
	case t.closed:
		return errClosed
	case !t.attaches:
		return errors.New("trace: attachments need Options.Attach")
	case len(data) > maxAttached:
		return fmt.Errorf("trace: an attachment of %d bytes; at most %d can be recorded",
			len(data), maxAttached)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	t.blocks.put(blockAttached, data)
	return t.blocks.err
}

// attach keeps an attachment for the record that follows.
func (r *Reader) attach(payload []byte) error {
	switch {
	case !r.attaches:
		return fmt.Errorf("%w: an attachment in a trace that has none", ErrDamaged)
	case r.waits:
		return fmt.Errorf("%w: two attachments to one record", ErrDamaged)
	}
	r.waits, r.attached = true, append(r.attached[:0], payload...)
	return nil
}

// give puts what is attached into the record that it belongs to.
func (r *Reader) give(rec *Record) {
	if r.waits {
		rec.Attached, r.waits = r.attached, false
	}
}
