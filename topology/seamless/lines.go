package seamless

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/zone"
)

// lines are the connections to other servers, one to each: of two servers the one with the lower
// number connects. Who has the cluster's key makes the token for it, so who has not gets no answer
// that is of use.
type lines struct {
	self   zone.ServerID
	keys   []token.Key
	common conn.Options
	random *seed.Reader
	door   *conn.Server
	all    map[zone.ServerID]*line
	list   []*line                  // the same, in order of number
	dialed map[netip.AddrPort]*line // those that were connected to from here
	now    time.Duration

	// take is given each message that has come. Its bytes are good until it returns.
	take func(from zone.ServerID, data []byte)

	stats LineStats
}

// LineStats count what passes between servers.
type LineStats struct {
	Open            int // connections
	Sent, SentBytes uint64
	Received        uint64
	Unsent          uint64 // for want of a connection, or of room in it
}

// line is the connection to one other server.
type line struct {
	id     zone.ServerID
	addr   netip.AddrPort
	rev    uint64       // of the map, when it was last said to be there
	client *conn.Client // if this server has connected to that one
	conn   *conn.Conn
	retry  time.Duration
	mixer  mixer
}

const (
	protocolVersion = 1

	// What need not arrive goes by the first channel, what should by the second.
	looseChannel = 0
	firmChannel  = 1

	redial    = 200 * time.Millisecond
	tokenLife = 3600 // seconds; clocks differ
	// lineSilence ends a connection; whether a server is there, package zone judges earlier.
	lineSilence = 5 * time.Second
)

// openLines makes the lines of a server of one world.
func openLines(o *Options, world string, wall int64) (*lines, error) {
	l := &lines{self: o.Self, keys: o.Keys, all: map[zone.ServerID]*line{},
		dialed: map[netip.AddrPort]*line{}, random: seed.New(o.Seed)}
	l.common = conn.Options{
		Protocol: token.ProtocolID("coeval seamless " + world), Version: protocolVersion,
		Channels: []conn.Channel{{Mode: conn.Unreliable, Priority: 1},
			{Mode: conn.Unordered, MaxMessage: zone.MaxMessage + 64}},
		Datagram: max(o.Link.MaxDatagram(), 512), Timeout: lineSilence, MaxBulk: -1, Wall: wall,
		Rate: 8 << 20, MinRate: 2 << 20, MaxRate: 256 << 20,
	}
	so := conn.ServerOptions{Options: l.common, Keys: o.Keys, MaxClients: 4096, TicketLife: -1}
	l.random.Read(so.Seed[:])
	var err error
	if l.door, err = conn.NewServer(so); err != nil {
		return nil, fmt.Errorf("seamless: %w", err)
	}
	return l, nil
}

// know has a server be reached at an address.
// Of several that are said to be there, only the one is that has written last: others were there
// before it, and are gone. Who would go on connecting to those would end the connection to it.
func (l *lines) know(id zone.ServerID, addr netip.AddrPort, rev uint64) {
	n := l.need(id)
	n.rev = rev
	for _, o := range l.list {
		if o == n || o.addr != addr {
			continue
		}
		if o.rev > rev {
			return
		}
		l.hangUp(o)
		o.addr = netip.AddrPort{}
	}
	if n.addr != addr {
		l.hangUp(n)
		n.addr = addr
	}
}

func (l *lines) need(id zone.ServerID) *line {
	n := l.all[id]
	if n == nil {
		n = &line{id: id}
		l.all[id] = n
		at, _ := slices.BinarySearchFunc(l.list, id, func(n *line, id zone.ServerID) int {
			return cmp.Compare(n.id, id)
		})
		l.list = slices.Insert(l.list, at, n)
	}
	return n
}

// forget gives up a server that is gone.
func (l *lines) forget(id zone.ServerID) {
	if n := l.all[id]; n != nil {
		l.hangUp(n)
		delete(l.all, id)
		l.list = slices.DeleteFunc(l.list, func(o *line) bool { return o == n })
	}
}

// hangUp ends a connection from here.
func (l *lines) hangUp(n *line) {
	if n.client != nil {
		n.client.Close(conn.ReasonLeft, "")
		if l.dialed[n.addr] == n {
			delete(l.dialed, n.addr)
		}
		n.client, n.conn = nil, nil
	}
}

// open says whether something can be sent to a server.
func (n *line) open() bool { return n != nil && n.conn != nil && n.conn.Open() }

