package session

import (
	"net/netip"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
)

// Link is the part of a hub that its users see: carriers embed it.
type Link struct {
	*mailbox.Port
	hub *Hub
}

// Link returns it.
func (h *Hub) Link() Link { return Link{&h.port, h} }

// MaxDatagramTo is what one peer can be sent now.
func (l Link) MaxDatagramTo(peer netip.AddrPort) int {
	s := l.hub.find(peer)
	if s == nil {
		return l.Max
	}
	return min(s.conn.Max(), l.hub.o.Max)
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
	return l.SendEach(batch, l.send)
}

func (l Link) send(d *link.Datagram) error {
	s := l.hub.sessions[d.Addr]
	switch {
	case s == nil:
		return link.ErrNoPeer
	case len(d.Data) > l.hub.o.Max || len(d.Data) > s.conn.Max():
		return link.ErrTooLarge
	case !s.out.Push(netip.AddrPort{}, d.Data, nil):
		return link.ErrFull
	}
	return nil
}
