//go:build !js

package demo

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// A mesh is the network of a demo with mirrors, in real time: regions, and between each two of them
// a way with the delay, jitter and loss of a preset. In one region everything arrives at once.
type mesh struct {
	born time.Time

	mu         sync.Mutex
	conditions netsim.Conditions
	paths      [][]*netsim.Path // from, to
	cuts       [][]bool         // the same both ways
	ends       map[netip.AddrPort]*end
}

// between is what a preset means between two machines that are well connected: its delay, jitter
// and loss, and as many bytes as there are.
func between(c netsim.Conditions) netsim.Conditions {
	c.Down.Rate, c.Down.Queue = 0, 0
	c.Up = c.Down
	return c
}

func newMesh(regions int, c netsim.Conditions, seed uint64) *mesh {
	s := &mesh{born: time.Now(), conditions: between(c), ends: map[netip.AddrPort]*end{}}
	for a := range regions {
		s.paths = append(s.paths, make([]*netsim.Path, regions))
		s.cuts = append(s.cuts, make([]bool, regions))
		for b := range regions {
			p := netsim.Profile{}
			if a != b {
				p = s.conditions.Down
			}
			s.paths[a][b] = netsim.NewPath(p, seed+uint64(a*regions+b))
		}
	}
	return s
}

// way says what lies between two regions.
func (s *mesh) way(a, b int) (c netsim.Conditions, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a == b {
		return netsim.Perfect, false
	}
	return s.conditions, s.cuts[a][b]
}

// set changes the conditions of all ways.
func (s *mesh) set(c netsim.Conditions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conditions = between(c)
	for a := range s.paths {
		for b := range s.paths {
			if a != b {
				s.paths[a][b].SetProfile(s.conditions.Down)
			}
		}
	}
}

// cut lets nothing through between two regions, or everything again.
func (s *mesh) cut(a, b int, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts[a][b], s.cuts[b][a] = on, on
}

// open makes a link on a region. Nobody else may have the address.
func (s *mesh) open(addr netip.AddrPort, region int) *end {
	b := &end{mesh: s, addr: addr, region: region, wake: make(chan struct{}, 1),
		news: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends[addr] = b
	return b
}

// An end is one end on a mesh: a link.
type end struct {
	mesh   *mesh
	addr   netip.AddrPort
	region int
	wake   chan struct{} // someone wants Wait to end
	news   chan struct{} // something is on its way

	// What follows is guarded by the mesh.
	in     queue
	tally  link.Counters
	closed bool
}

// meshDatagram is the largest that a mesh carries, and meshInbox how many may be on their way to
// one end.
const (
	meshDatagram = 1200
	meshInbox    = 8192
)

var _ link.Link = (*end)(nil)

// Receive takes what has arrived.
func (b *end) Receive(batch []link.Datagram) (int, error) {
	s := b.mesh
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.closed {
		return 0, link.ErrClosed
	}
	now, n := time.Since(s.born), 0
	for n < len(batch) && len(b.in) > 0 && b.in[0].at <= now {
		c := b.in[0]
		b.in = b.in[1:]
		if s.cuts[c.region][b.region] {
			b.tally.DroppedIn++
			continue
		}
		batch[n] = link.Datagram{Addr: c.from, Data: c.data}
		b.tally.Received++
		b.tally.ReceivedBytes += uint64(len(c.data))
		n++
	}
	return n, nil
}

// Send puts datagrams on their way.
func (b *end) Send(batch []link.Datagram) (int, error) {
	s := b.mesh
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.closed {
		return 0, link.ErrClosed
	}
	now := time.Since(s.born)
	for i := range batch {
		d := &batch[i]
		to := s.ends[d.Addr]
		switch {
		case len(d.Data) > meshDatagram:
			b.tally.Refused++
			return i, link.ErrTooLarge
		case to != nil && len(to.in) >= meshInbox:
			b.tally.Refused++
			return i, link.ErrFull
		}
		b.tally.Sent++
		b.tally.SentBytes += uint64(len(d.Data))
		if to == nil || s.cuts[b.region][to.region] {
			b.tally.DroppedOut++
			continue
		}
		f := s.paths[b.region][to.region].Pass(now, len(d.Data))
		for k := range f.Copies {
			data := slices.Clone(d.Data)
			if k == 0 && f.Flip >= 0 && len(data) > 0 {
				data[f.Flip/8%len(data)] ^= 1 << (f.Flip % 8)
			}
			to.in.put(packet{at: f.At[k], from: b.addr, region: b.region, data: data})
		}
		if f.Copies == 0 {
			b.tally.DroppedOut++
			continue
		}
		nudge(to.news)
	}
	return len(batch), nil
}

// Wait sleeps until something has arrived.
func (b *end) Wait(d time.Duration) (bool, error) {
	var end <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		end = timer.C
	}
	for woken := false; ; {
		b.mesh.mu.Lock()
		rest, closed := time.Hour, b.closed
		if len(b.in) > 0 {
			rest = b.in[0].at - time.Since(b.mesh.born)
		}
		b.mesh.mu.Unlock()
		switch {
		case closed:
			return false, link.ErrClosed
		case rest <= 0:
			return true, nil
		case woken:
			return false, nil
		}
		arrival := time.NewTimer(rest)
		select {
		case <-arrival.C:
		case <-b.news:
		case <-b.wake:
			woken = true
		case <-end:
			arrival.Stop()
			return false, nil
		}
		arrival.Stop()
	}
}

// Wake ends a Wait.
func (b *end) Wake() { nudge(b.wake) }

func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// MaxDatagram is the same everywhere.
func (b *end) MaxDatagram() int { return meshDatagram }

// LocalAddr is where the end is reached.
func (b *end) LocalAddr() netip.AddrPort { return b.addr }

// Counters says what went through the link.
func (b *end) Counters() link.Counters {
	b.mesh.mu.Lock()
	defer b.mesh.mu.Unlock()
	return b.tally
}

// Close gives the address free. What is on its way is lost.
func (b *end) Close() error {
	s := b.mesh
	s.mu.Lock()
	b.closed, b.in = true, nil
	if s.ends[b.addr] == b {
		delete(s.ends, b.addr)
	}
	s.mu.Unlock()
	b.Wake()
	return nil
}

// A packet is a datagram on its way.
type packet struct {
	at     time.Duration
	from   netip.AddrPort
	region int
	data   []byte
}

// queue is what is on its way to one end, the next to arrive first.
type queue []packet

// put adds a packet, behind those that arrive at the same time.
func (q *queue) put(p packet) {
	i := len(*q)
	for i > 0 && (*q)[i-1].at > p.at {
		i--
	}
	*q = slices.Insert(*q, i, p)
}
