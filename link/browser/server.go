//go:build !js

package browser

import (
	"errors"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// A Server is one link over two: a datagram goes out by the link that its peer came by, which the
// address tells.
type Server struct {
	links []link.Link
	kind  []link.Carrier // what each carries
	first int            // where the next Receive begins, so that none is starved
	one   [1]link.Datagram
	woken atomic.Bool
}

var (
	_ link.Link        = (*Server)(nil)
	_ link.PeerLimiter = (*Server)(nil)
	_ link.Keeper      = (*Server)(nil)
)

// NewServer makes one link of a WebTransport and a WebSocket server, either of which may be nil,
// and owns them from now on.
func NewServer(wt, ws link.Link) *Server {
	s := &Server{}
	if wt != nil {
		s.links, s.kind = append(s.links, wt), append(s.kind, link.WebTransport)
	}
	if ws != nil {
		s.links, s.kind = append(s.links, ws), append(s.kind, link.WebSocket)
	}
	return s
}

// of finds the link that reaches a peer.
func (s *Server) of(peer netip.AddrPort) link.Link {
	c, _, _ := link.Session(peer)
	if i := slices.Index(s.kind, c); i >= 0 {
		return s.links[i]
	}
	return nil
}

// Receive takes what waits at any of the links. What it hands out is good until the next Receive or
// Wait, so it asks one link at a time.
func (s *Server) Receive(batch []link.Datagram) (int, error) {
	if len(s.links) == 0 {
		return 0, link.ErrClosed
	}
	total, ended := 0, 0
	for range s.links {
		l := s.links[s.first]
		s.first = (s.first + 1) % len(s.links)
		n, err := l.Receive(batch[total:])
		total += n
		switch {
		case err != nil:
			ended++
		case total == len(batch):
			return total, nil
		}
	}
	if ended == len(s.links) && total == 0 {
		return 0, link.ErrClosed
	}
	return total, nil
}

// Send sends each datagram by the link of its peer.
func (s *Server) Send(batch []link.Datagram) (int, error) {
	for i := range batch {
		l := s.of(batch[i].Addr)
		if l == nil {
			return i, link.ErrAddr
		}
		s.one[0] = batch[i]
		_, err := l.Send(s.one[:])
		s.one[0] = link.Datagram{}
		if err != nil {
			if errors.Is(err, link.ErrClosed) && s.alive() {
				err = link.ErrNoPeer // the others go on
			}
			return i, err
		}
	}
	return len(batch), nil
}

// alive says whether any link is open.
func (s *Server) alive() bool {
	return slices.ContainsFunc(s.links, func(l link.Link) bool {
		_, err := l.Wait(0)
		return err == nil
	})
}

// turn is how long Wait sleeps at one link before it looks at the others.
const turn = 2 * time.Millisecond

// Wait sleeps until something can be received.
func (s *Server) Wait(d time.Duration) (bool, error) {
	began := time.Now()
	for {
		ended := 0
		for _, l := range s.links {
			ready, err := l.Wait(0)
			if ready {
				return true, nil
			}
			if err != nil {
				ended++
			}
		}
		rest := d - time.Since(began)
		switch {
		case ended == len(s.links):
			return false, link.ErrClosed
		case s.woken.Swap(false):
			return false, nil
		case d >= 0 && rest <= 0:
			return false, nil
		case d < 0 || rest > turn:
			rest = turn
		}
		s.doze(rest)
	}
}

// doze sleeps at the first link that is open.
func (s *Server) doze(d time.Duration) {
	for _, l := range s.links {
		if _, err := l.Wait(d); err == nil {
			return
		}
	}
}

// Wake ends a Wait.
func (s *Server) Wake() {
	s.woken.Store(true)
	for _, l := range s.links {
		l.Wake()
	}
}

// MaxDatagram is the largest that every peer can be sent.
func (s *Server) MaxDatagram() int {
	least := 1 << 16
	for _, l := range s.links {
		least = min(least, l.MaxDatagram())
	}
	return least
}

// MaxDatagramTo is the largest that any carrier takes to everyone, as a peer may move from one to
// another at any time.
func (s *Server) MaxDatagramTo(netip.AddrPort) int { return s.MaxDatagram() }

// Remote is the real address of a peer.
func (s *Server) Remote(peer netip.AddrPort) (netip.AddrPort, bool) {
	if r, ok := s.of(peer).(link.Remoter); ok {
		return r.Remote(peer)
	}
	return netip.AddrPort{}, false
}

// Guard has all links give up the places of those who do not prove themselves.
func (s *Server) Guard(d time.Duration) {
	for _, l := range s.links {
		if k, ok := l.(link.Keeper); ok {
			k.Guard(d)
		}
	}
}

// Keep keeps the place of a peer.
func (s *Server) Keep(peer netip.AddrPort) {
	if k, ok := s.of(peer).(link.Keeper); ok {
		k.Keep(peer)
	}
}

// Places are those of all links.
func (s *Server) Places() (sum link.Places) {
	for _, l := range s.links {
		if k, ok := l.(link.Keeper); ok {
			sum = sum.Add(k.Places())
		}
	}
	return sum
}

// LocalAddr is that of the first link that has one.
func (s *Server) LocalAddr() netip.AddrPort {
	for _, l := range s.links {
		if a := l.LocalAddr(); a.IsValid() {
			return a
		}
	}
	return netip.AddrPort{}
}

// Counters are those of all links.
func (s *Server) Counters() (sum link.Counters) {
	for _, l := range s.links {
		sum = sum.Add(l.Counters())
	}
	return sum
}

// Close closes all links.
func (s *Server) Close() error {
	var list []error
	for _, l := range s.links {
		list = append(list, l.Close())
	}
	return errors.Join(list...)
}
