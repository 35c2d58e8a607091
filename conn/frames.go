package conn

import "time"

// frames is a packet in the making. The last frame of a packet carries no
// length, so each frame is held back until it is known whether another follows.
type frames struct {
	conn    *Conn
	buf     []byte // reserved for the whole packet
	n       int    // written so far
	limit   int    // where the tag begins at the latest
	form    int
	packet  *sentPacket
	elicits bool
	empty   bool // no frame yet
	bulk    bool // carries a chunk of a transfer
	compose bool // the layer above is writing its message

	held        bool
	head        byte
	prefix      [maxPrefix]byte
	prefixSize  int
	payload     []byte
	heldPurpose Purpose
}

// begin opens a packet on c, with an acknowledgement of at most ackRoom bytes, or
// none if that is zero.
func (f *frames) begin(c *Conn, ackRoom int) {
	f.giveUp()
	size := c.datagram
	f.conn = c
	f.buf = c.m.out.arena().reserve(size)
	f.limit = size - tagSize
	f.packet = c.beginSent()
	f.elicits, f.empty, f.bulk, f.held = false, true, false, false

	b := f.buf
	f.form = ackNone
	if ackRoom > 0 {
		f.form = c.received.form(ackRoom)
	}
	putHeader(b, f.form, c.phaseBit, c.peer, c.sent.next)
	f.n = len(c.received.append(b[:dataHeader], f.form, c.m.now))
	c.book.Sent[SentAck] += uint64(f.n - dataHeader)
}

// giveUp sends a composed packet whose message was never committed, without the
// message: what else it carries counts as sent.
func (f *frames) giveUp() {
	if !f.compose {
		return
	}
	f.compose = false
	f.n--
	f.conn.book.Sent[SentFraming]--
	f.close()
}

// room is how many bytes of payload a further frame with a prefix of that size can
// have. It is negative when not even its header fits.
func (f *frames) room(prefix int) int {
	return f.limit - f.n - f.heldSize() - 1 - prefix
}

func (f *frames) heldSize() int {
	if !f.held {
		return 0
	}
	return 1 + lengthSize(len(f.payload)) + f.prefixSize + len(f.payload)
}

// restrict keeps the packet from growing beyond what the budget holds.
func (f *frames) restrict(budget float64) {
	f.limit = max(min(f.limit, int(budget)-udpOverhead-tagSize), f.used())
}

// unrestrict lets the packet grow as large as any.
func (f *frames) unrestrict() { f.limit = f.conn.datagram - tagSize }

// used is how long the packet is so far.
func (f *frames) used() int { return f.n + f.heldSize() }

// add puts a frame into the packet; the caller has asked for room. The payload is
// read when the next frame is added or the packet is closed.
func (f *frames) add(head byte, prefix []byte, payload []byte, purpose Purpose) {
	f.flush(false)
	f.elicits = f.elicits || head != frameControl<<4|controlClock
	f.held = true
	f.empty = false
	f.head = head
	f.prefixSize = copy(f.prefix[:], prefix)
	f.payload = payload
	f.heldPurpose = purpose
}

// control adds a control frame.
func (f *frames) control(which byte, payload []byte) {
	f.add(frameControl<<4|which, nil, payload, SentControl)
}

// flush writes the frame held back, with its length unless it is the last.
func (f *frames) flush(last bool) {
	if !f.held {
		return
	}
	f.held = false
	size := len(f.payload)
	b := f.buf[f.n:]
	b[0] = f.head
	n := 1
	if !last {
		b[0] |= frameLength
		if size >= 0x80 {
			b[n] = 0x80 | byte(size>>8)
			n++
		}
		b[n] = byte(size)
		n++
	}
	n += copy(b[n:], f.prefix[:f.prefixSize])
	f.conn.book.Sent[SentFraming] += uint64(n)
	f.conn.book.Sent[f.heldPurpose] += uint64(size)
	f.n += n + copy(b[n:], f.payload)
	f.payload = nil
}

// abandon drops a packet into which nothing was put. Its number is used by the next one.
func (f *frames) abandon() {
	f.conn.book.Sent[SentAck] -= uint64(f.n - dataHeader)
	f.conn = nil
}

// close seals the packet and puts it on its way.
func (f *frames) close() uint32 {
	f.flush(true)
	c := f.conn
	m := c.m
	f.conn = nil
	number := c.sent.next
	f.buf[0] = f.buf[0]&^keyPhase | c.phaseBit // keys may have been renewed since it was begun
	d := &c.seal
	b := d.aead.Seal(f.buf[dataHeader:dataHeader], d.number(number), f.buf[dataHeader:f.n],
		f.buf[:dataHeader])
	size := dataHeader + len(b)
	m.out.arena().commit(size)
	m.out.add(c.route.sendTo, f.buf[:size:size], c, number)

	p := f.packet
	p.at = m.now
	p.epoch = m.epoch
	p.size = uint16(size)
	p.elicits = f.elicits
	if f.form != ackNone {
		p.reported = c.received.largest
		c.received.said()
	}
	p.refCount = uint16(c.sent.refsNext - p.refs)
	c.sent.next++
	c.sent.flightBytes += size
	c.book.Sent[SentHeader] += dataHeader
	c.book.Sent[SentTag] += tagSize
	c.book.Packets++
	if f.elicits {
		c.sent.inFlight++
		if m.now-c.lastData < 250*time.Millisecond {
			c.sendGap += (m.now - c.lastData - c.sendGap) / 4
		} else {
			c.sendGap = 0
		}
		c.lastData = m.now
	}
	c.spend(size, f.bulk)
	if c.sent.next >= c.renewFrom {
		c.wear()
	}
	return number
}
