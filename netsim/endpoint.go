package netsim

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// Endpoint is a machine on a simulated network, or a process on one. It gets
// its datagrams either by asking (Receive, as from any [link.Link]) or by being
// called (Handle).
type Endpoint struct {
	net    *Net
	id     int
	name   string
	local  netip.AddrPort
	public netip.AddrPort // as others see it; the same unless behind NAT
	epoch  uint32         // counts changes of public
	router *Router        // it stands behind, or nil
	paths  []*netPath     // by id of the other end

	handler   func(from netip.AddrPort, data []byte)
	inbox     inbox
	handed    []int32 // what Receive gave out last
	limit     int
	max       int
	pauses    int
	down      bool
	closed    bool
	woken     bool
	boots     uint32
	onRestart func()
	deferred  []event // timers that came due during a pause

	counters link.Counters
}

var _ link.Link = (*Endpoint)(nil)

const (
	defaultInbox   = 4096 // datagrams, about what a socket's buffer holds
	defaultMax     = 1200
	endpointPort   = 4000
	firstHost      = 0x0a000001 // 10.0.0.1
	firstPublicNAT = 0xcb007101 // 203.0.113.1, from the range for documentation
)

// Endpoint makes a machine with an address of its own, 10.0.0.1:4000 for the
// first, or returns the one of that name. Scripts know it by its name, which
// should be a single word.
func (n *Net) Endpoint(name string) *Endpoint {
	name = word(name)
	if e := n.byName[name]; e != nil {
		return e
	}
	host := uint32(firstHost + len(n.endpoints))
	return n.EndpointAt(name, netip.AddrPortFrom(addr4(host), endpointPort))
}

// EndpointAt makes a machine with a given address, for tests in which addresses
// matter. The last to take an address has it.
func (n *Net) EndpointAt(name string, addr netip.AddrPort) *Endpoint {
	name = word(name)
	e := &Endpoint{
		net: n, id: len(n.endpoints), name: name, local: addr, public: addr, limit: defaultInbox,
		max: defaultMax}
	n.endpoints = append(n.endpoints, e)
	n.byName[name] = e
	n.byAddr[addr] = e
	return e
}

// Endpoints returns all machines in the order in which they were made.
func (n *Net) Endpoints() []*Endpoint { return n.endpoints }

// Name is what scripts call the endpoint.
func (e *Endpoint) Name() string { return e.name }

// Net is the network that the endpoint is on, for its clock.
func (e *Endpoint) Net() *Net { return e.net }

// LocalAddr is the endpoint's own address. Others see PublicAddr.
func (e *Endpoint) LocalAddr() netip.AddrPort { return e.local }

// PublicAddr is the address to send to, and the one that others see as sender:
// LocalAddr, or what the router in front of it made of that last.
func (e *Endpoint) PublicAddr() netip.AddrPort { return e.public }

// MaxDatagram is what Send accepts at most: 1200 bytes unless SetMaxDatagram
// says otherwise. A path may carry less, and then larger ones vanish.
func (e *Endpoint) MaxDatagram() int { return e.max }

// SetMaxDatagram changes what Send accepts.
func (e *Endpoint) SetMaxDatagram(n int) { e.max = n }

// SetInbox limits how many datagrams wait to be received, 4096 at first. More
// are dropped, as by a full socket.
func (e *Endpoint) SetInbox(n int) { e.limit = n }

// Running is false while the endpoint is paused, crashed or closed. A test that
// drives its machines in a loop, and not by timers, passes over those that do not
// run.
func (e *Endpoint) Running() bool { return e.pauses == 0 && !e.down && !e.closed }

// Counters says what the endpoint sent and received.
func (e *Endpoint) Counters() link.Counters { return e.counters }

// SendTo sends one datagram. A crashed endpoint's go nowhere.
func (e *Endpoint) SendTo(to netip.AddrPort, data []byte) error {
	switch {
	case e.closed:
		return link.ErrClosed
	case len(data) > e.max:
		e.counters.Refused++
		return link.ErrTooLarge
	}
	e.counters.Sent++
	e.counters.SentBytes += uint64(len(data))
	if e.down {
		e.counters.DroppedOut++
		return nil
	}
	e.net.transmit(e, e.home(), to, data)
	return nil
}

// Send sends a batch.
func (e *Endpoint) Send(batch []link.Datagram) (int, error) {
	for i := range batch {
		if err := e.SendTo(batch[i].Addr, batch[i].Data); err != nil {
			return i, err
		}
	}
	return len(batch), nil
}

// Handle has f called with each datagram as it arrives, in place of Receive. The
// data is good during the call. Nil goes back to Receive.
func (e *Endpoint) Handle(f func(from netip.AddrPort, data []byte)) {
	e.handler = f
	e.drain()
}

// Receive takes what has arrived and was not handled. A paused endpoint
// receives nothing.
func (e *Endpoint) Receive(batch []link.Datagram) (int, error) {
	if e.closed {
		return 0, link.ErrClosed
	}
	for _, k := range e.handed {
		e.net.release(k)
	}
	e.handed = e.handed[:0]
	if e.pauses > 0 {
		return 0, nil
	}
	n := min(len(batch), e.inbox.len())
	for i := range n {
		k := e.inbox.pop()
		e.handed = append(e.handed, k)
		p := &e.net.packets[k]
		batch[i] = link.Datagram{Addr: p.from, Data: p.data}
		e.counters.Received++
		e.counters.ReceivedBytes += uint64(len(p.data))
	}
	return n, nil
}

// Wait lets the network's time pass until there is something to receive here,
// d has passed, or Wake is called. With d below zero it also ends when nothing is
// left to happen.
func (e *Endpoint) Wait(d time.Duration) (bool, error) {
	done := func() bool { return e.closed || e.woken || e.ready() }
	if d < 0 {
		for !done() && e.net.Step() {
		}
	} else {
		e.net.RunUntil(d, done)
	}
	e.woken = false
	if e.closed {
		return false, link.ErrClosed
	}
	return e.ready(), nil
}

func (e *Endpoint) ready() bool { return e.inbox.len() > 0 && e.pauses == 0 }

// Wake ends a Wait.
func (e *Endpoint) Wake() { e.woken = true }

// Close takes the endpoint off the network for good.
func (e *Endpoint) Close() error {
	if !e.closed {
		e.forget()
		e.closed = true
		if e.router != nil {
			delete(e.router.endpoints, e.local)
		} else if e.net.byAddr[e.public] == e {
			delete(e.net.byAddr, e.public)
		}
	}
	return nil
}

// handle gives a datagram to the handler. The handler may send, and so move
// net.packets; only the buffer stays where it is.
func (e *Endpoint) handle(k int32) {
	p := &e.net.packets[k]
	e.counters.Received++
	e.counters.ReceivedBytes += uint64(len(p.data))
	e.handler(p.from, p.data)
	e.net.release(k)
}

// drain gives the handler what waited for it.
func (e *Endpoint) drain() {
	for e.handler != nil && e.ready() {
		e.handle(e.inbox.pop())
	}
}

// inbox is a queue of packets that keeps its memory.
type inbox struct {
	ring    []int32
	head, n int
}

func (q *inbox) len() int { return q.n }

func (q *inbox) push(k int32) {
	if q.n == len(q.ring) {
		grown := make([]int32, max(16, 2*len(q.ring)))
		for i := range q.n {
			grown[i] = q.ring[(q.head+i)%len(q.ring)]
		}
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = k
	q.n++
}

func (q *inbox) pop() int32 {
	k := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return k
}

func addr4(host uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(host >> 24), byte(host >> 16), byte(host >> 8), byte(host)})
}
