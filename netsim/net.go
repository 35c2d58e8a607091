package netsim

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Net is a simulated network with its own clock. Everything on it happens in
// the goroutine that runs it, in an order that depends on the seed and on what
// its user does, and on nothing else.
type Net struct {
	now    time.Duration
	seed   uint64
	rand   Rand
	trace  func(Event)
	events queue
	order  uint64

	packets []packet
	free    []int32 // packets not in use
	timers  []timer
	idle    []int32 // timers not in use

	endpoints  []*Endpoint
	outside    *Endpoint // whence Inject sends, made when needed
	byName     map[string]*Endpoint
	byAddr     map[netip.AddrPort]*Endpoint
	routers    map[netip.Addr]*Router         // on the open network
	allRouters []*Router                      // in the order in which they were made
	groups     map[netip.AddrPort][]*Endpoint // of multicast
	passGroups func(from, to *Endpoint, data []byte) bool
	conditions Conditions
	nextHost   uint32 // for public addresses of routers
	digest     uint64
	unrouted   uint64

	faults    []Fault
	inForce   map[int32]inForce
	scripted  map[[2]string]map[uint64]decision // faults of single datagrams, by path
	exact     bool                              // paths draw nothing
	replaying bool                              // faults are given, Chaos adds none
	noting    bool
	noted     []Fault
}

// Options are for New. The zero value is a perfect network with seed 0.
type Options struct {
	Seed uint64
	// Conditions hold between all endpoints that Connect says nothing else about.
	Conditions Conditions
	// Trace, when set, is told everything that happens to a datagram, for debugging.
	Trace func(Event)
}

// Event is one thing that happened to a datagram.
type Event struct {
	At       time.Duration
	What     What
	From, To string // names of endpoints; To is empty for an address that nobody has
	Number   uint64 // of the datagram on its path, from 1, as scripts count them
	Data     []byte // good during the call of Trace
}

// What happened to a datagram.
type What string

// The kinds of Event.
const (
	Sent      What = "sent"
	Delivered What = "delivered"
	Dropped   What = "dropped" // lost, cut off, overflowed, too large or without a receiver
)

// packet is a datagram on its way or in an inbox.
type packet struct {
	data   []byte
	from   netip.AddrPort
	to     *Endpoint
	path   *netPath
	number uint64
	epoch  uint32 // of the address it was sent to
	doors  doors  // of the routers that it comes in by
}

// New makes a network.
func New(o Options) *Net {
	return &Net{
		seed:       o.Seed,
		rand:       Rand{state: mix(o.Seed ^ hashName("traffic"))},
		trace:      o.Trace,
		order:      orderAfterFaults,
		byName:     make(map[string]*Endpoint),
		byAddr:     make(map[netip.AddrPort]*Endpoint),
		routers:    make(map[netip.Addr]*Router),
		groups:     make(map[netip.AddrPort][]*Endpoint),
		conditions: o.Conditions,
		inForce:    make(map[int32]inForce),
		scripted:   make(map[[2]string]map[uint64]decision),
	}
}

// Seed is what the whole run hangs on. Print it when a test fails.
func (n *Net) Seed() uint64 { return n.seed }

// SetTrace has f told everything that happens to datagrams, as Options.Trace.
func (n *Net) SetTrace(f func(Event)) { n.trace = f }

// Now is the time since the network was made.
func (n *Net) Now() time.Duration { return n.now }

// Rand is for the traffic of a test: what to send, when, how much. It is apart
// from the chance that governs paths.
func (n *Net) Rand() *Rand { return &n.rand }

// Digest sums up every delivery so far: when, where, what. Two runs that did
// the same have the same digest.
func (n *Net) Digest() uint64 { return n.digest }

// Step makes the next thing happen, and moves the clock to it. It returns false
// when nothing is left to happen.
func (n *Net) Step() bool {
	if len(n.events) == 0 {
		return false
	}
	due, rest := n.events.Pop()
	e := due.Value
	n.events = rest
	n.now = max(n.now, due.Key)
	switch e.kind {
	case eventPacket:
		n.arrive(e.index)
	case eventTimer:
		n.fire(e)
	case eventFault:
		n.begin(e.index)
	case eventFaultEnd:
		n.end(e.index)
	}
	return true
}

// Run lets the time d pass.
func (n *Net) Run(d time.Duration) { n.RunUntil(d, nil) }

