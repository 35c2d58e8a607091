package trace

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/world"
)

// Limits bound what a trace may take of the machine that reads it. The zero value is in proportion
// to the file, and fits every trace that a Writer made: a stranger's file of a few kilobytes cannot
// take more than a few megabytes.
type Limits struct {
	// States bounds the bytes that all states take together when they are unpacked, as far as the
	// trace was read. Default: 1 MiB, and 32 for each byte of the file up to there.
	States int64
	// Numbers is how many numbers the last commands of all players may hold together. Each takes 20
	// bytes. Default, and most: 1<<20.
	Numbers int
	// Ticks is how many ticks are read. Default: all that there are.
	Ticks int
	// World bounds what a state takes when a world is made of it.
	World world.LoadLimits
}

// ErrLimit says that a trace would take more of this machine than its reader allows. Use errors.Is.
var ErrLimit = errors.New("trace is beyond the limits of its reader")

// A writer pads what packs better than this, so that whoever reads by default reads all of it.
const (
	stateRoom  = 1 << 20
	stateRatio = 32
)

// fill puts defaults in.
func (l Limits) fill() Limits {
	if l.Numbers <= 0 || l.Numbers > maxNumbers {
		l.Numbers = maxNumbers
	}
	return l
}

// states is how many bytes may have been unpacked when so many of the file have been read.
func (l *Limits) states(read int64) int64 { return cmp.Or(l.States, stateRoom+stateRatio*read) }

// unpack takes the bytes of a state from what is allowed.
func (r *Reader) unpack(s *state) error {
	if r.unpacked += int64(s.size); r.unpacked > r.limits.states(r.blocks.at) {
		return fmt.Errorf(
			"%w: a state of %d bytes makes %d, in a file of %d so far; allow more by "+
				"Limits.States if it comes from someone you trust",
			ErrLimit, s.size, r.unpacked, r.blocks.at)
	}
	return nil
}
