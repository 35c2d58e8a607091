package crimp

import (
	"encoding/binary"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// The shape of datagrams; docs/protocol.md says the same at length. All numbers
// are big-endian.
//
// The first byte lies in 0x40 to 0x7f, which package conn leaves free, so that one
// socket can carry both.
//
//	1  kind
//	1  low eight bits of the epoch, which names the group key
//	2  tag of the group, so that strangers on the same address cost nothing
//	2  member that made the datagram
//	4  number: the sequence of a data packet, a counter of their own for the others
//	   proof that the member made it: 8 bytes for each other member of the epoch, in the
//	   order of the roster, or one signature of 64 bytes
//	-- encrypted from here --
//	   body, by kind
//	12 tag of AES-GCM under the group key, over all that is before
//
// The body of a lossy packet is the sender's clock in microseconds, 4, and the message.
// A repair is three bytes, kind and the member that repairs, and then the datagram
// of another member as it was.
const (
	kindData    = 0x40
	kindControl = 0x41
	kindParity  = 0x42
	kindRepair  = 0x43
	kindWhisper = 0x44 // to one member; see whisper.go
	kindLossy   = 0x45
	kindConfer  = 0x46 // a whisper from authority to authority
	kindLine    = 0x47 // a whisper of which lines pass; see lines.go
	kindCarry   = 0x48 // a whisper with a datagram for another; see carry.go
	kindDigest  = 0x49 // what members have signed of their streams; see digest.go
	kindBeacon  = 0x4a // sent by multicast alone; see site.go

	kindFirst = 0x40
	kindLast  = 0x7f

	headerSize    = 10
	sealSize      = 12
	tagSize       = 8
	signatureSize = 64
	repairPrefix  = 3
)

// Body of a data packet:
//
//	4  the sender's clock in microseconds
//	1  flags: low four bits how many predecessors are carried, bit 4: the window of parity
//	   follows as one byte, packets in the high five bits, parities in the low three
//	   for each predecessor, the nearest first: length 1 or 2, content
//	   content of this packet
//
// Content is what the group's order asks for (nothing, dependencies or a logical
// clock) and the message.
const (
	dataFixed     = 5
	flagDepth     = 0x0f
	flagWindow    = 0x10
	flagsKnown    = flagDepth | flagWindow
	maxDepth      = 8
	maxWindow     = 31
	maxParity     = 7
	lamportSize   = 8
	dependency    = 6 // member 2, sequence 4
	parityHead    = 4 + 1 + 1
	shardLength   = 2
	maxDependents = 255
)

// Body of a control packet:
//
//	4  the sender's clock in microseconds
//	4  sequence of the last data packet it has sent, 0 for none
//	2  its period in tenths of a millisecond, 0 if it has none
//	1  flags: bit 0: it leaves, and there will be no more; bit 1: a logical clock follows as eight bytes
//	1  number of requests, then each: member 2, first sequence 4, how many more 1, attempt 1
//	1  number of reports, then each: member 2, its clock 4, microseconds since 3, loss 1
const (
	controlFixed   = 4 + 4 + 2 + 1
	requestSize    = 8
	reportSize     = 10
	controlLeaving = 1
	controlLamport = 2
	maxRequests    = 64
	maxReports     = 16
	periodUnit     = 100 * time.Microsecond
	holdMost       = 1<<24 - 1
)

var be = binary.BigEndian

// header is the clear part of a datagram.
type header struct {
	kind   byte
	epoch  byte
	group  uint16
	member member.ID
	number uint32
}

func (h *header) put(b []byte) {
	_ = b[headerSize-1]
	b[0], b[1] = h.kind, h.epoch
	be.PutUint16(b[2:], h.group)
	be.PutUint16(b[4:], uint16(h.member))
	be.PutUint32(b[6:], h.number)
}

// readHeader reads the clear part, and false for what is no packet of ours.
func readHeader(b []byte) (h header, ok bool) {
	if len(b) < headerSize+sealSize {
		return h, false
	}
	return parseHeader(b)
}

// parseHeader reads a header alone.
func parseHeader(b []byte) (h header, ok bool) {
	h = header{b[0], b[1], be.Uint16(b[2:]), member.ID(be.Uint16(b[4:])), be.Uint32(b[6:])}
	return h, (h.kind >= kindData && h.kind <= kindParity || h.kind == kindLossy ||
		h.kind == kindDigest || h.kind == kindBeacon) &&
		h.member != 0 && h.number != 0
}

// Ours reports whether a datagram has the first byte of this protocol, for
// programs that share a socket with package conn.
func Ours(b []byte) bool { return len(b) > 0 && b[0] >= kindFirst && b[0] <= kindLast }

// appendLength writes a length below 32768 in one or two bytes.
func appendLength(b []byte, n int) []byte {
	if n < 0x80 {
		return append(b, byte(n))
	}
	return append(b, 0x80|byte(n>>8), byte(n))
}

func lengthSize(n int) int {
	if n < 0x80 {
		return 1
	}
	return 2
}

// readCarried splits what is carried of a predecessor, with its length, off b.
func readCarried(b []byte) (content, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	n := int(b[0])
	b = b[1:]
	if n >= 0x80 {
		if len(b) == 0 {
			return nil, nil, false
		}
		n = n&0x7f<<8 | int(b[0])
		b = b[1:]
		if n < 0x80 {
			return nil, nil, false // has a shorter form
		}
	}
	if n > len(b) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// dataBody is a data packet's body taken apart. Slices point into the packet.
type dataBody struct {
	clock   uint32
	depth   int
	packets int // of a window of parity, 0 for none
	parity  int
	before  [maxDepth][]byte // contents of predecessors, the nearest first
	content []byte
}

func readData(b []byte, d *dataBody) bool {
	if len(b) < dataFixed || b[4]&^flagsKnown != 0 {
		return false
	}
	d.clock = be.Uint32(b)
	d.depth = int(b[4] & flagDepth)
	window := b[4]&flagWindow != 0
	b = b[dataFixed:]
	d.packets, d.parity = 0, 0
	if window {
		if len(b) == 0 {
			return false
		}
		d.packets, d.parity = int(b[0]>>3), int(b[0]&7)
		if d.packets == 0 || d.parity == 0 {
			return false
		}
		b = b[1:]
	}
	if d.depth > maxDepth {
		return false
	}
	for i := range d.depth {
		var ok bool
		if d.before[i], b, ok = readCarried(b); !ok {
			return false
		}
	}
	d.content = b
	return true
}

// request asks for some packets of one member.
type request struct {
	member  member.ID
	first   Sequence
	more    uint8 // how many follow the first
	attempt uint8
}

// report tells a member when its last datagram came, and how many are lost.
type report struct {
	member member.ID
	clock  uint32
	held   uint32 // microseconds
	loss   uint8  // of 255
}

// controlBody is a control packet's body taken apart.
type controlBody struct {
	clock    uint32
	last     Sequence
	period   uint16
	leaving  bool
	logical  bool
	lamport  uint64
	requests []request
	reports  []report
}

// fields reads or writes a control packet's body. The lists keep their memory.
func (b *controlBody) fields(c *bits.Cursor) {
	var flags byte
	if b.leaving {
		flags |= controlLeaving
	}
	if b.logical {
		flags |= controlLamport
	}
	c.U32(&b.clock)
	c.U32((*uint32)(&b.last))
	c.U16(&b.period)
	c.U8(&flags)
	c.Check(flags&^(controlLeaving|controlLamport) == 0)
	b.leaving, b.logical = flags&controlLeaving != 0, flags&controlLamport != 0
	if b.logical {
		c.U64(&b.lamport)
	}
	for r := range bits.List8(c, &b.requests, maxRequests) {
		c.U16((*uint16)(&r.member))
		c.U32((*uint32)(&r.first))
		c.U8(&r.more)
		c.U8(&r.attempt)
		c.Check(r.first != 0 && r.first <= maxSequence-Sequence(r.more))
	}
	for e := range bits.List8(c, &b.reports, maxReports) {
		c.U16((*uint16)(&e.member))
		c.U32(&e.clock)
		c.U24(&e.held)
		c.U8(&e.loss)
	}
}

func readControl(b []byte, into *controlBody) bool {
	into.lamport = 0
	c := bits.CursorOver(b)
	into.fields(&c)
	return c.Done()
}

func (b *controlBody) append(to []byte) []byte {
	c := bits.CursorTo(to)
	b.fields(&c)
	return c.Data()
}
