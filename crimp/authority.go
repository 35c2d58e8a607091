package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// Authority is who decides, for one node, about membership: it gives rosters to the node's
// group. Package membership has one, in which the members decide by majority.
type Authority interface {
	// Receive takes the datagrams that are not the group's.
	Receive(now time.Duration, batch []link.Datagram)
	// Hear takes what the authority of another node says by Group.Confer. The bytes are good for
	// the time of the call.
	Hear(now time.Duration, g *Group, from member.ID, b []byte)
	// Step does what is due: SetRoster, Begin and Tell of the group.
	Step(now time.Duration, g *Group)
	// Flush appends what is to be sent.
	Flush(now time.Duration, out []link.Datagram) []link.Datagram
	// Deadline is when Step and Flush should be called next, at the latest.
	Deadline() time.Duration
	// Provide gives a newcomer the state, for Node.ProvideState.
	Provide(now time.Duration, g *Group, m member.ID, state []byte) error
	// Leave begins to take the node out of the group, or ends the group.
	Leave(now time.Duration, g *Group)
	// Bytes is how many bytes it has handed out.
	Bytes() uint64
}

// Tell adds an event to those that Events hands out, for authorities that have something
// to say.
func (g *Group) Tell(e Event) { g.emit(e) }
