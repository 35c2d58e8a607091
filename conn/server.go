package conn

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// Server is the end that accepts connections. It does nothing by itself: the
// driver gives it datagrams with Receive, looks at Events, sends on connections, and
// fetches datagrams with Flush. It is used from one goroutine.
type Server struct {
	machine
	so      ServerOptions
	cookies cookies

	slots   []*Conn // by the low bits of an identifier
	free    []int
	active  []*Conn // those with a slot, in no order
	clients int     // of those, not yet ended

	exchanges exchanges // with clients that are about to be let in

	byClient   map[uint64]*Conn
	bySource   map[netip.Addr]int // connections, by where they came from
	strangers  *strangers
	used       *Used
	pruned     time.Duration
	shut       bool
	grouped    uint32 // how often the group has changed
	prefetched uint64 // keeps the loads of prefetch from being left out as useless
}

// NewServer makes a server. It opens no socket.
func NewServer(o ServerOptions) (*Server, error) {
	if err := o.fill(1 << 20); err != nil {
		return nil, err
	}
	if len(o.Keys) == 0 {
		return nil, errors.New("conn: no key, a server needs at least one to open tokens")
	}
	if o.Wall <= 0 {
		return nil, errors.New(
			"conn: no time of day, set Options.Wall to the Unix time at now = 0, by which tokens " +
				"expire")
	}
	o.MaxClients = cmp.Or(o.MaxClients, defaultClients)
	if o.MaxClients < 0 || o.MaxClients > mostClients {
		return nil, fmt.Errorf("conn: room for %d clients, want 1 to %d", o.MaxClients, mostClients)
	}
	o.TicketLife = cmp.Or(o.TicketLife, time.Hour)
	fillDuration(&o.TicketsFor, 12*time.Hour)
	o.Addresses, o.Group = slices.Clone(o.Addresses), slices.Clone(o.Group)
	s := &Server{
		so: o, byClient: map[uint64]*Conn{}, bySource: map[netip.Addr]int{},
		used: o.Used,
	}
	if s.used == nil {
		s.used = NewUsed(nil)
	}
	s.exchanges.by = map[[token.IDSize]byte]struct{}{}
	s.exchanges.asked = map[stranger]struct{}{}
	s.machine.init(o.Options)
	s.so.Seed = [32]byte{} // known to the machine's reader alone, which forgets it
	s.cookies = newCookies(s.random)
	s.strangers = newStrangers(s.random)
	return s, nil
}

// Receive handles datagrams. It decrypts them in place, and messages in Events
// refer to them, so their memory must stay as it is until the events have been dealt with.
func (s *Server) Receive(now time.Duration, batch []link.Datagram) {
	s.advance(now)
	for i := range batch {
		if i%ahead == 0 {
			s.prefetchSenders(batch[i:min(i+ahead, len(batch))])
		}
		d := &batch[i]
		b := d.Data
		if len(b) >= dataMin && b[0]&kindData != 0 {
			id := headerIdentifier(b)
			slot := int(id & (maxSlots - 1))
			if slot >= len(s.slots) || s.slots[slot] == nil || s.slots[slot].own != id {
				s.stats.Unknown++
				continue
			}
			s.slots[slot].receive(b, d.Addr)
			continue
		}
		s.receiveHandshake(d)
	}
}

// Flush sends what is due on every connection and appends the datagrams to out.
// Their memory is good until the next Flush. Call it once a tick, and by
// the time that Deadline tells if there are no ticks.
func (s *Server) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	s.advance(now)
	s.frames.giveUp()
	s.letIn()
	for i := 0; i < len(s.active); {
		if i%ahead == 0 {
			s.prefetchConns(s.active[i:min(i+ahead, len(s.active))])
		}
		c := s.active[i]
		c.flush()
		if c.phase == phaseGone {
			s.release(i)
			continue
		}
		i++
	}
	s.challenge() // those who are known go first
	if s.now-s.pruned > pruneEvery {
		s.prune()
	}
	return s.out.take(out)
}

// letIn looks at those who have proved where they are.
func (s *Server) letIn() {
	s.awaitMarks()
	s.openResponses()
	if len(s.exchanges.queue) > 0 && !s.exchanges.taken {
		s.exchangeHere()
	}
}

// AttendStrangers does the part of Flush that is for those who are not connected yet. It is for
// servers that flush all connections less often than newcomers should wait.
func (s *Server) AttendStrangers(now time.Duration) {
	s.advance(now)
	s.frames.giveUp()
	s.letIn()
	s.challenge()
}

