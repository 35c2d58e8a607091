package membership

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// What members say to each other by Group.Confer; the first byte tells which.
//
//	whole   a message of the council
//	part    8 digest, 1 index, 1 parts: one part of a message of the council; all but the
//	        last are of the same size
//	begun   this member has the state, and may vote from now on
//	leave   4 last packet: this member wants to go
//	closed  the überserver is the last that has the game, and ends it
//	join    8 client, 1 witness, card: one that does not reach the überserver asks to be let in
//	evidence  two digests or packets that a member has signed and that contradict each other
//	sign    somebody was told something else than was signed: packets are to be signed
//
// The digest is the beginning of the SHA-256 of the whole message. So when a message is said
// again because it was not answered, its parts make up for those that were lost before.
const (
	talkWhole  = 1
	talkPart   = 2
	talkBegun  = 3
	talkLeave  = 4
	talkClosed = 5
	talkJoin   = 6

	talkEvidence = 7
	talkSign     = 8

	partHead = 1 + 8 + 1 + 1
	maxParts = 255
)

// say sends a message of the council, in parts if it must be.
func (m *Membership) say(to member.ID, b []byte) {
	room := m.g.MaxWhisper()
	if 1+len(b) <= room {
		m.talk = append(append(m.talk[:0], talkWhole), b...)
		_ = m.g.Confer(m.now, to, m.talk)
		return
	}
	size := room - partHead
	parts := (len(b) + size - 1) / size
	if parts > maxParts {
		return // larger than any decree of as many members as there can be
	}
	sum := sha256.Sum256(b)
	for i := range parts {
		p := part{[8]byte(sum[:8]), uint8(i), uint8(parts), b[i*size : min((i+1)*size, len(b))]}
		_ = m.g.Confer(m.now, to, write(talkPart, &p))
	}
}

func (l *leaver) fields(c *bits.Cursor) { c.U32((*uint32)(&l.last)) }

// part is one of the parts of a message.
type part struct {
	digest       [8]byte
	index, parts uint8
	data         []byte
}

func (p *part) fields(c *bits.Cursor) {
	c.Raw(p.digest[:])
	c.U8(&p.index)
	c.U8(&p.parts)
	c.Check(p.parts >= 2 && p.index < p.parts)
	c.Rest(&p.data)
}

// inParts is a message that comes in parts.
type inParts struct {
	from   member.ID
	digest [8]byte
	parts  [][]byte
	have   int
	at     time.Duration // when its last part came
}

// maxInParts bounds the messages that are put together at a time.
const maxInParts = 16

// assemble adds a part, and returns the message if it is complete.
func (m *Membership) assemble(from member.ID, b []byte) []byte {
	var p part
	if !read(b, &p) {
		return nil
	}
	at := slices.IndexFunc(m.inParts, func(w *inParts) bool {
		return w.from == from && w.digest == p.digest && len(w.parts) == int(p.parts)
	})
	if at < 0 {
		if len(m.inParts) >= maxInParts {
			oldest := slices.MinFunc(m.inParts,
				func(a, b *inParts) int { return cmp.Compare(a.at, b.at) })
			m.inParts = slices.DeleteFunc(m.inParts, func(w *inParts) bool { return w == oldest })
		}
		at = len(m.inParts)
		m.inParts = append(m.inParts,
			&inParts{from: from, digest: p.digest, parts: make([][]byte, p.parts)})
	}
	w := m.inParts[at]
	w.at = m.now
	if w.parts[p.index] == nil {
		w.parts[p.index] = bytes.Clone(p.data)
		w.have++
	}
	if w.have < len(w.parts) {
		return nil
	}
	m.inParts = slices.Delete(m.inParts, at, at+1)
	whole := bytes.Join(w.parts, nil)
	if sum := sha256.Sum256(whole); [8]byte(sum[:8]) != p.digest {
		return nil
	}
	return whole
}
