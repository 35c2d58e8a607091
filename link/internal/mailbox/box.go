package mailbox

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// Box holds datagrams until they are received. Its buffers are made when they
// are first needed and kept.
type Box struct {
	mu     sync.Mutex
	slots  []slot
	free   int // first slot of those that Receive gave out last
	used   int // slots from free on that hold something
	given  int // of those, how many were given out
	room   sync.Cond
	closed bool
	err    error // why it ended, for Receive once it is empty

	ready   chan struct{} // something came
	wake    chan struct{} // Wake was called
	done    chan struct{} // closed
	timer   *time.Timer
	dropped atomic.Uint64

	received, receivedBytes atomic.Uint64

	// Clock, if set, is what tells how long a datagram has waited.
	Clock func() time.Duration
}

type slot struct {
	addr  netip.AddrPort
	data  []byte
	share *Share
	at    time.Duration // by the clock
}

// Share is one sender's part of a box, so that a single one cannot fill it
// for all.
type Share struct {
	Limit   int
	waiting int
	gone    bool
}

// New makes a box for so many datagrams.
func New(capacity int) *Box {
	b := &Box{
		slots: make([]slot, capacity),
		ready: make(chan struct{}, 1),
		wake:  make(chan struct{}, 1),
		done:  make(chan struct{}),
		timer: time.NewTimer(time.Hour),
	}
	b.timer.Stop()
	b.room.L = &b.mu
	return b
}

// Push copies a datagram in. It returns false when there is no room for it; the
// caller then counts it with Drop or refuses it to the sender. The share may be
// nil.
func (b *Box) Push(addr netip.AddrPort, data []byte, share *Share) bool {
	return b.push(addr, data, share, false)
}

// PushWait copies a datagram in, and waits for room if there is none: for
// carriers that can hold their sender back. It returns false when the box was
// closed or the share was given up.
func (b *Box) PushWait(addr netip.AddrPort, data []byte, share *Share) bool {
	return b.push(addr, data, share, true)
}

func (b *Box) push(addr netip.AddrPort, data []byte, share *Share, wait bool) bool {
	b.mu.Lock()
	for wait && !b.closed && !share.gone && !b.hasRoom(share) {
		b.room.Wait()
	}
	ok := !b.closed && !(wait && share.gone) && b.hasRoom(share)
	if ok {
		b.put(addr, data, share)
	}
	b.mu.Unlock()
	if ok {
		notify(b.ready)
	}
	return ok
}

// GiveUp ends the waiting of a sender whose session is over.
func (b *Box) GiveUp(share *Share) {
	b.mu.Lock()
	share.gone = true
	b.mu.Unlock()
	b.room.Broadcast()
}

// Drop counts a datagram that was thrown away.
func (b *Box) Drop() { b.dropped.Add(1) }

func (b *Box) hasRoom(share *Share) bool {
	return b.used < len(b.slots) && (share == nil || share.waiting < share.Limit)
}

func (b *Box) put(addr netip.AddrPort, data []byte, share *Share) {
	s := &b.slots[(b.free+b.used)%len(b.slots)]
	s.addr, s.share = addr, share
	if b.Clock != nil {
		s.at = b.Clock()
	}
	s.data = append(s.data[:0], data...)
	b.used++
	if share != nil {
		share.waiting++
	}
}

// notify sends a signal, unless there is one that was not seen yet.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Receive is as in [link.Link].
func (b *Box) Receive(batch []link.Datagram) (int, error) {
	b.mu.Lock()
	b.release()
	b.given = min(len(batch), b.used)
	var bytes uint64
	var now time.Duration
	if b.Clock != nil {
		now = b.Clock()
	}
	for i := range b.given {
		s := &b.slots[(b.free+i)%len(b.slots)]
		batch[i] = link.Datagram{Addr: s.addr, Data: s.data, Waited: now - s.at}
		bytes += uint64(len(s.data))
	}
	n, closed, err := b.given, b.closed, b.err
	b.mu.Unlock()
	if n > 0 {
		b.received.Add(uint64(n))
		b.receivedBytes.Add(bytes)
		return n, nil
	}
	if closed {
		return 0, err
	}
	return 0, nil
}

// release takes back what was given out, and tells those who wait for room.
func (b *Box) release() {
	if b.given > 0 {
		b.room.Broadcast()
	}
	for range b.given {
		s := &b.slots[b.free]
		if s.share != nil {
			s.share.waiting--
			s.share = nil
		}
		b.free = (b.free + 1) % len(b.slots)
	}
	b.used -= b.given
	b.given = 0
}

// Wait is as in [link.Link]. It takes back what was given out: a sender may be
// waiting for that room, with whom we would wait for each other.
func (b *Box) Wait(d time.Duration) (bool, error) {
	b.mu.Lock()
	b.release()
	b.mu.Unlock()
	if ready, err := b.look(); ready || err != nil || d == 0 {
		return ready, err
	}
	var expired <-chan time.Time
	if d > 0 {
		b.timer.Reset(d)
		defer b.timer.Stop()
		expired = b.timer.C
	}
	for {
		select {
		case <-b.ready:
			// It may be the signal for something that was received in the meantime.
			if ready, err := b.look(); ready || err != nil {
				return ready, err
			}
			continue
		case <-b.wake:
		case <-b.done:
		case <-expired:
		}
		return b.look()
	}
}

// look is whether something waits, or why nothing ever will.
func (b *Box) look() (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used > b.given {
		return true, nil
	}
	if b.closed {
		return false, b.err
	}
	return false, nil
}

// Wake is as in [link.Link].
func (b *Box) Wake() { notify(b.wake) }

// End closes the box with the error that Receive and Wait return from then
// on. When keep is set, what waits can still be received before; otherwise it
// returns how many were thrown away.
func (b *Box) End(err error, keep bool) (lost int) {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		b.err = err
		close(b.done)
	}
	if !keep {
		b.err = err
		lost = b.used - b.given
		b.used, b.given = 0, 0
	}
	b.mu.Unlock()
	b.room.Broadcast()
	return lost
}

// Counters fills in what the box knows.
func (b *Box) Counters(c *link.Counters) {
	c.Received = b.received.Load()
	c.ReceivedBytes = b.receivedBytes.Load()
	c.DroppedIn = b.dropped.Load()
}
