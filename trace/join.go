package trace

import (
	"errors"
	"fmt"
	"io"
)

// Join writes one trace of several that follow one another, as a recording that keeps only its last
// minutes is made of: each begins with the world with which the one before it ends. What is damaged
// or cut can be the last only. It takes memory in proportion to the longest.
func Join(out io.Writer, list ...*Reader) error {
	if len(list) == 0 {
		return errors.New("trace: there is nothing to join")
	}
	first := list[0].Header()
	w, err := newWriter(out, *first, false)
	if err != nil {
		return err
	}
	for n, r := range list {
		if h := r.Header(); h.Game != first.Game || h.Declarations != first.Declarations ||
			h.Seed != first.Seed || h.Rate != first.Rate {
			return fmt.Errorf("trace: number %d, of game %q and seed %d, is not of the same run as "+
				"the first, of %q and %d", n+1, h.Game, h.Seed, first.Game, first.Seed)
		}
		if err := w.append(r, n); err != nil {
			return err
		}
	}
	return w.Close()
}

// append copies all of a trace behind what there is.
func (t *Writer) append(r *Reader, n int) error {
	for begun := n == 0; ; begun = true {
		rec, err := r.Next()
		switch {
		case err == io.EOF || incomplete(err) && begun:
			return nil
		case err != nil:
			return err
		}
		if !begun {
			if rec.Tick != t.tick {
				return fmt.Errorf("trace: %w: number %d begins with tick %d, and the one before "+
					"ends with %d", ErrOrder, n+1, rec.Tick, t.tick)
			}
			if !sameHash(rec.Hash, rec.HashBits, t.last, t.bits) {
				return fmt.Errorf("trace: number %d does not begin with the world that the one "+
					"before ends with, at tick %d", n+1, rec.Tick)
			}
			if err := t.follow(rec); err != nil {
				return err
			}
			continue
		}
		if err := t.copy(rec); err != nil {
			return err
		}
	}
}

// follow writes the state with which another trace begins, as one that was computed.
func (t *Writer) follow(rec *Record) error {
	saved, err := rec.State()
	if err != nil {
		return err
	}
	return t.putState(rec.Tick, rec.Hash, saved, false)
}
