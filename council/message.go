package council

import "github.com/coeval-dev/coeval/member"

// Messages between members. All begin with
//
//	1 version  1 kind  4 epoch
//
// where epoch is the one to be decided, except for a beat, in which it is the newest that
// the sender knows, and an out, in which it is the one that lacks the receiver. A ballot is
// 4 round, 2 member. Then:
//
//	beat      1 flags, ballot open here, or zero
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
	kinds        = 9
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
	ballot   ballot
	other    ballot // promise: accepted; refuse: promised
	suspects []member.ID
	decree   []byte
	rest     []byte // promise: report; out: note
}

func (s *scan) ballot() ballot { return ballot{s.uint32(), member.ID(s.uint16())} }

func appendBallot(b []byte, x ballot) []byte {
	return be.AppendUint16(be.AppendUint32(b, x.round), uint16(x.id))
}

func (m *message) append(b []byte) []byte {
	b = append(b, version, m.kind)
	b = be.AppendUint32(b, m.epoch)
	switch m.kind {
	case kindBeat:
		b = appendBallot(append(b, m.flags), m.ballot)
	case kindPrepare:
		b = appendBallot(b, m.ballot)
		b = be.AppendUint16(b, uint16(len(m.suspects)))
		for _, id := range m.suspects {
			b = be.AppendUint16(b, uint16(id))
		}
	case kindPromise:
		b = appendBallot(appendBallot(b, m.ballot), m.other)
		b = be.AppendUint32(b, uint32(len(m.decree)))
		b = append(append(b, m.decree...), m.rest...)
	case kindRefuse:
		b = append(appendBallot(appendBallot(b, m.ballot), m.other), m.flags)
	case kindAccept:
		b = append(appendBallot(b, m.ballot), m.decree...)
	case kindAccepted:
		b = appendBallot(b, m.ballot)
	case kindDecided:
		b = append(b, m.decree...)
	case kindOut:
		b = append(b, m.rest...)
	}
	return b
}

// readMessage takes a message apart. There is one form of each.
func readMessage(b []byte) (m message, ok bool) {
	s := scan{b: b}
	if s.uint8() != version {
		return m, false
	}
	m.kind, m.epoch = s.uint8(), s.uint32()
	if s.bad || m.kind == 0 || m.kind >= kinds || m.epoch == 0 {
		return m, false
	}
	good := true
	switch m.kind {
	case kindBeat:
		m.flags, m.ballot = s.uint8(), s.ballot()
		good = m.flags&^flagsKnown == 0
	case kindPrepare:
		m.ballot, m.suspects = s.ballot(), s.ids()
		good = !m.ballot.none() && rising(m.suspects)
	case kindPromise:
		m.ballot, m.other = s.ballot(), s.ballot()
		m.decree = s.take(int(s.uint32()))
		m.rest, s.b = s.b, nil
		good = !m.ballot.none() && m.other.none() == (len(m.decree) == 0) && len(m.rest) <= MaxReport
	case kindRefuse:
		m.ballot, m.other, m.flags = s.ballot(), s.ballot(), s.uint8()
		good = !m.ballot.none() && m.flags&^refuseAlive == 0
	case kindAccept:
		m.ballot = s.ballot()
		m.decree, s.b = s.b, nil
		good = !m.ballot.none() && len(m.decree) > 0
	case kindAccepted:
		m.ballot = s.ballot()
		good = !m.ballot.none()
	case kindDecided:
		m.decree, s.b = s.b, nil
		good = len(m.decree) > 0
	case kindOut:
		m.rest, s.b = s.b, nil
		good = len(m.rest) <= maxNote
	}
	return m, good && !s.bad && len(s.b) == 0
}
