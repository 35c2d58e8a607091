//go:build !js

package demo

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/netsim"
)

// A stream is a link over TCP on which datagrams meet the delays of a simulated network. Nothing is
// lost on TCP: what the network loses is sent again, a round trip later, and all behind it waits.
// That is what makes a stream a bad carrier for games, and it is shown as it is.
//
// It has no goroutine: what is due goes out when the server next receives or sends, which it does
// several times a tick.
type stream struct {
	inner interface {
		link.Link
		link.Keeper
	}
	born  time.Time
	seed  uint64
	woken atomic.Bool

	mu         sync.Mutex
	conditions netsim.Conditions
	cut        bool
	closed     bool
	peers      map[netip.AddrPort]*streamPeer
	scratch    []link.Datagram
	tally      link.Counters
}

// streamPeer is one session's way, each direction a queue in order.
type streamPeer struct {
	up, down     *netsim.Path
	in, out      []underway
	lastUp, last time.Duration
	heard        time.Duration
}

type underway struct {
	at   time.Duration
	data []byte
}

// mostHeld bounds what waits for one peer in each direction; more is refused, as by a full queue.
const mostHeld = 512

var (
	_ link.Link   = (*stream)(nil)
	_ link.Keeper = (*stream)(nil)
)

func newStream(inner *websocket.Server, c netsim.Conditions, seed uint64) *stream {
	return &stream{
		inner: inner, born: time.Now(), seed: seed, conditions: c,
		peers: map[netip.AddrPort]*streamPeer{}, scratch: make([]link.Datagram, 64)}
}

func (s *stream) setConditions(c netsim.Conditions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conditions = c
	for _, p := range s.peers {
		p.up.SetProfile(c.Up)
		p.down.SetProfile(c.Down)
	}
}

func (s *stream) setCut(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = on
}

func (s *stream) peer(a netip.AddrPort) *streamPeer {
	p := s.peers[a]
	if p == nil {
		n := s.seed + uint64(len(s.peers))*2
		p = &streamPeer{
			up: netsim.NewPath(s.conditions.Up, n), down: netsim.NewPath(s.conditions.Down, n+1)}
		s.peers[a] = p
	}
	return p
}

// due is when a message arrives: after the one before it, and a round trip later for each time that
// it is lost.
func due(path *netsim.Path, back netsim.Profile, now, last time.Duration, size int) time.Duration {
	at := now
	for range 8 {
		f := path.Pass(at, size)
		if f.Copies > 0 {
			at = f.At[0]
			break
		}
		at += path.Profile().Latency + back.Latency + 5*time.Millisecond
	}
	return max(at, last)
}

// Receive takes what has arrived on the simulated network.
func (s *stream) Receive(batch []link.Datagram) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(s.born)
	if err := s.take(now); err != nil {
		return 0, err
	}
	s.flush(now)
	n := 0
	for a, p := range s.peers {
		for n < len(batch) && len(p.in) > 0 && p.in[0].at <= now && !s.cut {
			batch[n] = link.Datagram{Addr: a, Data: p.in[0].data}
			s.tally.Received++
			s.tally.ReceivedBytes += uint64(len(p.in[0].data))
			p.in = slices.Delete(p.in, 0, 1)
			n++
		}
		if len(p.in)+len(p.out) == 0 && now-p.heard > time.Minute {
			delete(s.peers, a)
		}
	}
	return n, nil
}

// take moves what came over TCP into the simulated network.
func (s *stream) take(now time.Duration) error {
	for {
		n, err := s.inner.Receive(s.scratch)
		if err != nil {
			return err
		}
		for _, d := range s.scratch[:n] {
			p := s.peer(d.Addr)
			p.heard = now
			if len(p.in) >= mostHeld {
				s.tally.DroppedIn++
				continue
			}
			p.lastUp = due(p.up, s.conditions.Down, now, p.lastUp, len(d.Data))
			p.in = append(p.in, underway{p.lastUp, slices.Clone(d.Data)})
		}
		if n < len(s.scratch) {
			return nil
		}
	}
}

// flush sends what has crossed the simulated network.
func (s *stream) flush(now time.Duration) {
	if s.cut {
		return
	}
	for a, p := range s.peers {
		n := 0
		for n < len(p.out) && p.out[n].at <= now {
			if _, err := s.inner.Send([]link.Datagram{{Addr: a, Data: p.out[n].data}}); err != nil {
				s.tally.DroppedOut++
			}
			n++
		}
		p.out = slices.Delete(p.out, 0, n)
	}
}

// Send puts datagrams on their way.
func (s *stream) Send(batch []link.Datagram) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, link.ErrClosed
	}
	now := time.Since(s.born)
	for i := range batch {
		d := &batch[i]
		if len(d.Data) > s.inner.MaxDatagram() {
			s.tally.Refused++
			return i, link.ErrTooLarge
		}
		p := s.peer(d.Addr)
		if len(p.out) >= mostHeld {
			s.tally.Refused++
			return i, link.ErrFull
		}
		p.last = due(p.down, s.conditions.Up, now, p.last, len(d.Data))
		p.out = append(p.out, underway{p.last, slices.Clone(d.Data)})
		s.tally.Sent++
		s.tally.SentBytes += uint64(len(d.Data))
	}
	s.flush(now)
	return len(batch), nil
}

// Wait sleeps until something has come over TCP, or what is on its way may have arrived.
func (s *stream) Wait(d time.Duration) (bool, error) {
	began := time.Now()
	for {
		s.mu.Lock()
		now := time.Since(s.born)
		err := s.take(now)
		s.flush(now)
		ready := false
		for _, p := range s.peers {
			ready = ready || len(p.in) > 0 && p.in[0].at <= now && !s.cut
		}
		s.mu.Unlock()
		if woken := s.woken.Swap(false); ready || woken || err != nil {
			return ready, err
		}
		rest := d - time.Since(began)
		if d >= 0 && rest <= 0 {
			return false, nil
		}
		if d < 0 || rest > 2*time.Millisecond {
			rest = 2 * time.Millisecond
		}
		if _, err := s.inner.Wait(rest); err != nil {
			return false, err
		}
	}
}

// Wake ends a Wait.
func (s *stream) Wake() {
	s.woken.Store(true)
	s.inner.Wake()
}

// MaxDatagram is that of the link.
func (s *stream) MaxDatagram() int { return s.inner.MaxDatagram() }

// Remote, Guard, Keep and Places are those of the link.
func (s *stream) Remote(peer netip.AddrPort) (netip.AddrPort, bool) { return s.inner.Remote(peer) }

// Guard is for the link.
func (s *stream) Guard(d time.Duration) { s.inner.Guard(d) }

// Keep is for the link.
func (s *stream) Keep(peer netip.AddrPort) { s.inner.Keep(peer) }

// Places are those of the link.
func (s *stream) Places() link.Places { return s.inner.Places() }

// LocalAddr is that of the link.
func (s *stream) LocalAddr() netip.AddrPort { return s.inner.LocalAddr() }

// Counters say what was handed over and taken here.
func (s *stream) Counters() link.Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tally
}

// Close closes the link. What is on its way is lost.
func (s *stream) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.inner.Close()
}