// tend connects where that is this server's to do.
func (l *lines) tend(now time.Duration) {
	l.now, l.stats.Open = now, 0
	for _, n := range l.list {
		if n.open() {
			l.stats.Open++
			continue
		}
		if n.client != nil && n.client.Done() {
			l.hangUp(n)
		}
		if n.id <= l.self || !n.addr.IsValid() || n.client != nil || now < n.retry {
			continue
		}
		n.retry = now + redial
		l.dial(n)
	}
}

func (l *lines) dial(n *line) {
	t, err := token.Issue(l.keys[0], token.Grant{Protocol: l.common.Protocol,
		Client:  uint64(l.self),
		Expires: l.common.Wall + int64(l.now/time.Second) + tokenLife}, l.random)
	if err != nil {
		return
	}
	o := conn.ClientOptions{Options: l.common, Token: t, Servers: []netip.AddrPort{n.addr},
		ConnectTimeout: time.Second}
	l.random.Read(o.Seed[:])
	if n.client, err = conn.NewClient(o); err != nil {
		n.client = nil
		return
	}
	if old := l.dialed[n.addr]; old != nil && old != n {
		l.hangUp(old) // a server that was there before
	}
	l.dialed[n.addr] = n
}

// receive takes datagrams.
func (l *lines) receive(now time.Duration, batch []link.Datagram) {
	l.now = now
	for i := range batch {
		d := &batch[i]
		if n := l.dialed[d.Addr]; n != nil && n.client != nil && !asks(d.Data) {
			n.client.Receive(now, batch[i:i+1])
			for _, e := range n.client.Events() {
				l.happened(n, &e)
			}
			continue
		}
		l.door.Receive(now, batch[i:i+1])
		l.atDoor()
	}
}

// asks says whether a datagram is one of those by which connections are asked for, which are for
// the door from wherever they come: see docs/protocol.md.
func asks(b []byte) bool { return len(b) > 0 && (b[0] == 1 || b[0] == 3) }

// atDoor deals with those who have connected to this server.
func (l *lines) atDoor() {
	for _, e := range l.door.Events() {
		id := zone.ServerID(e.Conn.Client())
		if id == 0 || id == l.self {
			e.Conn.Close(conn.ReasonViolation, "")
			continue
		}
		n := l.need(id)
		if e.Kind == conn.Connected {
			if old := l.dialed[e.Conn.Addr()]; old != nil {
				l.hangUp(old)
			}
			n.conn = e.Conn
		}
		l.happened(n, &e)
	}
}

func (l *lines) happened(n *line, e *conn.Event) {
	switch e.Kind {
	case conn.Connected:
		n.conn = e.Conn
	case conn.Disconnected:
		if n.conn == e.Conn {
			n.conn = nil
		}
	case conn.Message:
		data := e.Data
		if e.Channel == looseChannel {
			if data = n.mixer.take(data); data == nil {
				return
			}
		}
		l.stats.Received++
		l.take(n.id, data)
	}
}

// send sends a message, if there is a way.
func (l *lines) send(to zone.ServerID, loose bool, data []byte) {
	n := l.all[to]
	if !n.open() {
		l.stats.Unsent++
		return
	}
	l.stats.Sent++
	l.stats.SentBytes += uint64(len(data))
	if !loose {
		if n.conn.Send(firmChannel, data) != nil {
			l.stats.Unsent++
		}
		return
	}
	if !n.mixer.split(n.conn.MaxPayload(), data, func(part []byte) bool {
		return n.conn.Send(looseChannel, part) == nil
	}) {
		l.stats.Unsent++
	}
}

// flush appends the datagrams that are due.
func (l *lines) flush(now time.Duration, out []link.Datagram) []link.Datagram {
	out = l.door.Flush(now, out)
	l.atDoor()
	for _, n := range l.list {
		if n.client == nil {
			continue
		}
		out = n.client.Flush(now, out)
		for _, e := range n.client.Events() {
			l.happened(n, &e)
		}
	}
	return out
}

// deadline is when flush is due at the latest.
func (l *lines) deadline() time.Duration {
	d := l.door.Deadline()
	for _, n := range l.list {
		if n.client != nil {
			d = min(d, n.client.Deadline())
		}
	}
	return d
}

// close says goodbye to all.
func (l *lines) close() {
	l.door.Shutdown(conn.ReasonLeft, "")
	for _, n := range l.list {
		if n.client != nil {
			n.client.Close(conn.ReasonLeft, "")
		}
	}
}
