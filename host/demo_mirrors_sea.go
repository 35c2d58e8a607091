//go:build !js

package host

import (
	"container/heap"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

// A sea is the network of a demo with mirrors, in real time: shores, and between each two of them a way with the delay, jitter and loss of a preset. On one
// shore everything arrives at once.
type sea struct {
	born time.Time

	mu         sync.Mutex
	conditions netsim.Conditions
	paths      [][]*netsim.Path // from, to
	cuts       [][]bool         // the same both ways
	berths     map[netip.AddrPort]*berth
	sequence   uint64
}

// passage is what a preset means between two machines that are well connected: its delay, jitter and loss, and as many bytes as there are.
func passage(c netsim.Conditions) netsim.Conditions {
	c.Down.Rate, c.Down.Queue = 0, 0
	c.Up = c.Down
	return c
}

func newSea(shores int, c netsim.Conditions, seed uint64) *sea {
	s := &sea{born: time.Now(), conditions: passage(c), berths: map[netip.AddrPort]*berth{}}
	for a := range shores {
		s.paths = append(s.paths, make([]*netsim.Path, shores))
		s.cuts = append(s.cuts, make([]bool, shores))
		for b := range shores {
			p := netsim.Profile{}
			if a != b {
				p = s.conditions.Down
			}
			s.paths[a][b] = netsim.NewPath(p, seed+uint64(a*shores+b))
		}
	}
	return s
}

// way says what lies between two shores.
func (s *sea) way(a, b int) (c netsim.Conditions, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a == b {
		return netsim.Perfect, false
	}
	return s.conditions, s.cuts[a][b]
}

// set changes the conditions of all ways.
func (s *sea) set(c netsim.Conditions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conditions = passage(c)
	for a := range s.paths {
		for b := range s.paths {
			if a != b {
				s.paths[a][b].SetProfile(s.conditions.Down)
			}
		}
	}
}

// cut lets nothing through between two shores, or everything again.
func (s *sea) cut(a, b int, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts[a][b], s.cuts[b][a] = on, on
}

// open makes a link on a shore. Nobody else may have the address.
func (s *sea) open(addr netip.AddrPort, shore int) *berth {
	b := &berth{sea: s, addr: addr, shore: shore, wake: make(chan struct{}, 1), news: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.berths[addr] = b
	return b
}

// A berth is one end on a sea: a link.
type berth struct {
	sea   *sea
	addr  netip.AddrPort
	shore int
	wake  chan struct{} // someone wants Wait to end
	news  chan struct{} // something is on its way

	// What follows is guarded by the sea.
	in     cargo
	tally  link.Counters
	closed bool
}

// seaDatagram is the largest that a sea carries, and seaInbox how many may be on their way to one berth.
const (
	seaDatagram = 1200
	seaInbox    = 8192
)

var _ link.Link = (*berth)(nil)

// Receive takes what has arrived.
func (b *berth) Receive(batch []link.Datagram) (int, error) {
	s := b.sea
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.closed {
		return 0, link.ErrClosed
	}
	now, n := time.Since(s.born), 0
	for n < len(batch) && len(b.in) > 0 && b.in[0].at <= now {
		c := heap.Pop(&b.in).(crate)
		if s.cuts[c.shore][b.shore] {
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
func (b *berth) Send(batch []link.Datagram) (int, error) {
	s := b.sea
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.closed {
		return 0, link.ErrClosed
	}
	now := time.Since(s.born)
	for i := range batch {
		d := &batch[i]
		to := s.berths[d.Addr]
		switch {
		case len(d.Data) > seaDatagram:
			b.tally.Refused++
			return i, link.ErrTooLarge
		case to != nil && len(to.in) >= seaInbox:
			b.tally.Refused++
			return i, link.ErrFull
		}
		b.tally.Sent++
		b.tally.SentBytes += uint64(len(d.Data))
		if to == nil || s.cuts[b.shore][to.shore] {
			b.tally.DroppedOut++
			continue
		}
		f := s.paths[b.shore][to.shore].Pass(now, len(d.Data))
		for k := range f.Copies {
			data := slices.Clone(d.Data)
			if k == 0 && f.Flip >= 0 && len(data) > 0 {
				data[f.Flip/8%len(data)] ^= 1 << (f.Flip % 8)
			}
			s.sequence++
			heap.Push(&to.in, crate{at: f.At[k], sequence: s.sequence, from: b.addr, shore: b.shore, data: data})
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
func (b *berth) Wait(d time.Duration) (bool, error) {
	var end <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		end = timer.C
	}
	for woken := false; ; {
		b.sea.mu.Lock()
		rest, closed := time.Hour, b.closed
		if len(b.in) > 0 {
			rest = b.in[0].at - time.Since(b.sea.born)
		}
		b.sea.mu.Unlock()
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
func (b *berth) Wake() { nudge(b.wake) }

func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// MaxDatagram is the same everywhere.
func (b *berth) MaxDatagram() int { return seaDatagram }

// LocalAddr is where the berth is reached.
func (b *berth) LocalAddr() netip.AddrPort { return b.addr }

// Counters says what went through the link.
func (b *berth) Counters() link.Counters {
	b.sea.mu.Lock()
	defer b.sea.mu.Unlock()
	return b.tally
}

// Close gives the address free. What is on its way is lost.
func (b *berth) Close() error {
	s := b.sea
	s.mu.Lock()
	b.closed, b.in = true, nil
	if s.berths[b.addr] == b {
		delete(s.berths, b.addr)
	}
	s.mu.Unlock()
	b.Wake()
	return nil
}

// A crate is a datagram on its way.
type crate struct {
	at       time.Duration
	sequence uint64
	from     netip.AddrPort
	shore    int
	data     []byte
}

// cargo is what is on its way to one berth, the next to arrive first.
type cargo []crate

func (c cargo) Len() int { return len(c) }
func (c cargo) Less(i, j int) bool {
	return c[i].at < c[j].at || c[i].at == c[j].at && c[i].sequence < c[j].sequence
}
func (c cargo) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *cargo) Push(x any)   { *c = append(*c, x.(crate)) }
func (c *cargo) Pop() any {
	old := *c
	x := old[len(old)-1]
	*c = old[:len(old)-1]
	return x
}
