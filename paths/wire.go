package paths

import (
	"crypto/hmac"
	"encoding/binary"
	"errors"

	"github.com/coeval-dev/coeval/member"
)

// Datagrams of our own; docs/protocol.md says the same at length. All numbers are big-endian.
//
// A probe, an ask or the answer to one, which has the number of the ask:
//
//	1  0x20
//	1  flags
//	2  member that sends it
//	2  member it is for
//	8  number
//	16 proof
//
// A datagram that a member is asked to carry:
//
//	1  0x21
//	1  how many more members may carry it
//	2  member that sends it
//	2  member that it is sent to
//	8  number
//	2  member that made the datagram
//	2  member that the datagram is for
//	16 proof, over what stands before it and behind it
//	   the datagram
//
// A proof is the first 16 bytes of HMAC-SHA-256 under the key of the two who send and receive.
const (
	kindProbe = 0x20
	kindCarry = 0x21

	// ProbeSize is how long a probe is.
	ProbeSize = probeProof + proofSize
	// CarryHead is how much longer a datagram is that a member carries.
	CarryHead = carryProof + proofSize
	// RelayHead is how much longer a datagram is that the relay carries.
	RelayHead = 2
	// Room is how much shorter a datagram of a connection between members has to be than what the
	// relay takes in one message, since the relay may carry to who carries.
	Room = CarryHead + RelayHead

	probeProof = 14
	carryProof = 18
	proofSize  = 16
)

// Flags of a probe.
const (
	flagAnswer = 1
	flagDeaf   = 2 // of an ask: the one who asks hears nothing of the one asked
	flagsKnown = flagAnswer | flagDeaf
)

// maxCarriers is how many members may carry a datagram, one after the other, and maxHops how many
// steps it then takes. The relay is no member, and counts as a step.
const (
	maxHops     = 4
	maxCarriers = maxHops - 1
)

var be = binary.BigEndian

// Ours reports whether a datagram is one that this package makes.
func Ours(b []byte) bool { return len(b) > 0 && (b[0] == kindProbe || b[0] == kindCarry) }

// head is what probes and carried datagrams begin with.
type head struct {
	kind     byte
	second   byte // flags, or how many more may carry it
	from, to member.ID
	number   uint64
}

func (h *head) append(b []byte) []byte {
	b = append(b, h.kind, h.second)
	b = be.AppendUint16(b, uint16(h.from))
	b = be.AppendUint16(b, uint16(h.to))
	return be.AppendUint64(b, h.number)
}

// readHead reads what stands before the proof, and says whether the size and the values are those
// of a datagram of ours.
func readHead(b []byte) (h head, ok bool) {
	if len(b) < ProbeSize {
		return h, false
	}
	h = head{
		kind: b[0], second: b[1], from: member.ID(be.Uint16(b[2:])),
		to: member.ID(be.Uint16(b[4:])), number: be.Uint64(b[6:])}
	switch h.kind {
	case kindProbe:
		ok = len(b) == ProbeSize && h.second&^flagsKnown == 0 && h.second != flagsKnown
	case kindCarry:
		ok = len(b) > CarryHead && h.second <= maxCarriers
	}
	return h, ok && h.number != 0 && h.from != h.to
}

// prove appends the proof of a datagram whose parts before it are b, from first on, and behind it
// tail.
func (q *peer) prove(b []byte, first int, tail []byte) []byte {
	return append(b, q.sum(b[first:], tail)[:proofSize]...)
}

// proven reports whether the member that shares the peer's key with us made a datagram. The proof
// stands at a place.
func (q *peer) proven(b []byte, at int) bool {
	sum := q.sum(b[:at], b[at+proofSize:])
	return hmac.Equal(sum[:proofSize], b[at:at+proofSize])
}

func (q *peer) sum(parts, tail []byte) []byte {
	q.mac.Reset()
	q.mac.Write(parts)
	q.mac.Write(tail)
	q.digest = q.mac.Sum(q.digest[:0])
	return q.digest
}

// A window tells numbers that came from those that did not, among the latest.
type window struct {
	top  uint64
	came [windowWords]uint64 // bit n%windowBits
}

const (
	windowWords = 8
	windowBits  = windowWords * 64
)

// take notes a number, and is false if it came before or is too old to tell.
func (w *window) take(n uint64) bool {
	if n > w.top {
		for k := w.top + 1; k <= n && k <= w.top+windowBits; k++ {
			w.came[k%windowBits/64] &^= 1 << (k % 64)
		}
		if n > w.top+windowBits {
			w.came = [windowWords]uint64{}
		}
		w.top = n
	}
	bit := &w.came[n%windowBits/64]
	if n+windowBits <= w.top || *bit>>(n%64)&1 == 1 {
		return false
	}
	*bit |= 1 << (n % 64)
	return true
}

// Carried is a datagram that goes over the relay: to a member, or from one.
type Carried struct {
	Member member.ID
	Data   []byte
}

// ErrCarried is for a message that holds no carried datagram.
var ErrCarried = errors.New("paths: no member and datagram in what the relay carried")

// Append writes what goes in a message to the relay or from it: the member in two bytes, and the
// datagram.
func (c Carried) Append(b []byte) []byte {
	return append(be.AppendUint16(b, uint16(c.Member)), c.Data...)
}

// ReadCarried reads a message that Append wrote. Data lies in b.
func ReadCarried(b []byte) (Carried, error) {
	if len(b) <= RelayHead {
		return Carried{}, ErrCarried
	}
	c := Carried{Member: member.ID(be.Uint16(b)), Data: b[RelayHead:]}
	if c.Member == 0 || c.Member == RelayID {
		return Carried{}, ErrCarried
	}
	return c, nil
}
