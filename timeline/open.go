package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// OpenOptions are what Open has to know, for programs that let their users choose a timeline by name. What the zero value leaves open gets the defaults of the kind.
type OpenOptions struct {
	Options
	// Delays are, by kind:
	//
	//	trailing, auto   of each copy, from the leading world's to the window
	//	timewarp         the leading world's, the window
	//	rollback         how long after the present commands are stamped, how much may be guessed; rounded up to ticks
	//	lockstep         how long after the last tick commands are stamped, the most that may become if it adapts; rounded up to ticks
	//	conservative     the look-ahead
	//	bucket           the world's
	//	ruled            the leading world's, the judge's, the window
	//
	// The last ones may be left out, but for those of trailing and auto. One of 0 stands for the default where a kind has one, except the judge's.
	Delays []time.Duration
	// Mirrors are those who are waited for, this one included: for rollback, lockstep and conservative.
	Mirrors []member.ID
	// Judge says that this mirror is the judge, and Term in which term: for ruled.
	Judge bool
	Term  uint32
	// Step and Copy are what computing a tick and copying a world take, if there is no Clock to measure it: for auto.
	Step, Copy time.Duration
}

// kinds are what Open knows, with the most delays that each takes.
var kinds = []struct {
	name   string
	delays int
	what   string // the delays
	open   func(start *world.World, o *OpenOptions) (Timeline, error)
}{
	{"auto", maxStates, "those of the copies", func(start *world.World, o *OpenOptions) (Timeline, error) {
		return opened(NewAuto(start, AutoOptions{TrailingOptions: TrailingOptions{Options: o.Options, Delays: o.Delays}, Step: o.Step, Copy: o.Copy}))
	}},
	{"trailing", maxStates, "those of the copies", func(start *world.World, o *OpenOptions) (Timeline, error) {
		return opened(NewTrailing(start, TrailingOptions{Options: o.Options, Delays: o.Delays}))
	}},
	{"timewarp", 2, "the leading world's, the window", func(start *world.World, o *OpenOptions) (Timeline, error) {
		return opened(NewTimeWarp(start, TimeWarpOptions{Options: o.Options, Delay: o.delay(0), Window: o.delay(1)}))
	}},
	{"rollback", 2, "that of commands, how much may be guessed", func(start *world.World, o *OpenOptions) (Timeline, error) {
		return opened(NewRollback(start, RollbackOptions{Options: o.Options, Mirrors: o.Mirrors, Delay: o.ticks(start, 0), Window: o.ticks(start, 1)}))
	}},
	{"lockstep", 2, "that of commands, the most it may become", func(start *world.World, o *OpenOptions) (Timeline, error) {
		return opened(NewLockstep(start, LockstepOptions{Options: o.Options, Mirrors: o.Mirrors, Delay: o.ticks(start, 0), Most: o.ticks(start, 1)}))
	}},
	{"conservative", 1, "the look-ahead", func(start *world.World, o *OpenOptions) (Timeline, error) {
		return opened(NewConservative(start, ConservativeOptions{Options: o.Options, Mirrors: o.Mirrors, LookAhead: o.delay(0)}))
	}},
	{"bucket", 1, "the world's", func(start *world.World, o *OpenOptions) (Timeline, error) {
		return opened(NewBucket(start, BucketOptions{Options: o.Options, Delay: o.delay(0)}))
	}},
	{"ruled", 3, "the leading world's, the judge's, the window", func(start *world.World, o *OpenOptions) (Timeline, error) {
		wait := o.delay(1)
		if len(o.Delays) > 1 && wait == 0 {
			wait = -1 // where it was given, no wait is meant
		}
		return opened(NewRuled(start, RuledOptions{Options: o.Options, Judge: o.Judge, Term: o.Term, Delay: o.delay(0), Wait: wait, Window: o.delay(2)}))
	}},
}

// opened keeps a timeline that could not be made from becoming an interface that is not nil.
func opened[T Timeline](line T, err error) (Timeline, error) {
	if err != nil {
		return nil, err
	}
	return line, nil
}

func (o *OpenOptions) delay(i int) time.Duration {
	if i < len(o.Delays) {
		return o.Delays[i]
	}
	return 0
}

func (o *OpenOptions) ticks(start *world.World, i int) int {
	return newClock(start.Game()).ticks(o.delay(i))
}

// Kinds lists the names that Open knows, the usual choice first.
func Kinds() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.name)
	}
	return out
}

// Open makes a timeline of the kind that has a name, going on from a world, which is copied. An error says what to do: the kinds there are, or which
// delays are possible.
func Open(kind string, start *world.World, o OpenOptions) (Timeline, error) {
	if start == nil {
		return nil, errNoWorld
	}
	for _, k := range kinds {
		if k.name != kind {
			continue
		}
		if len(o.Delays) > k.delays {
			return nil, fmt.Errorf("timeline: %d delays for kind %q; give at most %d: %s", len(o.Delays), kind, k.delays, k.what)
		}
		if i := slices.IndexFunc(o.Delays, func(d time.Duration) bool { return d < 0 || d > time.Hour }); i >= 0 {
			return nil, fmt.Errorf("timeline: a delay of %v for kind %q; give 0 to an hour", o.Delays[i], kind)
		}
		return k.open(start, &o)
	}
	return nil, fmt.Errorf("timeline: there is no kind %q; choose one of %s", kind, strings.Join(Kinds(), ", "))
}
