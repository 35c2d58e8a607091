package session

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// Link is the part of a hub that its users see: carriers embed it.
type Link struct{ hub *Hub }

// Link returns it.
func (h *Hub) Link() Link { return Link{h} }

// Receive takes what is waiting, of all sessions.
func (l Link) Receive(batch []link.Datagram) (int, error) { return l.hub.box.Receive(batch) }

// Wait sleeps until something can be received.
func (l Link) Wait(d time.Duration) (bool, error) { return l.hub.box.Wait(d) }

// Wake ends a Wait.
func (l Link) Wake() { l.hub.box.Wake() }

// MaxDatagram is what every peer can be sent.
func (l Link) MaxDatagram() int { return l.hub.o.Floor }

// MaxDatagramTo is what one peer can be sent now.
func (l Link) MaxDatagramTo(peer netip.AddrPort) int {
	s := l.hub.find(peer)
	if s == nil {
		return l.hub.o.Floor
	}
	return min(s.conn.Max(), l.hub.o.Max)
}

// Counters says what went through the link.
func (l Link) Counters() (c link.Counters) {
	l.hub.box.Counters(&c)
	l.hub.tally.Counters(&c)
	return c
}

// Remote is the real address of a session's peer, for logs and bans.
func (l Link) Remote(peer netip.AddrPort) (netip.AddrPort, bool) {
	s := l.hub.find(peer)
	if s == nil {
		return netip.AddrPort{}, false
	}
	return s.conn.Remote(), true
}

// Disconnect ends a peer's session.
func (l Link) Disconnect(peer netip.AddrPort) {
	if s := l.hub.find(peer); s != nil {
		s.end()
	}
}

// Sessions is how many there are.
func (l Link) Sessions() int {
	l.hub.mu.RLock()
	defer l.hub.mu.RUnlock()
	return len(l.hub.sessions)
}

func (h *Hub) find(peer netip.AddrPort) *session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.sessions[peer]
}

// Send puts datagrams into the queues of their sessions.
func (l Link) Send(batch []link.Datagram) (int, error) {
	h := l.hub
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		return 0, link.ErrClosed
	}
	var bytes uint64
	for i := range batch {
		d := &batch[i]
		s := h.sessions[d.Addr]
		var err error
		switch {
		case s == nil:
			err = link.ErrNoPeer
		case len(d.Data) > h.o.Max || len(d.Data) > s.conn.Max():
			err = link.ErrTooLarge
		case !s.out.Push(netip.AddrPort{}, d.Data, nil):
			err = link.ErrFull
		}
		if err != nil {
			h.tally.Took(i, bytes)
			h.tally.Refuse()
			return i, err
		}
		bytes += uint64(len(d.Data))
	}
	h.tally.Took(len(batch), bytes)
	return len(batch), nil
}
