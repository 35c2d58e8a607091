package mem

import (
	"cmp"
	"fmt"
	"net/netip"
	"sync"

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
	return &Hub{
		max: cmp.Or(o.MaxDatagram, 1200), queue: cmp.Or(o.Queue, 1024),
		links: make(map[netip.AddrPort]*Link),
	}
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
		return nil, fmt.Errorf(
			"mem: address %v is in use, close the link that has it or choose another", addr)
	}
	l := &Link{hub: h, Port: mailbox.Port{Box: mailbox.New(h.queue), Max: h.max, Addr: addr}}
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
	mailbox.Port
	hub *Hub
}

var _ link.Link = (*Link)(nil)

// Send copies datagrams into the inboxes of their receivers.
func (l *Link) Send(batch []link.Datagram) (int, error) {
	l.hub.mu.RLock()
	defer l.hub.mu.RUnlock()
	// Close removes the link from the hub, under the lock that we hold for reading.
	if l.hub.links[l.Addr] != l {
		return 0, link.ErrClosed
	}
	return l.SendEach(batch, l.send)
}

func (l *Link) send(d *link.Datagram) error {
	to := l.hub.links[d.Addr]
	switch {
	case len(d.Data) > l.Max:
		return link.ErrTooLarge
	case to == nil:
		l.Tally.Drop(1)
	case !to.Box.Push(l.Addr, d.Data, nil):
		return link.ErrFull
	}
	return nil
}

// Close gives the address free. What was waiting is gone.
func (l *Link) Close() error {
	l.hub.mu.Lock()
	if l.hub.links[l.Addr] == l {
		delete(l.hub.links, l.Addr)
	}
	l.hub.mu.Unlock()
	l.Box.End(link.ErrClosed, false)
	return nil
}
