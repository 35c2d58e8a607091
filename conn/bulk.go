package conn

import (
	"errors"
	"math/bits"
	"slices"
)

// BulkID names a transfer of one direction of a connection. Numbers are used again
// after 256 transfers.
type BulkID uint8

// bulkSender sends transfers one after the other, with what the budget leaves.
type bulkSender struct {
	queue    []*bulkOut
	nextID   BulkID
	canceled [2]byte // the control frame about the last one we gave up
}

// bulkOut is a transfer of ours. Each chunk is repaired on its own.
type bulkOut struct {
	id      BulkID
	tag     uint32
	data    []byte
	chunks  int
	next    int // the first never sent
	base    int // the first that has not arrived
	done    int
	lost    int
	arrived []uint64
	missing []uint64 // lost and not sent again yet
}

// bulkReceiver takes the peer's transfers.
type bulkReceiver struct {
	now      *bulkIn
	lastID   BulkID // the one completed or cancelled last
	lastAny  bool
	canceled [2]byte
}

// bulkIn is a transfer of the peer's. Its memory grows with what has come, never
// with what was announced.
type bulkIn struct {
	id     BulkID
	tag    uint32
	size   int
	chunk  int
	chunks int
	base   int
	done   int
	got    []uint64
	data   []byte
}

const (
	// bulkWindow is how many chunks may be under way.
	bulkWindow  = 2048
	maxBulkWait = 64
)

var (
	// ErrBulkSize says that a transfer is empty or larger than 64 MiB.
	ErrBulkSize = errors.New("conn: a transfer must have between 1 byte and 64 MiB")
	// ErrNoBulk says that no such transfer is under way.
	ErrNoBulk = errors.New("conn: no such transfer")
)

