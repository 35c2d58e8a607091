package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// Authority is who decides, for one node, about membership: it gives rosters to the
// node's group. This package has two that work together, Coordinator and Applicant; a
// cluster that agrees on its members by other means brings its own.
type Authority interface {
	// Receive takes the datagrams that are not the group's.
	Receive(now time.Duration, batch []link.Datagram)
	// Step does what is due: SetRoster, Begin and Tell of the group.
	Step(now time.Duration, g *Group)
	// Flush appends what is to be sent.
	Flush(now time.Duration, out []link.Datagram) []link.Datagram
	// Deadline is when Step and Flush should be called next, at the latest.
	Deadline() time.Duration
	// Leave begins to take the node out of the group, or ends the group.
	Leave(now time.Duration, g *Group)
	// Bytes is how many bytes it has handed out.
	Bytes() uint64
}

// Provider is an Authority that hands out states: Node.ProvideState goes to it.
type Provider interface {
	Provide(now time.Duration, g *Group, m member.ID, state []byte) error
}

// Confidant is an Authority that talks with those of other nodes by Group.Confer: what
// they say comes here. The bytes are good for the time of the call.
type Confidant interface {
	Hear(now time.Duration, g *Group, from member.ID, b []byte)
}

// Tell adds an event to those that Events hands out, for authorities that have something
// to say.
func (g *Group) Tell(e Event) { g.emit(e) }

// Messages between coordinator and members, each in one reliable message; the first
// byte tells which.
//
//	join         member:      version 1, order 1, history in microseconds 4, card
//	denied       coordinator: reason 1
//	established  coordinator: member 2
//	roster       coordinator: a roster
//	start        coordinator: state follows 1, logical clock 8, cuts 2, then each: member 2, sequence 4, also 2, and those 4 each
//	leave        member:      last sequence 4
//	dismissed    coordinator: reason 1
//
// The state itself is a bulk transfer with stateTag.
const (
	messageJoin        = 1
	messageDenied      = 2
	messageEstablished = 3
	messageRoster      = 4
	messageStart       = 5
	messageLeave       = 6
	messageDismissed   = 7

	membershipVersion = 1
	stateTag          = 0x43524d50 // "CRMP"
)

// joinRequest is what a candidate says of itself.
type joinRequest struct {
	order   Order
	history time.Duration
	card    Card
}

func (j *joinRequest) append(b []byte) []byte {
	b = append(b, messageJoin, membershipVersion, byte(j.order))
	b = be.AppendUint32(b, uint32(j.history/time.Microsecond))
	return j.card.append(b)
}

func readJoin(b []byte) (j joinRequest, ok bool) {
	s := scan{b: b}
	kind, version := s.take(1)[0], s.take(1)[0]
	j.order = Order(s.take(1)[0])
	j.history = time.Duration(be.Uint32(s.take(4))) * time.Microsecond
	j.card = s.card()
	return j, !s.bad && len(s.b) == 0 && kind == messageJoin && version == membershipVersion
}

func (start *Start) append(b []byte, state bool) []byte {
	b = append(b, messageStart, 0)
	if state {
		b[len(b)-1] = 1
	}
	return start.Append(b)
}

// Append writes where a newcomer takes up, for authorities that carry it by themselves.
func (start *Start) Append(b []byte) []byte {
	b = be.AppendUint64(b, start.Logical)
	b = be.AppendUint16(b, uint16(len(start.Cuts)))
	for _, c := range start.Cuts {
		b = be.AppendUint16(b, uint16(c.Member))
		b = be.AppendUint32(b, uint32(c.Seq))
		b = be.AppendUint16(b, uint16(len(c.Also)))
		for _, s := range c.Also {
			b = be.AppendUint32(b, uint32(s))
		}
	}
	return b
}

func readStart(b []byte) (state bool, start Start, ok bool) {
	if len(b) < 2 || b[0] != messageStart || b[1] > 1 {
		return false, start, false
	}
	start, err := ReadStart(b[2:])
	return b[1] == 1, start, err == nil
}

// ReadStart reads what Start.Append wrote.
func ReadStart(b []byte) (start Start, err error) {
	s := scan{b: b}
	start.Logical = be.Uint64(s.take(8))
	n := int(be.Uint16(s.take(2)))
	if s.bad || n > maxCuts {
		return start, errMessage
	}
	for range n {
		c := Cut{Member: member.ID(be.Uint16(s.take(2))), Seq: Sequence(be.Uint32(s.take(4)))}
		also := int(be.Uint16(s.take(2)))
		if s.bad || also*4 > len(s.b) || c.Seq > maxSequence {
			return start, errMessage
		}
		for range also {
			c.Also = append(c.Also, Sequence(be.Uint32(s.take(4))))
		}
		start.Cuts = append(start.Cuts, c)
	}
	if s.bad || len(s.b) != 0 {
		return start, errMessage
	}
	return start, nil
}

// maxCuts leaves room for members that are gone.
const maxCuts = 4 * MaxMembers

// Append writes a roster, for authorities that carry it by themselves. It holds the group's
// key: send it in secret.
func (r *Roster) Append(b []byte) []byte { return r.append(b) }

// ReadRoster reads what Roster.Append wrote, and says what is wrong with it.
func ReadRoster(b []byte) (Roster, error) { return readRoster(b) }

// Append writes a card.
func (c *Card) Append(b []byte) []byte { return c.append(b) }

// ReadCard reads what Card.Append wrote, and returns what follows it.
func ReadCard(b []byte) (c Card, rest []byte, err error) {
	s := scan{b: b}
	if c = s.card(); s.bad {
		return c, nil, errMessage
	}
	return c, s.b, nil
}

// Good reports whether the keys of a card can be used with this identity.
func (id *Identity) Good(c *Card) bool {
	_, err := id.shared(c)
	return err == nil
}
