package mem

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
)

// Options are for a hub; the zero value will do.
type Options struct {
	MaxDatagram int // 1200 when zero
	Queue       int // how many datagrams wait for each link at most; 1024 when zero
}

// Hub is a network within the process. Links opened on the same hub can reach
// each other.
type Hub struct {
	max, queue int

	mu    sync.RWMutex
	links map[netip.AddrPort]*Link
	port  uint16
}

// NewHub makes a network without links.
func NewHub(o Options) *Hub {
	if o.MaxDatagram == 0 {
		o.MaxDatagram = 1200
	}
	if o.Queue == 0 {
		o.Queue = 1024
	}
	return &Hub{max: o.MaxDatagram, queue: o.Queue, links: make(map[netip.AddrPort]*Link)}
}

// Open makes a link with an address. The zero address, or the port 0, stands for
// one that is free.
func (h *Hub) Open(addr netip.AddrPort) (*Link, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !addr.IsValid() {
		addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	}
	if addr.Port() == 0 {
		free := false
		for range 1<<16 - 1 {
			if h.port++; h.port == 0 {
				h.port++
			}
			addr = netip.AddrPortFrom(addr.Addr(), h.port)
			if free = h.links[addr] == nil; free {
				break
			}
		}
		if !free {
			return nil, fmt.Errorf("mem: no port is free on %v, use another address", addr.Addr())
		}
	}
	if h.links[addr] != nil {
		return nil, fmt.Errorf("mem: address %v is in use, close the link that has it or choose another", addr)
	}
	l := &Link{hub: h, addr: addr, box: mailbox.New(h.queue)}
	h.links[addr] = l
	return l, nil
}

// Pair makes two links that reach each other.
func Pair(o Options) (a, b *Link) {
	h := NewHub(o)
	// A new hub has free ports.
	a, _ = h.Open(netip.AddrPort{})
	b, _ = h.Open(netip.AddrPort{})
	return a, b
}

// Link is one end in the hub.
type Link struct {
	hub   *Hub
	addr  netip.AddrPort
	box   *mailbox.Box
	tally mailbox.Tally
}

var _ link.Link = (*Link)(nil)

// Receive takes what is waiting.
func (l *Link) Receive(batch []link.Datagram) (int, error) { return l.box.Receive(batch) }

// Wait sleeps until something can be received.
func (l *Link) Wait(d time.Duration) (bool, error) { return l.box.Wait(d) }

// Wake ends a Wait.
func (l *Link) Wake() { l.box.Wake() }

// MaxDatagram is what the hub was made with.
func (l *Link) MaxDatagram() int { return l.hub.max }

// LocalAddr is the link's address in the hub.
func (l *Link) LocalAddr() netip.AddrPort { return l.addr }

// Counters says what went through the link.
func (l *Link) Counters() (c link.Counters) {
	l.box.Counters(&c)
	l.tally.Counters(&c)
	return c
}

// Send copies datagrams into the inboxes of their receivers.
func (l *Link) Send(batch []link.Datagram) (int, error) {
	l.hub.mu.RLock()
	defer l.hub.mu.RUnlock()
	// Close removes the link from the hub, under the lock that we hold for reading.
	if l.hub.links[l.addr] != l {
		return 0, link.ErrClosed
	}
	var bytes uint64
	for i := range batch {
		d := &batch[i]
		to := l.hub.links[d.Addr]
		var err error
		switch {
		case len(d.Data) > l.hub.max:
			err = link.ErrTooLarge
		case to == nil:
			l.tally.Drop(1)
		case !to.box.Push(l.addr, d.Data, nil):
			err = link.ErrFull
		}
		if err != nil {
			l.tally.Took(i, bytes)
			l.tally.Refuse()
			return i, err
		}
		bytes += uint64(len(d.Data))
	}
	l.tally.Took(len(batch), bytes)
	return len(batch), nil
}

// Close gives the address free. What was waiting is gone.
func (l *Link) Close() error {
	l.hub.mu.Lock()
	if l.hub.links[l.addr] == l {
		delete(l.hub.links, l.addr)
	}
	l.hub.mu.Unlock()
	l.box.End(link.ErrClosed, false)
	return nil
}
