package conn

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// machine is what the connections of one server, or the one of a client, share:
// time, memory, randomness, and the events and datagrams on their way out.
type machine struct {
	opt    Options
	random *seed.Reader
	order  []uint8 // channels, most urgent first
	// unreliable has a bit set for each channel that is not reliable.
	unreliable uint16

	now   time.Duration // goes only forward, and never by more than maxStep at once
	raw   time.Duration // what the driver said last
	epoch uint32        // counts the jumps of the driver's clock
	// waited is for how long the datagram at hand had been there when it was received.
	waited time.Duration

	events    []Event      // since they were asked for last
	handed    []Event      // those handed out
	lent      [][]byte     // buffers that events refer to, to be taken back with them
	lentOut   [][]byte     // the same of those handed out
	buffers   link.Buffers // for messages that wait to be sent or to be put in order
	out       outgoing
	frames    frames      // the packet being built
	clock     [8]byte     // payload of a clock frame in it
	ticket    token.Token // the client's latest
	hasTicket bool
	stats     Stats
	handled   Ledger // bytes of connections that have ended, and of handshakes
}

// maxStep is the longest that the machine's time moves at once. A driver that was
// stopped for a minute, or whose clock jumps, must not make every peer look dead, nor
// every packet under way lost; such a step counts as jumpStep.
const (
	maxStep  = 2 * time.Second
	jumpStep = 50 * time.Millisecond
)

func (m *machine) init(o Options) {
	m.opt = o
	m.opt.Seed = [32]byte{}
	m.random = seed.New(o.Seed)
	m.random.Forget()
	for i := range o.Channels {
		m.order = append(m.order, uint8(i))
		if !o.Channels[i].Mode.reliable() {
			m.unreliable |= 1 << i
		}
	}
	slices.SortStableFunc(m.order, func(a, b uint8) int {
		urgent := cmp.Compare(o.Channels[b].Priority, o.Channels[a].Priority)
		return cmp.Or(urgent, int(m.unreliable>>a&1)-int(m.unreliable>>b&1))
	})
}

// advance takes the driver's time. The first call sets where it starts.
func (m *machine) advance(now time.Duration) {
	step := now - m.raw
	m.raw = now
	if step < 0 {
		m.stats.ClockBack++
		m.epoch++
		return
	}
	if step > maxStep {
		if m.now != 0 {
			m.stats.ClockJumps++
			m.epoch++
		}
		step = jumpStep
	}
	m.now += step
}

// wall is the Unix time in seconds.
func (m *machine) wall() int64 { return m.opt.Wall + int64(m.raw/time.Second) }

// emit adds an event and returns it to be filled in.
func (m *machine) emit(kind EventKind, c *Conn) *Event {
	m.events = append(m.events, Event{Kind: kind, Conn: c})
	return &m.events[len(m.events)-1]
}

// Events returns what has happened since it was called last. The slice is good
// until the next call; so is Data, except that messages may lie in the datagrams given
// to Receive, and last no longer than those.
func (m *machine) Events() []Event {
	// There are two lists, since looking at events may well cause others.
	clear(m.handed)
	for i, b := range m.lentOut {
		m.buffers.Put(b)
		m.lentOut[i] = nil
	}
	m.handed, m.events = m.events, m.handed[:0]
	m.lentOut, m.lent = m.lent, m.lentOut[:0]
	return m.handed
}

// outgoing gathers datagrams until Flush hands them over.
type outgoing struct {
	ready   []link.Datagram
	owners  []owner // whose each of ready is
	last    []owner // and those of the last Flush
	memory  [2]arena
	current int
}

// owner is the connection and number of a packet on its way out; none for handshakes.
type owner struct {
	conn   *Conn
	number uint32
	size   int
}

func (o *outgoing) arena() *arena { return &o.memory[o.current] }

func (o *outgoing) add(addr netip.AddrPort, data []byte, c *Conn, number uint32) {
	o.ready = append(o.ready, link.Datagram{Addr: addr, Data: data})
	o.owners = append(o.owners, owner{c, number, len(data)})
}

// take appends what is ready to out and starts gathering anew. The memory handed
// out last time is used again, that of this time not before the next.
func (o *outgoing) take(out []link.Datagram) []link.Datagram {
	out = append(out, o.ready...)
	o.ready = o.ready[:0]
	o.owners, o.last = o.last[:0], o.owners
	o.current ^= 1
	o.memory[o.current].reset()
	return out
}

// Refused tells that the link did not take datagram i of the last Flush, because
// it was full. The packet counts as lost at once, and its connection slows down.
func (m *machine) Refused(i int) {
	if i < 0 || i >= len(m.out.last) {
		return
	}
	m.stats.RefusedByLink++
	o := &m.out.last[i]
	if o.conn == nil {
		m.handled.Refused += uint64(o.size)
		return
	}
	c := o.conn
	c.book.Refused += uint64(o.size)
	c.rate.refused++
	if o.number >= c.sent.base && o.number < c.sent.next {
		if p := c.sent.at(o.number); p.state == PacketPending {
			c.packetLost(o.number, p)
		}
	}
}

// Stats tells what the machine met that was not as it should be.
func (m *machine) Stats() Stats { return m.stats }

// reply sends a handshake packet of at most size bytes that fill appends to what it is given.
func (m *machine) reply(addr netip.AddrPort, size int, fill func(b []byte) []byte) {
	m.frames.giveUp()
	b := m.out.arena().reserve(size)
	b = fill(b[:0])
	m.out.arena().commit(len(b))
	m.out.add(addr, b, nil, 0)
	m.handled.Sent[SentHandshake] += uint64(len(b))
	m.handled.Packets++
}
