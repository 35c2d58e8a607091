package timeline

import (
	"errors"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A Membership says for which ticks a mirror is waited for, for SetMirrors of Lockstep,
// Conservative and Rollback.
//
// All mirrors settle the same worlds if each of them calls SetMirrors with the same list sooner or
// later, and
//
//   - one that joins stamps and promises nothing for From and earlier ticks, and every other mirror
//     calls SetMirrors before it stamps or promises anything for a tick after From itself. As it
//     cannot settle what it has not promised, it then has settled nothing without the new one;
//   - of one that leaves, every mirror that stays gets everything that was stamped for ticks up to
//     Until, with a promise for Until, before or after the call; and none has settled a tick after
//     Until before it. The last promise of which all who stay have everything is such an Until.
//     What the one who left said for later ticks is struck out, also where it had come.
//
// Where a tick is settled already that depends on the change, SetMirrors refuses with ErrSettled;
// that mirror has to join anew.
//
// A mirror that joins starts from another's settled world, with that one's Pending as
// Options.Pending and only itself in Mirrors. Before its first Advance it calls SetMirrors with the
// list in which each of the others is as that one's Members says.
type Membership struct {
	Mirror member.ID
	// From is the tick up to which the mirror has nothing to say: it is waited for after that. For
	// one that is known already it changes nothing unless it is later than what was promised.
	From world.Tick
	// Seq is the number of the last thing that the mirror stamped for From or before, and Also
	// those that came out of order after it. Both count only where the mirror was not known. A
	// mirror that is new has 0.
	Seq  uint32
	Also []uint32
	// Left says that the mirror is gone: what it said for ticks up to Until counts, and after that
	// nobody waits for it.
	Left  bool
	Until world.Tick
}

// ErrSettled says that a change of mirrors or of the judge came too late: something is settled that
// depends on it. Use errors.Is.
var ErrSettled = errors.New("settled already")
