package peers

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/paths"
	"github.com/coeval-dev/coeval/world"
)

// The channels of all connections between peers.
const (
	chTurns   = iota // commands: the newest, and some that may have been lost
	chSmall          // what is said again anyway
	chLarge          // what is too large for that
	chControl        // what must come, in order
	channels
)

// Connections between peers are of one protocol, whatever the game, so that who plays another is
// told so.
const (
	protocolName    = "coeval peers"
	protocolVersion = 2
)

// carryRoom is how much smaller datagrams between peers are than what a link takes, so that they
// can be carried: by a member, and by a relay in a message of its own.
const carryRoom = paths.Room + 60

func (p *Peer) connOptions(bulk int) conn.Options {
	return conn.Options{
		Protocol: token.ProtocolID(protocolName), Version: protocolVersion, Seed: p.seed32(),
		Datagram: min(1200, p.opt.Link.MaxDatagram()) - carryRoom, Wall: p.opt.Wall,
		Channels: []conn.Channel{
			chTurns: {Mode: conn.Unreliable, Priority: 3}, chSmall: {
				Mode: conn.Unreliable, Priority: 2},
			chLarge:   {Mode: conn.Unordered, Priority: 2, MaxMessage: 256 << 10},
			chControl: {Mode: conn.Ordered, Priority: 1, MaxMessage: 256 << 10}},
		Rate: 512 << 10, MinRate: 16 << 10, RideShare: -1, MaxBulk: bulk,
	}
}

// A pair is the connection with another member: the one with the lower number is its server.
type pair struct {
	id     member.ID
	addr   netip.AddrPort // made up, see package paths
	way    [32]byte       // the key of paths
	key    token.Key
	server *conn.Server
	client *conn.Client
	conn   *conn.Conn // nil until it is open
	retry  time.Duration
	proved bool // the path had been proved when it was dialed
	bulk   bool // a world is under way

	sending
	hearing
}

// sending is what is known of which of our commands have come to the other.
type sending struct {
	told   bool          // it has said what it has
	items  outgoing      // the commands
	seals  outgoing      // what commits to them, see seal.go
	extras time.Duration // when it was last told more than commands
	handAt time.Duration // when it may be sent the world again
	asked  world.Tick    // from where on it asks for commands again
	defers bool          // nothing of a new era goes before it knows the decree of an epoch
	until  uint8         // that epoch
	// fresh is the first command that was new in each of the last packets that had one
	fresh [mostSpares]world.Tick
	// opening is the newest command that could be revealed when a packet last went
	opening world.Tick
}

// outgoing is which of some numbered things have come, by the packets that they went in.
type outgoing struct {
	acked   world.Tick // all up to here have come
	states  [256]flying
	flights []flight
}

// flying says in which packet something went last, and whether it has come.
type flying struct {
	tick    world.Tick
	packet  conn.PacketNumber
	out     bool // it is under way
	arrived bool // or one that stands for it
	itself  bool // and not another
}

type flight struct {
	packet   conn.PacketNumber
	from, to world.Tick
	wide     world.Tick // each stands for so many, up to it
}

// next finds the first that has not come and is not under way, of those from first to newest.
func (o *outgoing) next(first, newest world.Tick) world.Tick {
	o.acked = max(o.acked, first-1)
	for o.acked < newest {
		if f := &o.states[uint8(o.acked+1)]; f.tick != o.acked+1 || !f.arrived {
			break
		}
		o.acked++
	}
	from := o.acked + 1
	for from <= newest && o.states[uint8(from)].tick == from &&
		(o.states[uint8(from)].out || o.states[uint8(from)].arrived) {
		from++
	}
	return from
}

// went notes what goes with a packet.
func (o *outgoing) went(n conn.PacketNumber, wide, from, to world.Tick) {
	if from > to {
		return
	}
	o.flights = append(o.flights, flight{n, from, to, wide})
	for t := from; t <= to; t++ {
		f := &o.states[uint8(t)]
		*f = flying{tick: t, packet: n, out: true, arrived: f.tick == t && f.arrived,
			itself: f.tick == t && f.itself}
	}
}

// landed looks what has become of packets. What is lost goes again, unless it has to be asked for.
func (o *outgoing) landed(c *conn.Conn, again bool) {
	kept := o.flights[:0]
	for _, f := range o.flights {
		state := c.Packet(f.packet)
		if state == conn.PacketPending {
			kept = append(kept, f)
			continue
		}
		for t := f.from; t <= f.to; t++ {
			s := &o.states[uint8(t)]
			if s.tick != t {
				continue
			}
			if state != conn.PacketLost {
				o.came(t, f.wide)
			} else if s.packet == f.packet && again {
				s.out = false
			}
		}
	}
	o.flights = kept
}

// came notes that one has come, which stands for some before it.
func (o *outgoing) came(t, wide world.Tick) {
	for n := t + 1 - min(t, wide); n <= t; n++ {
		if s := &o.states[uint8(n)]; s.tick == n {
			s.arrived, s.itself = true, s.itself || n == t
		}
	}
}

// lacks says whether one has not come itself, and is not under way.
func (o *outgoing) lacks(t world.Tick) bool {
	s := &o.states[uint8(t)]
	return s.tick == t && !s.itself && !s.out
}

