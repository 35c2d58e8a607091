package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/link"
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
	s := scan{b: b}
	kind, flag := s.take(1)[0], s.take(1)[0]
	start.Logical = be.Uint64(s.take(8))
	n := int(be.Uint16(s.take(2)))
	if kind != messageStart || flag > 1 || s.bad || n > MaxMembers {
		return false, start, false
	}
	for range n {
		c := Cut{Member: MemberID(be.Uint16(s.take(2))), Seq: Sequence(be.Uint32(s.take(4)))}
		also := int(be.Uint16(s.take(2)))
		if s.bad || also*4 > len(s.b) || c.Seq > maxSequence {
			return false, start, false
		}
		for range also {
			c.Also = append(c.Also, Sequence(be.Uint32(s.take(4))))
		}
		start.Cuts = append(start.Cuts, c)
	}
	return flag == 1, start, !s.bad && len(s.b) == 0
}