// FlushSome sends what is due on some connections, and all that was composed on any, and appends
// the datagrams to out as Flush does. It is for servers that look more often than once a tick and
// know to whom they have something to say. Flush is still to be called once a tick.
func (s *Server) FlushSome(now time.Duration, some []*Conn, out []link.Datagram) []link.Datagram {
	for _, c := range some {
		s.Attend(now, c)
	}
	s.advance(now)
	s.frames.giveUp()
	return s.out.take(out)
}

// Attend does what is due on one connection, as Flush does for all: it is for servers with so many
// connections that looking at each costs, where this one is at hand. Datagrams go with the next
// Flush or FlushSome.
func (s *Server) Attend(now time.Duration, c *Conn) {
	s.advance(now)
	s.frames.giveUp()
	c.flush()
}

// Conns calls yield for each open connection, in no order. It can be ranged over.
func (s *Server) Conns(yield func(*Conn) bool) {
	for _, c := range s.active {
		if c.phase == phaseOpen && !yield(c) {
			return
		}
	}
}

// Len is how many clients are connected, or about to be.
func (s *Server) Len() int { return s.clients + len(s.exchanges.by) }

// Find returns the connection of a player, or nil.
func (s *Server) Find(client uint64) *Conn {
	if c := s.byClient[client]; c != nil && c.phase == phaseOpen {
		return c
	}
	return nil
}

// Ledger sums up all bytes of all connections and handshakes, from the beginning.
func (s *Server) Ledger() Ledger {
	sum := s.handled
	for _, c := range s.active {
		sum.Add(&c.book)
	}
	return sum
}

// Shutdown closes every connection with a reason and turns everyone away from
// now on. Flush for two seconds more, or until Done, so that the clients hear of it.
func (s *Server) Shutdown(reason Reason, note string) {
	s.shut = true
	for _, c := range s.active {
		c.Close(reason, note)
	}
}

// Done reports whether nobody is left who needs to be told anything.
func (s *Server) Done() bool { return len(s.active) == 0 }

// Deadline is the latest time by which Flush should be called, if nothing comes
// and nothing is sent before.
func (s *Server) Deadline() time.Duration {
	d := s.now + maxStep
	if len(s.exchanges.queue) > 0 || len(s.strangers.responses) > 0 {
		d = s.now
	} else if len(s.exchanges.unmarked) > 0 {
		d = s.now + markLook
	}
	for _, c := range s.active {
		d = min(d, c.deadline())
	}
	return s.raw + (d - s.now)
}

// markLook is how often to look whether a mark that a client waits for is durable.
const markLook = 5 * time.Millisecond

// deadline is when a connection next has something to do of its own.
func (c *Conn) deadline() time.Duration {
	switch c.phase {
	case phaseClosing:
		return min(c.closing.next, c.closing.until)
	case phaseDraining:
		if c.closing.again {
			return c.m.now
		}
		return c.closing.until
	case phaseHalfOpen:
		return c.since + c.m.opt.Timeout
	case phaseGone:
		return c.m.now
	}
	d := min(c.lastData+c.m.opt.KeepAlive, c.lastHeard+c.m.opt.Timeout)
	if c.received.waiting > 0 {
		d = min(d, c.received.waitingAt+c.ackWait())
	}
	if at, ok := c.sent.oldestPending(); ok {
		d = min(d, at+c.patience())
		if c.sent.gap {
			d = min(d, at+c.overtaken())
		}
	}
	if c.waiting != 0 || c.bulkOut.ready() || c.control != 0 {
		d = min(d, max(c.pace.next, c.m.now))
	}
	if c.stage != trialNone {
		d = min(d, c.pathDue())
	}
	return max(d, c.m.now)
}

// release frees the slot of a connection that has ended.
func (s *Server) release(i int) {
	c := s.active[i]
	last := len(s.active) - 1
	s.active[i] = s.active[last]
	s.active = slices.Delete(s.active, last, last+1)
	s.slots[c.slot] = nil
	s.free = append(s.free, c.slot)
	s.handled.Add(&c.book)
}

// left is told by a connection that it has ended, though it may keep its slot a
// while longer.
func (s *Server) left(c *Conn) {
	s.clients--
	s.count(c.source, -1)
	if s.byClient[c.clientID] == c {
		delete(s.byClient, c.clientID)
	}
	if u := s.used.find(c.grant); u != nil && u.conn == c {
		u.conn = nil
	}
	s.used.markTicket(c)
}

// pruneEvery is how often used tokens are looked through for expired ones.
const pruneEvery = 10 * time.Second

func (s *Server) prune() {
	s.pruned = s.now
	s.used.prune(s.wall())
}