func bitAt(b []uint64, i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func setBit(b []uint64, i int)     { b[i/64] |= 1 << (i % 64) }
func clearBit(b []uint64, i int)   { b[i/64] &^= 1 << (i % 64) }

// firstBit finds the first set bit from i on; there must be one.
func firstBit(b []uint64, i int) int {
	w := i / 64
	v := b[w] &^ (1<<(i%64) - 1)
	for v == 0 {
		w++
		v = b[w]
	}
	return 64*w + bits.TrailingZeros64(v)
}

// SendBulk begins to send a large piece of data (a map, a texture, a recording),
// in the background: it gets only what messages leave of the budget. Several go one
// after the other. The tag is for the game to say what it is. The data must stay as
// it is until BulkSent or BulkCanceled tells that it is no longer needed.
func (c *Conn) SendBulk(tag uint32, data []byte) (BulkID, error) {
	if c.phase != phaseOpen {
		return 0, ErrClosed
	}
	if len(data) == 0 || len(data) > mostBulk {
		return 0, ErrBulkSize
	}
	s := &c.bulkOut
	if len(s.queue) >= maxBulkWait {
		return 0, ErrBacklog
	}
	chunks := (len(data) + c.fragment - 1) / c.fragment
	words := (chunks + 63) / 64
	b := &bulkOut{id: s.nextID, tag: tag, data: data, chunks: chunks,
		arrived: make([]uint64, words), missing: make([]uint64, words)}
	s.nextID++
	s.queue = append(s.queue, b)
	return b.id, nil
}

// BulkProgress tells how many bytes of a transfer of ours have arrived, of how many.
func (c *Conn) BulkProgress(id BulkID) (arrived, size int, err error) {
	i := c.bulkOut.find(id)
	if i < 0 {
		return 0, 0, ErrNoBulk
	}
	b := c.bulkOut.queue[i]
	return min(b.done*c.fragment, len(b.data)), len(b.data), nil
}

// BulkIncoming tells how much of the peer's transfer has come, if one is under way.
func (c *Conn) BulkIncoming() (id BulkID, received, size int, ok bool) {
	b := c.bulkIn.now
	if b == nil {
		return 0, 0, 0, false
	}
	return b.id, min(b.done*b.chunk, b.size), b.size, true
}

// CancelBulk gives up a transfer of ours.
func (c *Conn) CancelBulk(id BulkID) error {
	s := &c.bulkOut
	i := s.find(id)
	if i < 0 {
		return ErrNoBulk
	}
	if i == 0 && s.queue[0].next > 0 {
		s.canceled = [2]byte{byte(id), 0}
		c.control |= 1 << wantCancelOut
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return nil
}

// RefuseBulk stops the peer's transfer.
func (c *Conn) RefuseBulk(id BulkID) error {
	if b := c.bulkIn.now; b == nil || b.id != id {
		return ErrNoBulk
	}
	c.refuse(id)
	return nil
}

func (c *Conn) refuse(id BulkID) {
	c.bulkIn.now = nil
	c.bulkIn.lastID, c.bulkIn.lastAny = id, true
	c.bulkIn.canceled = [2]byte{byte(id), 1}
	c.control |= 1 << wantCancelIn
}

// find is where in the queue a transfer is, or -1.
func (s *bulkSender) find(id BulkID) int {
	return slices.IndexFunc(s.queue, func(b *bulkOut) bool { return b.id == id })
}

// current is the transfer under way, if it has that number, or nil.
func (s *bulkSender) current(id BulkID) *bulkOut {
	if len(s.queue) > 0 && s.queue[0].id == id {
		return s.queue[0]
	}
	return nil
}

// ready reports whether a chunk can go now.
func (s *bulkSender) ready() bool {
	if len(s.queue) == 0 {
		return false
	}
	b := s.queue[0]
	return b.lost > 0 || b.next < b.chunks && b.next-b.base < bulkWindow
}

// fillBulk puts one chunk into a packet, if the budget then still holds what the
// messages of a flush have needed of late.
func (c *Conn) fillBulk(f *frames) {
	s := &c.bulkOut
	if !s.ready() {
		return
	}
	r := &c.rate
	if need := float64(c.datagram+udpOverhead) + r.burst; c.room() < min(need, r.size()-1) {
		r.starved = true
		return
	}
	f.unrestrict() // where a chunk is more than the bucket ever holds, messages wait for it
	f.bulk = true
	b := s.queue[0]
	i, purpose := b.next, SentBulk
	if b.lost > 0 {
		purpose = SentResent
		i = firstBit(b.missing, b.base)
	}
	from := i * c.fragment
	data := b.data[from:min(from+c.fragment, len(b.data))]
	var prefix [bulkStartPrefix]byte
	prefix[0] = byte(b.id)
	putUint24(prefix[1:], uint32(i))
	head, size := byte(frameBulk<<4), bulkPrefix
	if b.done == 0 {
		// Until something has arrived each chunk says what it belongs to, so that any
		// of them can be the first.
		head, size = frameBulk<<4|bulkStart, bulkStartPrefix
		be.PutUint32(prefix[4:], uint32(len(b.data)))
		be.PutUint16(prefix[8:], uint16(c.fragment))
		be.PutUint32(prefix[10:], b.tag)
	}
	if f.room(size) < len(data) {
		f.bulk = false
		return
	}
	if purpose == SentResent {
		clearBit(b.missing, i)
		b.lost--
	} else {
		b.next++
	}
	f.add(head, prefix[:size], data, purpose)
	c.sent.note(bulkRef(b.id, uint32(i)))
}

func (c *Conn) chunkArrived(id BulkID, chunk uint32) {
	s := &c.bulkOut
	b, i := s.current(id), int(chunk)
	if b == nil || i >= b.chunks || bitAt(b.arrived, i) {
		return
	}
	setBit(b.arrived, i)
	b.done++
	if bitAt(b.missing, i) {
		clearBit(b.missing, i)
		b.lost--
	}
	for b.base < b.chunks && bitAt(b.arrived, b.base) {
		b.base++
	}
	if b.done == b.chunks {
		s.queue = slices.Delete(s.queue, 0, 1)
		c.m.emit(BulkSent, c).Bulk = id
	}
}

func (c *Conn) chunkLost(id BulkID, chunk uint32) {
	b, i := c.bulkOut.current(id), int(chunk)
	if b != nil && i < b.next && !bitAt(b.arrived, i) && !bitAt(b.missing, i) {
		setBit(b.missing, i)
		b.lost++
	}
}

// takeChunk handles a chunk of the peer's transfer. It returns false if the peer
// broke the rules.
func (c *Conn) takeChunk(start bool, body []byte) bool {
	r := &c.bulkIn
	id := BulkID(body[0])
	index := int(getUint24(body[1:]))
	data := body[bulkPrefix:]
	if start {
		data = body[bulkStartPrefix:]
	}
	if r.lastAny && id == r.lastID {
		return true // complete, or refused; the peer will learn
	}
	b := r.now
	if b == nil || b.id != id {
		if r.lastAny && int8(id-r.lastID) < 0 || b != nil && int8(id-b.id) < 0 {
			return true // of an earlier transfer, delayed
		}
		if !start {
			return false
		}
		size, chunk := int(be.Uint32(body[4:])), int(be.Uint16(body[8:]))
		if size == 0 || size > mostBulk || chunk != c.fragment {
			return false
		}
		if b != nil {
			c.dropBulkIn() // the peer has gone on to the next, so it gave up this one
		}
		if size > c.m.opt.MaxBulk {
			c.refuse(id)
			return true
		}
		b = &bulkIn{
			id: id, tag: be.Uint32(body[10:]), size: size, chunk: chunk,
			chunks: (size + chunk - 1) / chunk}
		r.now = b
		e := c.m.emit(BulkBegun, c)
		e.Bulk, e.Tag, e.Size = id, b.tag, size
	}
	want := b.chunk
	if index == b.chunks-1 {
		want = b.size - index*b.chunk
	}
	if index >= b.chunks || len(data) != want || index-b.base > bulkWindow {
		return false
	}
	for len(b.got) <= index/64 {
		b.got = append(b.got, 0)
	}
	if bitAt(b.got, index) {
		c.book.Duplicates++
		return true
	}
	setBit(b.got, index)
	if need := index*b.chunk + want; need > len(b.data) {
		b.grow(need)
	}
	copy(b.data[index*b.chunk:], data)
	b.done++
	for b.base < b.chunks && b.base/64 < len(b.got) && bitAt(b.got, b.base) {
		b.base++
	}
	if b.done == b.chunks {
		r.now = nil
		r.lastID, r.lastAny = id, true
		e := c.m.emit(BulkReceived, c)
		e.Bulk, e.Tag, e.Size, e.Data = id, b.tag, b.size, b.data
	}
	return true
}

// grow extends the memory of a transfer to need bytes, at least doubling it, up to its size.
func (b *bulkIn) grow(need int) {
	if need > cap(b.data) {
		data := make([]byte, need, min(max(2*cap(b.data), need, 64<<10), max(b.size, need)))
		copy(data, b.data)
		b.data = data
	}
	b.data = b.data[:need]
}

func (c *Conn) dropBulkIn() {
	b := c.bulkIn.now
	c.bulkIn.now = nil
	c.bulkIn.lastID, c.bulkIn.lastAny = b.id, true
	e := c.m.emit(BulkCanceled, c)
	e.Bulk, e.Tag, e.Size = b.id, b.tag, b.size
}

// peerCanceledIn: the peer gave up its own transfer.
func (c *Conn) peerCanceledIn(id BulkID) {
	r := &c.bulkIn
	if b := r.now; b != nil && int8(id-b.id) >= 0 {
		c.dropBulkIn()
	}
	// Chunks of it may still be on their way, even if none has come yet.
	if !r.lastAny || int8(id-r.lastID) > 0 {
		r.lastID, r.lastAny = id, true
	}
}

// peerCanceledOut: the peer does not want our transfer.
func (c *Conn) peerCanceledOut(id BulkID) {
	if b := c.bulkOut.current(id); b != nil && b.next > 0 {
		c.bulkOut.queue = slices.Delete(c.bulkOut.queue, 0, 1)
		c.m.emit(BulkCanceled, c).Bulk = id
	}
}
