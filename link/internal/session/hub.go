package session

import (
	"cmp"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
)

// Conn is what a carrier provides for each session. Read and Write are called
// by one goroutine each, and Close by any.
type Conn interface {
	// Read waits for a datagram and copies it into buf. A datagram that does not fit,
	// or is not one, is reported by ErrBad and skipped.
	Read(buf []byte) (n int, err error)
	// Write sends a datagram. It may wait. ErrLost means that this one could not be sent,
	// and others can.
	Write(data []byte) error
	// Close ends the session and makes Read and Write return.
	Close()
	// Max is the largest datagram that the peer can be sent now.
	Max() int
	// Remote is the peer's real address.
	Remote() netip.AddrPort
}

// Errors of a Conn that concern one datagram.
var (
	ErrBad  = errors.New("session: not a datagram")
	ErrLost = errors.New("session: not sent")
)

// Options are for New.
type Options struct {
	Carrier   link.Carrier
	Max       int           // largest datagram to or from any peer
	Floor     int           // largest datagram to every peer; Max when zero
	Queue     int           // datagrams waiting to be received, over all sessions; 4096 when zero
	PeerQueue int           // datagrams of one session waiting, each way; 64 when zero
	Sessions  int           // how many at most; DefaultSessions when zero
	PerSource int           // and of one source; a quarter when zero, no limit below zero
	Idle      time.Duration // a peer that sends nothing for so long is gone; 30 seconds when zero
	HoldBack  bool          // a reader waits for room rather than drop
}

// DefaultSessions is how many sessions there may be if nothing else is said.
const DefaultSessions = 1024

// leastPerSource is how many sessions a source may have by default, however few there may be in
// all.
const leastPerSource = 16

// Hub is a link over sessions.
type Hub struct {
	o    Options
	port mailbox.Port

	mu       sync.RWMutex
	sessions map[netip.AddrPort]*session
	next     uint64
	closed   bool
	places
	running sync.WaitGroup
}

// session is one peer.
type session struct {
	hub   *Hub
	conn  Conn
	addr  netip.AddrPort
	place *Place
	out   *mailbox.Box
	share mailbox.Share
	once  sync.Once
	sent  chan struct{} // the writer is at its end

	heard   atomic.Int64 // when it last sent something, in nanoseconds
	writing atomic.Int64 // since when a write is in progress, or 0
}

const (
	stall = 10 * time.Second       // a write that takes longer has failed
	flush = 250 * time.Millisecond // how long Close waits for what was taken to be sent
	look  = time.Second            // how often sessions are looked at
)

// New makes a hub without sessions.
func New(o Options) *Hub {
	o.PeerQueue = cmp.Or(o.PeerQueue, 64)
	o.Sessions = cmp.Or(o.Sessions, DefaultSessions)
	o.PerSource = cmp.Or(o.PerSource, max(o.Sessions/4, leastPerSource))
	o.Idle = cmp.Or(o.Idle, 30*time.Second)
	return &Hub{
		o: o, sessions: make(map[netip.AddrPort]*session),
		places: places{all: make(map[*Place]struct{})},
		port:   mailbox.Port{Box: mailbox.New(cmp.Or(o.Queue, 4096)), Max: cmp.Or(o.Floor, o.Max)},
	}
}

// Start begins the session of a place. Ended is closed when the session is over; it is nil if the
// hub was closed in the meantime, or the place given to someone else.
func (p *Place) Start(conn Conn) (addr netip.AddrPort, ended <-chan struct{}) {
	h := p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, has := h.all[p]; h.closed || !has {
		delete(h.all, p)
		conn.Close()
		return netip.AddrPort{}, nil
	}
	h.next++
	s := &session{
		hub: h, conn: conn, place: p, addr: link.SessionAddr(h.o.Carrier, h.next),
		out: mailbox.New(h.o.PeerQueue), share: mailbox.Share{Limit: h.o.PeerQueue},
		sent: make(chan struct{}),
	}
	s.heard.Store(time.Now().UnixNano())
	h.sessions[s.addr], p.session = s, s
	done := make(chan struct{})
	h.running.Go(s.write)
	h.running.Go(func() {
		s.read()
		close(done)
	})
	h.running.Go(func() { s.watch(done) })
	return s.addr, done
}

// read brings in datagrams until the session ends.
func (s *session) read() {
	defer s.end()
	buf := make([]byte, s.hub.o.Max)
	for {
		n, err := s.conn.Read(buf)
		if err == ErrBad {
			s.hub.port.Box.Drop()
			continue
		}
		if err != nil {
			return
		}
		s.heard.Store(time.Now().UnixNano())
		if s.hub.o.HoldBack {
			if !s.hub.port.Box.PushWait(s.addr, buf[:n], &s.share) {
				return
			}
		} else if !s.hub.port.Box.Push(s.addr, buf[:n], &s.share) {
			s.hub.port.Box.Drop()
		}
	}
}

// write sends what Send took until the session ends.
func (s *session) write() {
	defer close(s.sent)
	batch := make([]link.Datagram, 16)
	for {
		n, err := s.out.Receive(batch)
		if err != nil {
			return
		}
		if n == 0 {
			if _, err := s.out.Wait(-1); err != nil {
				return
			}
			continue
		}
		for i, d := range batch[:n] {
			s.writing.Store(time.Now().UnixNano())
			err := s.conn.Write(d.Data)
			s.writing.Store(0)
			if err == ErrLost {
				s.hub.port.Tally.Drop(1)
			} else if err != nil {
				s.hub.port.Tally.Drop(n - i)
				s.end()
				return
			}
		}
	}
}

// watch ends a session whose peer is silent, does not take what is sent, or has not proved who it
// is.
func (s *session) watch(done <-chan struct{}) {
	tick := time.NewTicker(min(max(s.hub.o.Idle/4, time.Millisecond), look))
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case now := <-tick.C:
			silent := now.UnixNano() - s.heard.Load()
			since := s.writing.Load()
			if silent > int64(s.hub.o.Idle) || since != 0 && now.UnixNano()-since > int64(stall) {
				s.end()
			} else if s.place.lapsed() {
				s.hub.mu.Lock()
				s.hub.count.Lapsed++
				s.hub.mu.Unlock()
				s.end()
			}
		}
	}
}

// end takes the session off the hub. What it had yet to send is lost.
func (s *session) end() {
	s.once.Do(func() {
		s.hub.mu.Lock()
		delete(s.hub.sessions, s.addr)
		delete(s.hub.all, s.place)
		s.hub.mu.Unlock()
		s.hub.port.Tally.Drop(s.out.End(link.ErrClosed, false))
		s.hub.port.Box.GiveUp(&s.share)
		s.conn.Close()
	})
}

// End closes the hub with a reason. Queues are given a moment to empty.
func (h *Hub) End(err error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		h.port.Box.End(err, false)
		h.running.Wait()
		return
	}
	h.closed = true
	all := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	// Nothing more comes in, so readers that wait for room must not be waited for.
	h.port.Box.End(err, false)
	limit := time.NewTimer(flush)
	defer limit.Stop()
	for _, s := range all {
		s.out.End(link.ErrClosed, true)
	}
	for _, s := range all {
		select {
		case <-s.sent:
		case <-limit.C:
			limit.Reset(0) // and no waiting for the others
		}
	}
	for _, s := range all {
		s.end()
	}
	h.running.Wait()
}

// Lose is for a client whose only session has ended: what has arrived can still
// be received, then comes the error.
func (h *Hub) Lose(err error) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.port.Box.End(err, true)
}
