package conn

import "encoding/binary"

// The shape of packets; docs/protocol.md says the same at length. All numbers
// are big-endian.
//
// The first bit of a datagram tells data packets, which are nearly all there
// are, from the five of the handshake.
const (
	wireVersion = 2

	kindRequest   = 1
	kindChallenge = 2
	kindResponse  = 3
	kindAccept    = 4
	kindRefusal   = 5
	kindData      = 0x80
)

// A data packet:
//
//	3  1aaakiii iiiiiiii iiiiiiii
//	   a: form of the acknowledgement
//	   k: key phase, the last bit of the number of the keys, which are renewed
//	   i: identifier of the connection, as the receiver chose it
//	2  low sixteen bits of the packet's number
//	-- encrypted from here --
//	   acknowledgement: none, or 3 bytes and as many bits as the form says
//	   frames
//	12 tag
//
// A tag of 96 bits is the shortest that NIST SP 800-38D allows without further
// conditions. It is what leaves room for the rest within 24 bytes.
const (
	dataHeader = 5
	tagSize    = 12
	dataMin    = dataHeader + tagSize

	ackFormShift = 4
	ackFormMask  = 0x70
	keyPhase     = 0x08 // in the first byte

	// udpOverhead is what IPv4 and UDP add. The rate controller counts it, because a
	// modem does; the ledger does not, because the link does not.
	udpOverhead = 28
)

// Forms of acknowledgement: how many bits follow it about the packets before.
const (
	ackNone  = 0 // nothing was received yet
	ackClean = 1 // no bits: all of the 64 packets before were received
	// 2 and up: 8, 16, 32, 64, 128 or 256 bits follow
	ackBits1 = 2
	ackForms = 8

	ackFixed = 3 // two bytes of number, one of delay
	// ackRoomMax is what the layer above must always be able to leave: the forms up
	// to 128 bits. The longest form is used only where there is room to spare.
	ackRoomMax = ackFixed + 16

	seenBits = 256
)

// ackBytes is how many bytes of bits each form has.
var ackBytes = [ackForms]int{0, 0, 1, 2, 4, 8, 16, 32}

// A frame:
//
//	1  Lttt cccc   L: a length follows; without it the frame ends with the packet
//	              ttt: type, cccc: channel, or what the type makes of it
//	1-2 length of the payload, if L: 0xxxxxxx or 1xxxxxxx xxxxxxxx
//	   prefix, whose size the type tells
//	   payload
const (
	frameLength = 0x80

	frameControl    = 0 // cccc: which control frame
	frameUnreliable = 1 // from here on in the order of modes
	frameNewest     = 2
	frameOrdered    = 3 // prefix: message number 2
	frameUnordered  = 4 // prefix: message number 2
	frameFragment   = 5 // prefix: message number 2, index 1, last index 1
	// prefix: transfer 1, chunk 3, and if cccc is 1: size 4, chunk size 2, tag 4
	frameBulk = 6

	reliablePrefix  = 2
	fragmentPrefix  = 4
	bulkPrefix      = 4
	bulkStartPrefix = 14
	bulkStart       = 1
	maxPrefix       = bulkStartPrefix
)

// frame is the type of the frames that carry whole messages of a mode.
func (m Mode) frame() byte { return frameUnreliable + byte(m) }

// Control frames.
const (
	controlPing       = 0 // asks for an acknowledgement; no payload
	controlClock      = 1 // 8: sender's clock in microseconds
	controlChallenge  = 2 // 8: prove that you can be reached where this was sent to
	controlAnswer     = 3 // 8: the same eight bytes, sent from there
	controlClose      = 4 // 1: reason; the rest: a note
	controlTicket     = 5 // a token in binary form
	controlBulkCancel = 6 // 1: transfer; 1: whose, 0 the sender's of this frame, 1 the receiver's
)

// maxChannels is how many channels the four bits of a frame's header can name.
const maxChannels = 16