// hearing is what the other has said of itself.
type hearing struct {
	heard  time.Duration
	gap    time.Duration // between its packets of commands, as they come, smoothed
	turnA  time.Duration // when the last came
	epoch  uint8         // of what it last said it holds
	held   world.Tick    // up to where it holds everybody's commands
	said   bool
	shown  world.Tick    // what it showed, when it last said so
	shownA time.Duration // when that came
	ahead  int           // by how many ticks it says that it is ahead of us
	aheadN bool
	late   Lateness
}

// Lateness is how late the commands of another come: what it could make of being late.
type Lateness struct {
	Commands uint64     // that came
	Late     uint64     // after the tick that they are for had been shown with a guess
	Most     world.Tick // how many ticks late, at most
	Sum      world.Tick // and in all
}

// meet makes the machine for a pair.
func (p *Peer) meet(e *entry) error {
	key, err := p.id.pairKey(&e.card, &p.sum, p.self, e.id)
	if err != nil {
		return err
	}
	q := &pair{id: e.id, key: key, addr: paths.Addr(e.id), way: wayKey(key)}
	p.paths.Add(p.now, e.id, q.way, e.addrs)
	if x := p.meeting.mateOf(&e.card.sign); x != nil {
		p.paths.Add(p.now, e.id, q.way, x.addrs)
	}
	if p.self < e.id {
		o := conn.ServerOptions{
			Options: p.connOptions(maxState), Keys: []token.Key{key}, MaxClients: 2}
		o.TicketLife = -1
		if q.server, err = conn.NewServer(o); err != nil {
			return err
		}
	} else if err := p.dial(q); err != nil {
		return err
	}
	at := 0
	for at < len(p.pairs) && p.pairs[at].id < e.id {
		at++
	}
	p.pairs = append(p.pairs, nil)
	copy(p.pairs[at+1:], p.pairs[at:])
	p.pairs[at] = q
	return nil
}

// dial makes the client's side of a pair, with a token that only the two can make.
func (p *Peer) dial(q *pair) error {
	t, err := p.token(q.key, uint64(p.self), q.addr)
	if err != nil {
		return err
	}
	path, _ := p.paths.To(q.id)
	q.proved = path.Proved
	q.client, err = conn.NewClient(conn.ClientOptions{
		Options: p.connOptions(maxState), Token: t, Servers: []netip.AddrPort{q.addr}})
	return err
}

// redial tries again where nobody has answered: after a while, and at once when a path has proved
// itself, since what went before may have gone nowhere.
func (p *Peer) redial(q *pair) {
	if q.client == nil || q.conn != nil {
		return
	}
	path, _ := p.paths.To(q.id)
	if q.client.Done() && p.now >= q.retry || path.Proved && !q.proved {
		_ = p.dial(q)
	}
}

// token is one that this peer issues to itself, as it has the key.
func (p *Peer) token(key token.Key, client uint64, to netip.AddrPort) (token.Token, error) {
	const life = 48 * 3600 // clocks of players differ
	return token.Issue(key, token.Grant{
		Protocol: token.ProtocolID(protocolName), Client: client,
		Expires: p.opt.Wall + int64(p.now/time.Second) + life,
	}, p.rand)
}

func (p *Peer) pair(id member.ID) *pair {
	for _, q := range p.pairs {
		if q.id == id {
			return q
		}
	}
	return nil
}

// part closes a pair whose other end is gone, with a last word to it. A machine that returns is
// another member at the same address, so nothing of the one before may stay.
func (p *Peer) part(id member.ID) {
	for i, q := range p.pairs {
		if q.id != id {
			continue
		}
		if q.conn != nil {
			q.conn.Close(conn.ReasonGame, "")
			_, _ = link.SendAll(p.opt.Link, p.paths.Send(p.now, q.flush(p.now, nil)))
		}
		p.paths.Remove(id)
		p.pairs = append(p.pairs[:i], p.pairs[i+1:]...)
		return
	}
}

func (q *pair) open() bool { return q.conn != nil && q.conn.Open() }

func (q *pair) receive(now time.Duration, batch []link.Datagram) []conn.Event {
	if q.server != nil {
		q.server.Receive(now, batch)
		return q.server.Events()
	}
	q.client.Receive(now, batch)
	return q.client.Events()
}

func (q *pair) flush(now time.Duration, out []link.Datagram) []link.Datagram {
	if q.server != nil {
		return q.server.Flush(now, out)
	}
	return q.client.Flush(now, out)
}

func (q *pair) deadline() time.Duration {
	if q.server != nil {
		return q.server.Deadline()
	}
	return q.client.Deadline()
}

// small says something that is said again anyway, or reliably if it is too large for one packet.
func (q *pair) small(b []byte) {
	if !q.open() {
		return
	}
	if len(b) > q.conn.MaxPayload() {
		_ = q.conn.Send(chLarge, b)
		return
	}
	_ = q.conn.Send(chSmall, b)
}

// control says something that must come. Where it cannot be said the connection is as good as
// gone, and what follows from that is decided elsewhere.
func (q *pair) control(b []byte) {
	if q.open() {
		_ = q.conn.Send(chControl, b)
	}
}
