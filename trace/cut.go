package trace

import (
	"errors"
	"fmt"
	"io"

	"github.com/coeval-dev/coeval/world"
)

var errApart = errors.New("this program does not compute what was recorded")

// Cut copies the part of a trace from one tick to another into a trace of its own, with the hashes
// and states that were recorded. It begins with the world at from, which is computed, so that who
// has the part needs nothing before it. A damaged trace is copied up to the damage.
func Cut(g *world.Game, r *Reader, out io.Writer, from, to world.Tick) error {
	c, err := newReplica(g, r, from)
	if err != nil {
		return err
	}
	for c.world.Tick() < from {
		if _, err := c.next(); err != nil {
			return fmt.Errorf("trace: it does not reach tick %d: %w", from, err)
		}
		if c.mismatch != nil {
			return fmt.Errorf("trace: tick %d cannot be computed: %w from tick %d on", from,
				errApart, c.mismatch.Tick)
		}
	}
	h := *r.Header()
	h.First = c.world.Tick()
	w, err := newWriter(out, h, false)
	if err != nil {
		return err
	}
	if err := w.putState(c.world.Tick(), c.world.Hash(), c.world.Host().Save(nil),
		true); err != nil {
		return err
	}
	for {
		rec, err := r.Next()
		if err == io.EOF || incomplete(err) || err == nil && rec.Tick > to {
			break
		}
		if err == nil {
			err = w.copy(rec)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// copy writes a record of another trace.
func (t *Writer) copy(rec *Record) error {
	if !rec.IsState() {
		if err := t.put(rec); err != nil || rec.HashBits < 64 {
			return err
		}
		return t.Flush() // the whole hash has its place at the end of a block
	}
	saved, err := rec.State()
	if err != nil {
		return err
	}
	return t.putState(rec.Tick, rec.Hash, saved, rec.Given())
}