// identifier is how one side wants to be addressed in data packets: 19 bits. The
// server puts a slot's index in the low fourteen and a check in the rest, so that
// most stale and guessed packets are dropped before they cost a decryption.
type identifier uint32

const (
	identifierBits = 19
	slotBits       = 14
	maxSlots       = 1 << slotBits
)

// putHeader writes the first five bytes of a data packet.
func putHeader(b []byte, form int, phase byte, id identifier, number uint32) {
	_ = b[4]
	b[0] = kindData | byte(form<<ackFormShift) | phase | byte(id>>16)
	b[1], b[2] = byte(id>>8), byte(id)
	b[3], b[4] = byte(number>>8), byte(number)
}

// headerIdentifier reads whom a data packet is for.
func headerIdentifier(b []byte) identifier {
	return identifier(getUint24(b)) & (1<<identifierBits - 1)
}

// expand finds the packet number nearest to one already known whose low sixteen
// bits are as given. It returns false for numbers below zero.
func expand(near uint32, low uint16) (uint32, bool) {
	n := int64(near) + int64(int16(low-uint16(near)))
	return uint32(n), n >= 0 && n <= maxNumber
}

// readFrame splits the first frame off b. The prefix is still in front of the
// payload of the returned body when the type has one; rest is what follows.
func readFrame(b []byte) (head byte, body, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, nil, false
	}
	head = b[0]
	b = b[1:]
	prefix := prefixSize(head)
	if prefix < 0 {
		return 0, nil, nil, false
	}
	if head&frameLength == 0 {
		return head, b, nil, len(b) >= prefix
	}
	if len(b) == 0 {
		return 0, nil, nil, false
	}
	n := int(b[0])
	b = b[1:]
	if n&0x80 != 0 {
		if len(b) == 0 {
			return 0, nil, nil, false
		}
		n = n&0x7f<<8 | int(b[0])
		b = b[1:]
	}
	n += prefix
	if n > len(b) {
		return 0, nil, nil, false
	}
	return head, b[:n], b[n:], true
}

// prefixSizes are how many bytes of a frame's body belong to the protocol, by type; -1 where there
// is no such frame.
var prefixSizes = [8]int{
	frameOrdered: reliablePrefix, frameUnordered: reliablePrefix, frameFragment: fragmentPrefix,
	frameBulk: bulkPrefix, 7: -1,
}

func prefixSize(head byte) int {
	kind, which := head>>4&7, head&15
	switch {
	case kind != frameBulk || which == 0:
		return prefixSizes[kind]
	case which == bulkStart:
		return bulkStartPrefix
	}
	return -1
}

func lengthSize(n int) int {
	if n < 0x80 {
		return 1
	}
	return 2
}

func putUint24(b []byte, v uint32) {
	_ = b[2]
	b[0], b[1], b[2] = byte(v>>16), byte(v>>8), byte(v)
}

func getUint24(b []byte) uint32 {
	_ = b[2]
	return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
}

// Delays travel as one byte: a small floating-point number with a unit of 64
// microseconds, exact to one part in 32, good to a quarter of a second.
const (
	delayUnit    = 64 // microseconds
	delayUnknown = 255
)

func packDelay(us int64) byte {
	v := (us + delayUnit/2) / delayUnit
	if v < 0 {
		v = 0
	}
	e := 0
	for v >= 64 {
		v >>= 1
		e++
	}
	if v >= 32 {
		e++
		v -= 32
	}
	if e > 7 || e == 7 && v == 31 {
		return delayUnknown
	}
	return byte(e<<5) | byte(v)
}

// unpackDelay returns microseconds, and false where the sender could not say.
func unpackDelay(b byte) (int64, bool) {
	if b == delayUnknown {
		return 0, false
	}
	v := int64(b & 31)
	if e := b >> 5; e > 0 {
		v = (v + 32) << (e - 1)
	}
	return v * delayUnit, true
}

var be = binary.BigEndian