// RunUntil lets time pass until done is true or the time d has passed, and
// returns whether done was true. It asks after each thing that happens.
func (n *Net) RunUntil(d time.Duration, done func() bool) bool {
	end := later(n.now, d)
	if done != nil && done() {
		return true
	}
	for len(n.events) > 0 && n.events[0].Key <= end {
		n.Step()
		if done != nil && done() {
			return true
		}
	}
	n.now = max(n.now, end)
	return false
}

// schedule puts an event after all others of its time.
func (n *Net) schedule(at time.Duration, kind eventKind, index int32, gen uint32) {
	n.order++
	n.push(at, n.order, event{kind: kind, index: index, gen: gen})
}

// Inject delivers a datagram at once that claims to come from any address at
// all: what an attacker sends, or what was overheard before and is played back.
func (n *Net) Inject(from, to netip.AddrPort, data []byte) {
	if n.outside == nil {
		// It is on the network without being one of its endpoints.
		n.outside = &Endpoint{net: n, id: -1, name: "outside"}
	}
	n.transmit(n.outside, from, to, data)
}

// transmit puts a datagram on the path from e to whoever has the address.
func (n *Net) transmit(e *Endpoint, from, to netip.AddrPort, data []byte) {
	if to.Addr().IsMulticast() {
		n.multicast(e, from, to, data)
		return
	}
	from, dst, in := n.translate(e, from, to)
	if dst == nil {
		n.unrouted++
		if n.trace != nil {
			n.trace(Event{At: n.now, What: Sent, From: e.name, Data: data})
			n.trace(Event{At: n.now, What: Dropped, From: e.name, Data: data})
		}
		return
	}
	path := n.path(e, dst)
	fate := path.Pass(n.now, len(data))
	if n.trace != nil {
		n.trace(Event{At: n.now, What: Sent, From: e.name, To: dst.name, Number: path.number,
			Data: data})
		if fate.Copies == 0 {
			n.trace(Event{At: n.now, What: Dropped, From: e.name, To: dst.name, Number: path.number,
				Data: data})
		}
	}
	for i := range fate.Copies {
		k := n.take(data)
		p := &n.packets[k]
		p.from, p.to, p.path, p.number = from, dst, path, path.number
		p.epoch = dst.epoch
		if in[0] != nil || p.doors[0] != nil {
			p.doors = in // most networks have no routers
		}
		if i == 0 && fate.Flip >= 0 {
			p.data[fate.Flip/8] ^= 1 << (fate.Flip % 8)
		}
		n.schedule(fate.At[i], eventPacket, k, 0)
	}
}

// arrive brings a datagram to its endpoint.
func (n *Net) arrive(k int32) {
	p := &n.packets[k]
	e := p.to
	missing := &p.path.stats.Unrouted
	var ok bool
	switch {
	case p.path.cuts > 0:
		missing = &p.path.stats.Cut
	case e.down || e.closed || p.epoch != e.epoch || !p.doors.admit(p.from):
	case e.inbox.len() >= e.limit:
		e.counters.DroppedIn++
	default:
		ok = true
	}
	if !ok {
		*missing++
		p.path.stats.Delivered--
		p.path.stats.DeliveredBytes -= uint64(len(p.data))
		n.tell(Dropped, p)
		n.release(k)
		return
	}
	n.tell(Delivered, p)
	n.digest = mix(n.digest ^ uint64(n.now) ^ hashBytes(p.data))
	n.digest = mix(n.digest + uint64(e.id)<<32 + p.number)
	if e.handler == nil || e.pauses > 0 {
		e.inbox.push(k)
		return
	}
	e.handle(k)
}

func (n *Net) tell(what What, p *packet) {
	if n.trace != nil {
		n.trace(Event{At: n.now, What: what, From: p.path.from.name, To: p.to.name,
			Number: p.number, Data: p.data})
	}
}

// take copies data into a packet that is not in use.
func (n *Net) take(data []byte) int32 {
	if len(n.free) == 0 {
		n.packets = append(n.packets, packet{})
		n.free = append(n.free, int32(len(n.packets)-1))
	}
	k := n.free[len(n.free)-1]
	n.free = n.free[:len(n.free)-1]
	n.packets[k].data = append(n.packets[k].data[:0], data...)
	return k
}

func (n *Net) release(k int32) { n.free = append(n.free, k) }

// hashBytes feeds the digest, eight bytes at a time.
func hashBytes(b []byte) uint64 {
	h := uint64(len(b)) * golden
	for len(b) >= 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var w uint64
	for i, c := range b {
		w |= uint64(c) << (8 * i)
	}
	return mix(h ^ w)
}
