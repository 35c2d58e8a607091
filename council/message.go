package council

import (
	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// Messages between members. All begin with
//
//	1 version  1 kind  4 epoch
//
// where epoch is the one to be decided, except for a beat, in which it is the newest that
// the sender knows, and an out, in which it is the one that lacks the receiver. A ballot is
// 4 round, 2 member. Then:
//
//	beat      1 flags, ballot open here, or zero, 2 milliseconds since the receiver was last heard
//	prepare   ballot, 2 suspects, 2 each
//	promise   ballot, ballot accepted here, or zero, 4 length of that decree, the decree, report
//	refuse    ballot that is refused, ballot promised here, 1 flags
//	accept    ballot, decree
//	accepted  ballot
//	decided   decree
//	out       note
const (
	version = 1

	kindBeat     = 1
	kindPrepare  = 2
	kindPromise  = 3
	kindRefuse   = 4
	kindAccept   = 5
	kindAccepted = 6
	kindDecided  = 7
	kindOut      = 8
)

// Flags of a beat, and of a refusal.
const (
	flagDoubt  = 1 // the leader is not heard here
	flagCutOff = 2 // a quorum is not heard here
	flagsKnown = flagDoubt | flagCutOff

	refuseAlive = 1 // the leader is heard here
)

// maxNote bounds what one that is out is told.
const maxNote = 256

// ballot names an attempt to decide. Higher ones prevail.
type ballot struct {
	round uint32
	id    member.ID
}

func (b ballot) none() bool { return b.round == 0 }

func (b ballot) less(c ballot) bool {
	return b.round < c.round || b.round == c.round && b.id < c.id
}

// message is one taken apart. Slices point into the bytes.
type message struct {
	kind     uint8
	epoch    uint32
	flags    uint8
	age      uint16 // beat
	ballot   ballot
	other    ballot // promise: accepted; refuse: promised
	suspects []member.ID
	decree   []byte
	rest     []byte // promise: report; out: note
}

func (b *ballot) fields(c *bits.Cursor) {
	c.U32(&b.round)
	c.U16((*uint16)(&b.id))
}

// fields reads or writes a message. There is one form of each.
func (m *message) fields(c *bits.Cursor) {
	v := uint8(version)
	c.U8(&v)
	c.U8(&m.kind)
	c.U32(&m.epoch)
	c.Check(v == version && m.epoch != 0)
	switch m.kind {
	case kindBeat:
		c.U8(&m.flags)
		m.ballot.fields(c)
		c.U16(&m.age)
		c.Check(m.flags&^flagsKnown == 0)
		return
	case kindDecided:
		c.Rest(&m.decree)
		c.Check(len(m.decree) > 0)
		return
	case kindOut:
		c.Rest(&m.rest)
		c.Check(len(m.rest) <= maxNote)
		return
	}
	m.ballot.fields(c)
	c.Check(!m.ballot.none())
	switch m.kind {
	case kindPrepare:
		ids(c, &m.suspects)
		c.Check(rising(m.suspects))
	case kindPromise:
		m.other.fields(c)
		n := uint32(len(m.decree))
		c.U32(&n)
		c.Bytes(&m.decree, int(n))
		c.Rest(&m.rest)
		c.Check(m.other.none() == (n == 0) && len(m.rest) <= MaxReport)
	case kindRefuse:
		m.other.fields(c)
		c.U8(&m.flags)
		c.Check(m.flags&^refuseAlive == 0)
	case kindAccept:
		c.Rest(&m.decree)
		c.Check(len(m.decree) > 0)
	case kindAccepted:
	default:
		c.Fail()
	}
}

func (m *message) append(b []byte) []byte {
	c := bits.CursorTo(b)
	m.fields(&c)
	return c.Data()
}

// readMessage takes a message apart.
func readMessage(b []byte) (m message, ok bool) {
	c := bits.CursorOver(b)
	m.fields(&c)
	return m, c.Done()
}
