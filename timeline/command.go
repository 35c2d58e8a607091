package timeline

import (
	"cmp"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A Kind says what a Command is.
type Kind uint8

const (
	// Give is what a player commands for a tick.
	Give Kind = iota
	// Join lets a player in.
	Join
	// Leave lets a player go.
	Leave
	// Promise says that its mirror will stamp nothing more for its tick or an earlier one.
	// Timelines that wait live by promises; the others do without.
	Promise
	// Tell is an input of another kind that the game has declared: a change of a knob or of
	// content, an answer, a message from elsewhere. It is nobody's, so its Player is Nobody.
	Tell
)

func (k Kind) String() string {
	return named(int(k), "kind", "give", "join", "leave", "promise", "tell")
}

// named is one of some names, or a number of something that has none.
func named(i int, what string, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s %d", what, i)
}

// A Command is something that comes into the world from outside, with the stamp that the mirror
// gave it where it came in. By the stamp it has the same place in the order of execution on every
// mirror, whenever it arrives there: first by Tick; within a tick leaves come before joins and
// those before what is told and that before commands, in order of player; and if one player has two
// commands in a tick, or the same is told twice, the one with the higher Origin, then the higher
// Seq, counts.
type Command struct {
	Kind   Kind
	Tick   world.Tick // when it is to happen
	Origin member.ID  // where it came in
	// Seq counts what a mirror stamps, from 1 and without gaps. A Promise has that of the last
	// thing stamped before it, or 0. Timelines that wait for each other tell by it that nothing is
	// missing.
	Seq    uint32
	Player world.Player
	Image  []int32 // of a Give, as Game.Commands describes it; Submit copies it
	// Sight is what the player was shown with a Give, if Shown says that it is known.
	Sight world.Sight
	Shown bool
	// Told and Data are those of a Tell, as world.Inputs.Tell takes them. Data stays as it is.
	Told world.Told
	Data []byte
	// Sent is when a Promise was made, by the clock that mirrors share, or 0 if it does not say.
	// Lockstep learns by it how long the way is.
	Sent time.Duration
}

func (c *Command) String() string {
	return fmt.Sprintf("%v tick %d mirror %d seq %d player %d %v", c.Kind, c.Tick, c.Origin, c.Seq,
		c.Player, c.Image)
}

// A Fate says what became of a command that was submitted.
type Fate uint8

const (
	// OnTime: every copy of the world executes it in its place.
	OnTime Fate = iota
	// Late: the leading world had passed its tick. It will be repaired if that matters; with a
	// timeline that repairs nothing, it happens later than it was meant to.
	Late
	// TooLate: its tick is settled. It was not and will not be executed, and whoever runs the game
	// has to know.
	TooLate
	// Duplicate: it was there already.
	Duplicate
	// Superseded: another command of the same player and tick goes before it.
	Superseded
)

func (f Fate) String() string {
	return named(int(f), "fate", "on time", "late", "too late", "duplicate", "superseded")
}

// A stamp is what decides between two commands of a player for one tick.
type stamp struct {
	tick   world.Tick
	player world.Player
	origin member.ID
	seq    uint32
}

// compare orders stamps by what is executed last.
func (m stamp) compare(o stamp) int {
	return cmp.Or(cmp.Compare(m.tick, o.tick), cmp.Compare(m.origin, o.origin),
		cmp.Compare(m.seq, o.seq))
}

func (c *Command) stamp() stamp { return stamp{c.Tick, c.Player, c.Origin, c.Seq} }
