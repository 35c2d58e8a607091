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
//	promise   ballot, claim, 4 length of the decree that it is about, the decree, signature, report
//	refuse    ballot that is refused, ballot promised here, 1 flags
//	accept    ballot, 4 length of the decree, the decree, signature, 2 promises, each: member 2,
//	          claim, signature
//	accepted  ballot, signature
//	decided   link, note: the sender has put the decree in force
//	held      link, note: the sender knows of its votes
//	out       note
//
// A claim is the ballot accepted before, or zero; if it is not zero, 32 digest of the decree, 2
// member that signed for it, signature. A signature is 64 bytes. See proof.go for what is signed.
const (
	version = 2

	kindBeat     = 1
	kindPrepare  = 2
	kindPromise  = 3
	kindRefuse   = 4
	kindAccept   = 5
	kindAccepted = 6
	kindDecided  = 7
	kindOut      = 8
	kindHeld     = 9
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
	other    ballot // refuse: promised
	suspects []member.ID
	claim    claim // promise
	decree   []byte
	sign     Signature
	promises []promised // accept
	link     Link       // decided
	rest     []byte     // promise: report; decided, out: note
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
	case kindDecided, kindHeld:
		m.link.fields(c)
		c.Rest(&m.rest)
		c.Check(len(m.rest) <= maxNote)
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
		m.claim.fields(c)
		m.value(c)
		c.Raw(m.sign[:])
		c.Rest(&m.rest)
		c.Check(m.claim.ballot.none() == (len(m.decree) == 0) && len(m.rest) <= MaxReport)
	case kindRefuse:
		m.other.fields(c)
		c.U8(&m.flags)
		c.Check(m.flags&^refuseAlive == 0)
	case kindAccept:
		m.value(c)
		c.Raw(m.sign[:])
		before := member.ID(0)
		for p := range bits.List16(c, &m.promises, MaxMembers) {
			p.fields(c)
			c.Check(p.from > before)
			before = p.from
		}
		c.Check(len(m.decree) > 0)
	case kindAccepted:
		c.Raw(m.sign[:])
	default:
		c.Fail()
	}
}

// known is the newest epoch that the sender of a message shows that it knows.
func (m *message) known() uint32 {
	if m.kind == kindBeat || m.kind == kindOut {
		return m.epoch
	}
	return m.epoch - 1
}

// value is the decree that a promise or a proposal is about.
func (m *message) value(c *bits.Cursor) {
	n := uint32(len(m.decree))
	c.U32(&n)
	c.Bytes(&m.decree, int(min(n, 1<<30)))
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
