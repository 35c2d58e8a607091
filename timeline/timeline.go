package timeline

import (
	"errors"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A Timeline keeps one mirror's copies of a world consistent with those of other mirrors. It is
// given what is commanded anywhere, in whatever order it arrives, and the time; it computes the
// worlds. It belongs to one goroutine at a time, and has neither clock nor network.
//
// Submit what has arrived before each Advance, own commands as well as those of others.
type Timeline interface {
	// Stamp is the tick that a mirror gives to what its clients command now. Call it once a tick.
	// It never goes back; where it has not grown since the last time, what came in meanwhile has to
	// wait.
	Stamp(now time.Duration) world.Tick
	// Submit takes a stamped command in. An error means that the command makes no sense: it was
	// refused, and nothing happened.
	Submit(now time.Duration, c Command) (Fate, error)
	// Advance computes what is due. An error ends the timeline's use; it is a *DesyncError where
	// the game itself is to blame.
	Advance(now time.Duration) error
	// Next is when Advance has something to do again, if nothing is submitted before: for how long
	// a program may sleep.
	Next() time.Duration
	// Leading is the newest world, which players are shown. It is provisional until it is settled.
	// It is good until the next Advance.
	Leading() *world.World
	// Settled is the world at the last tick about which nothing will change any more. It is good
	// until the next Advance.
	Settled() *world.World
	// Notices are what the last Advance found out about events.
	Notices() []Notice
	// Pending goes through what is known for ticks that are not settled, in order of tick. With the
	// settled world it is all that a mirror needs which joins; see Options.Pending. A command's
	// image is good until yield returns, and nothing may be submitted meanwhile.
	Pending(yield func(Command) bool)
	// Hold allows ticks up to one to be settled that was made with Options.Held: nothing is settled
	// that was not allowed. Timelines that wait, and Bucket, take no notice.
	Hold(until world.Tick)
	// Withdraw takes back what a mirror commanded with numbers from first to last, none of which
	// may have been for a settled tick: it was agreed that it does not count. What had given way to
	// it counts again. False means that this timeline cannot do that, or not any more, and has
	// changed nothing: begin a new one, from a world that was settled elsewhere.
	Withdraw(from member.ID, first, last uint32) bool
	// Waits says that it waits for mirrors: it must be submitted their promises, and be told by
	// SetMirrors whom to wait for.
	Waits() bool
	// SetMirrors changes who is waited for; see Membership for what it takes. An error means that
	// nothing was changed. Where nobody is waited for, it does nothing.
	SetMirrors(now time.Duration, list []Membership) error
	// Members lists who is waited for, and what came of each: for a mirror that joins.
	Members() []Membership
	// Delays are those of its copies of the world at present, if it keeps some at fixed delays;
	// else they are zero.
	Delays() Delays
	// Stats say what it has cost so far.
	Stats() Stats
	// Exact says whether settled worlds are promised to be those that one machine would have
	// computed which had every command in time.
	Exact() bool
}

// Options are what all timelines have in common. The zero value is good.
type Options struct {
	// Margins say which fields of entities and weak events are compared, and how much they may
	// differ; see Margin.
	Margins []Margin
	// Settled, if set, is called with the world at every tick that is settled, one after the other,
	// and with what came in: for recording, and for comparing hashes between mirrors. Both are good
	// until it returns, and to be left as they are.
	Settled func(w *world.World, in *world.Inputs)
	// Ahead is how far ahead of the leading world commands may be stamped, as clocks differ.
	// Default: 1 s.
	Ahead time.Duration
	// Memory is how many bytes the copies of the world may take, counted when the timeline is made.
	// Default: 1 GiB.
	Memory int
	// Held starts with nothing allowed to be settled beyond the start: Hold says from then on what
	// may be. It is for Trailing, Auto, TimeWarp and Ruled; those that wait have promises for it,
	// and Bucket settles as it goes.
	Held bool
	// Slack is how far behind its window the last copy may be held until the leading world stops as
	// well and waits. Memory is reserved for it. Without Held it means nothing. Default: 3 s.
	Slack time.Duration
	// Pending is what the mirror that the world comes from had in its book for later ticks, as its
	// Pending lists it: for a mirror that joins. What is for the world's own tick or an earlier one
	// is passed over.
	Pending []Command
	// HashEvery is after how many ticks copies that were told the same are compared by their
	// hashes, to find a game that is not deterministic. Default: 64. Below 0, they never are.
	HashEvery int
	// Clock, if set, is asked for the time before and after each step and copy of a world, for
	// Stats. A pure package has no clock of its own.
	Clock func() time.Duration
}

// ErrAhead says that a command is stamped for a tick too far ahead: its mirror's clock is wrong, or
// this mirror has not advanced. Use errors.Is.
var ErrAhead = errors.New("stamped too far ahead")

// ErrMirror says that a command came from a mirror that the timeline does not know, or that broke a
// promise. Use errors.Is.
var ErrMirror = errors.New("mirror not to be believed")

// ErrMemory says that the copies of the world that were asked for do not fit into the memory that
// was allowed. Use errors.Is.
var ErrMemory = errors.New("not enough memory")

var errNoWorld = errors.New("timeline: there is no world to start from")
