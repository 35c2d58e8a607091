package membership

import (
	"bytes"
	"crypto/sha256"
	"time"

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
//
// The digest is the beginning of the SHA-256 of the whole message. So when a message is said
// again because it was not answered, its parts make up for those that were lost before.
const (
	talkWhole  = 1
	talkPart   = 2
	talkBegun  = 3
	talkLeave  = 4
	talkClosed = 5

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
	digest := sha256.Sum256(b)
	for i := range parts {
		m.talk = append(append(m.talk[:0], talkPart), digest[:8]...)
		m.talk = append(m.talk, byte(i), byte(parts))
		m.talk = append(m.talk, b[i*size:min((i+1)*size, len(b))]...)
		_ = m.g.Confer(m.now, to, m.talk)
	}
}

// puzzle is a message that comes in parts.
type puzzle struct {
	from   member.ID
	digest [8]byte
	parts  [][]byte
	have   int
	at     time.Duration // when its last part came
}

// maxPuzzles bounds the messages that are put together at a time.
const maxPuzzles = 16

// fit adds a part, and returns the message if it is complete.
func (m *Membership) fit(from member.ID, b []byte) []byte {
	if len(b) < partHead {
		return nil
	}
	digest, index, parts := [8]byte(b[1:9]), int(b[9]), int(b[10])
	if parts < 2 || index >= parts {
		return nil
	}
	var p *puzzle
	for _, q := range m.puzzles {
		if q.from == from && q.digest == digest && len(q.parts) == parts {
			p = q
		}
	}
	if p == nil {
		if len(m.puzzles) >= maxPuzzles {
			oldest := 0
			for i, q := range m.puzzles {
				if q.at < m.puzzles[oldest].at {
					oldest = i
				}
			}
			m.puzzles = append(m.puzzles[:oldest], m.puzzles[oldest+1:]...)
		}
		p = &puzzle{from: from, digest: digest, parts: make([][]byte, parts)}
		m.puzzles = append(m.puzzles, p)
	}
	p.at = m.now
	if p.parts[index] == nil {
		p.parts[index] = bytes.Clone(b[partHead:])
		p.have++
	}
	if p.have < parts {
		return nil
	}
	for i, q := range m.puzzles {
		if q == p {
			m.puzzles = append(m.puzzles[:i], m.puzzles[i+1:]...)
			break
		}
	}
	whole := bytes.Join(p.parts, nil)
	if sum := sha256.Sum256(whole); [8]byte(sum[:8]) != digest {
		return nil
	}
	return whole
}

// drbg draws from the seed: SHA-256 over a counter.
type drbg struct {
	seed  [32]byte
	count uint64
	left  []byte
}

// Read makes it an io.Reader. It never fails.
func (d *drbg) Read(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if len(d.left) == 0 {
			d.count++
			block := sha256.Sum256(be.AppendUint64(append([]byte("coeval membership 1"), d.seed[:]...), d.count))
			d.left = block[:]
		}
		k := copy(b, d.left)
		b, d.left = b[k:], d.left[k:]
	}
	return n, nil
}

func (d *drbg) uint64() uint64 {
	var b [8]byte
	_, _ = d.Read(b[:])
	return be.Uint64(b[:])
}
