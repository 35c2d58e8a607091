package peers

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// A world is sent over a connection of two whose datagrams the relay carries, and for which it has
// no key. Whoever needs one asks some of the others at once, and takes it from the first that
// answers.

// fetching is how this peer comes by a world.
type fetching struct {
	from, want world.Tick  // not older than this, and if there is one not newer than that
	only       []member.ID // if not empty, those who are right
	tries      []*fetch
	host       *fetch // who answered first
	next       int
	at         time.Duration
	since      time.Duration
}

// A fetch is an attempt with one of the others.
type fetch struct {
	to     member.ID
	client *conn.Client
	since  time.Duration
}

// hosting is one of the others who asks this peer for the world.
type hosting struct {
	id      member.ID
	server  *conn.Server
	conn    *conn.Conn
	asked   *askWorld
	sent    bool          // on this connection
	sending int           // bytes; 0 if none
	since   time.Duration // it is sent
	at      time.Duration
	used    time.Duration
}

const (
	fetchTries = 3
	fetchWait  = 2 * time.Second
	hostWait   = 5 * time.Second // for a world to begin to come
	mostHosts  = 2 * relay.MaxSeats
	// patienceForWorld is how long somebody waits for a world to come who has none, and sendTime
	// how long one who is sent it keeps others from being sent it.
	patienceForWorld = 60 * time.Second
	sendTime         = 60 * time.Second
	// sentAtOnce is how many bytes of worlds are sent at once, unless it is a single one: a relay
	// carries so much of each member, and those who have a world give it to the next.
	sentAtOnce = 256 << 10
	busyNote   = "others are sent the world now"

	kindAskWorld = 64
	relayedName  = "coeval relayed"
)

// ErrNoWorld says that a match goes on of which nobody who is there has sent the world.
var ErrNoWorld = errors.New("peers: nobody in the match sends the world")

// askWorld asks for a world.
type askWorld struct{ from, want world.Tick }

func (m *askWorld) fields(c *bits.Cursor) {
	tick(c, &m.from)
	tick(c, &m.want)
}

// relayedState is a world at a mark, with what is needed to read the rows after it.
type relayedState struct {
	match Match
	tick  world.Tick
	turns uint64
	world []byte
	seats []seatThen
}

// seatThen is who had a seat, and the last command of the stream.
type seatThen struct {
	seat   uint8
	state  uint8
	member member.ID
	image  []int32
}

const relayedVersion = 1

func (m *relayedState) fields(c *bits.Cursor) {
	version := uint8(relayedVersion)
	c.U8(&version)
	c.Check(version == relayedVersion)
	m.match.fields(c)
	tick(c, &m.tick)
	c.U64(&m.turns)
	blob(c, &m.world, maxState)
	list(c, &m.seats, relay.MaxSeats, func(s *seatThen) {
		c.U8(&s.seat)
		c.U8(&s.state)
		c.U16((*uint16)(&s.member))
		c.Check(s.seat < relay.MaxSeats && s.state <= uint8(seatAbsent))
		n := uint16(len(s.image))
		c.U16(&n)
		c.Check(n < 4096)
		if c.Reading() && c.OK() {
			s.image = make([]int32, n)
		}
		for i := range s.image {
			v := uint32(s.image[i])
			c.U32(&v)
			s.image[i] = int32(v)
		}
	})
}

// memberAddr stands for a member where a connection wants an address.
func memberAddr(id member.ID) netip.AddrPort {
	a := [16]byte{0: 0xfd, 1: 'r', 2: 'o', 3: 'w', 14: byte(id >> 8), 15: byte(id)}
	return netip.AddrPortFrom(netip.AddrFrom16(a), 1)
}

func (p *Relayed) connOptions(bulk int) conn.Options {
	return conn.Options{
		Protocol: token.ProtocolID(relayedName), Version: relayedVersion, Seed: p.seed32(),
		Datagram: min(1200, p.line.client.MaxCarry()-1), Wall: p.opt.Wall,
		Channels: []conn.Channel{{Mode: conn.Ordered}},
		Rate:     192 << 10, MinRate: 16 << 10, RideShare: -1, MaxBulk: bulk,
	}
}

// doorKey is the key of a connection with one of the others.
func (p *Relayed) doorKey(m *relay.Peer) (token.Key, error) {
	var c card
	if len(m.Key) != len(c.sign)+len(c.agree) {
		return token.Key{}, errKeys
	}
	copy(c.sign[:], m.Key)
	copy(c.agree[:], m.Key[len(c.sign):])
	return p.id.pairKey(&c, &p.sum, p.line.in.Self, m.Member)
}

// seek asks the others for a world, if this peer needs one.
func (p *Relayed) seek() error {
	f := &p.fetch
	for _, t := range slices.Clone(f.tries) {
		if err := p.fetched(t, t.client.Events()); err != nil {
			return err
		}
	}
	f.tries = slices.DeleteFunc(f.tries, func(t *fetch) bool { return t.client.Done() })
	if p.line.in == nil || p.rolls.valid && !p.says.wrong {
		return nil
	}
	if !p.rolls.valid && p.now-f.since > patienceForWorld && !f.coming() {
		return ErrNoWorld
	}
	for _, t := range slices.Clone(f.tries) {
		if t != f.host && p.now-t.since > fetchWait {
			f.drop(t.to, "")
		}
	}
	if h := f.host; h != nil && p.now-h.since > hostWait && !f.coming() {
		f.drop(h.to, "")
	}
	if f.host != nil || p.now < f.at || len(f.tries) >= fetchTries {
		return nil
	}
	f.at = p.now + triesEvery
	return p.ask()
}

// coming says whether a world is being sent.
func (f *fetching) coming() (coming bool) {
	if f.host != nil {
		if c := f.host.client.Conn(); c != nil {
			_, _, _, coming = c.BulkIncoming()
		}
	}
	return coming
}

// ask tries one more of the others.
func (p *Relayed) ask() error {
	f, l := &p.fetch, &p.line
	if f.next == 0 && l.in.Running { // at the start those who were first have the world
		f.next = int(p.rand.Uint64() % 1024)
	}
	for range l.members {
		m := l.members[f.next%len(l.members)]
		f.next++
		if len(f.only) > 0 && !slices.Contains(f.only, m.Member) ||
			slices.ContainsFunc(f.tries, func(t *fetch) bool { return t.to == m.Member }) {
			continue
		}
		key, err := p.doorKey(m)
		if err != nil {
			continue
		}
		const life = 48 * 3600 // clocks of players differ
		tok, err := token.Issue(key, token.Grant{Protocol: token.ProtocolID(relayedName),
			Client: p.rand.Uint64() | 1, Expires: p.opt.Wall + int64(p.now/second) + life}, p.rand)
		if err != nil {
			return err
		}
		c, err := conn.NewClient(conn.ClientOptions{Options: p.connOptions(maxState), Token: tok,
			Servers: []netip.AddrPort{memberAddr(m.Member)}})
		if err != nil {
			return err
		}
		f.tries = append(f.tries, &fetch{to: m.Member, client: c, since: p.now})
		return nil
	}
	return nil
}

// drop gives up an attempt.
func (f *fetching) drop(id member.ID, why string) {
	for _, t := range f.tries {
		if t.to == id {
			t.client.Close(conn.ReasonGame, why)
			if f.host == t {
				f.host = nil
			}
		}
	}
}

// stop gives up all attempts, without a word.
func (f *fetching) stop() { f.tries, f.host = nil, nil }

// done says goodbye to all.
func (f *fetching) done() {
	for _, t := range f.tries {
		t.client.Close(conn.ReasonGame, "")
	}
	f.host, f.only = nil, nil
}

// fetched handles what happens in an attempt.
func (p *Relayed) fetched(t *fetch, events []conn.Event) error {
	f := &p.fetch
	for i := range events {
		switch e := &events[i]; e.Kind {
		case conn.Connected:
			if f.host != nil || p.rolls.valid && !p.says.wrong {
				t.client.Close(conn.ReasonGame, "")
				continue
			}
			f.host, t.since = t, p.now
			for _, o := range f.tries {
				if o != t {
					o.client.Close(conn.ReasonGame, "")
				}
			}
			m := askWorld{f.from, f.want}
			_ = e.Conn.Send(0, message(kindAskWorld, m.fields))
		case conn.Disconnected:
			if f.host == t {
				f.host = nil
			}
			if string(e.Data) == busyNote {
				f.since = p.now // somebody will
			}
		case conn.BulkReceived:
			if f.host != t {
				continue
			}
			if err := p.arrived(t.to, e.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrived takes a world that was sent.
func (p *Relayed) arrived(from member.ID, data []byte) error {
	st, w, err := p.readState(data)
	switch {
	case err != nil:
		p.stats.Malformed++
		p.tell(News{Kind: Refused, Member: from, Text: "a world that makes no sense", Err: err})
		p.fetch.drop(from, "")
		return nil
	case p.rolls.valid:
		return p.repaired(from, st, w)
	case st.tick < p.fetch.from:
		p.fetch.drop(from, "")
		return nil
	}
	p.match = st.match
	p.rolls.start(st.tick, p.match.Every, p.match.Seats)
	for i := range st.seats {
		s := &st.seats[i]
		x := &p.rolls.seats[s.seat]
		x.state, x.member = seatState(s.state), s.member
		copy(x.last, s.image)
		if x.state == seatPlays {
			copy(x.guess, s.image)
			p.rolls.coder.Repeat(x.guess)
		}
	}
	p.rolls.call(st.tick)
	p.phase = Guest
	p.fetch.done()
	p.tell(News{Kind: Following, Member: from, Tick: st.tick})
	return p.begin(w, st.turns)
}

// readState makes sense of a world that was sent.
func (p *Relayed) readState(data []byte) (*relayedState, *world.World, error) {
	var st relayedState
	c := bits.CursorOver(data)
	if st.fields(&c); !c.Done() {
		return nil, nil, fmt.Errorf("peers: %d bytes that should be a world make no sense",
			len(data))
	}
	if err := st.match.fits(p.game); err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(st.match.terms(), p.line.in.Match.Params) {
		return nil, nil, errors.New("peers: the world of another match")
	}
	for i := range st.seats {
		if len(st.seats[i].image) != p.rolls.coder.Len() {
			return nil, nil, errors.New("peers: a command of another game")
		}
		if int(st.seats[i].seat) >= st.match.Seats || i > 0 &&
			st.seats[i].seat <= st.seats[i-1].seat {
			return nil, nil, errors.New("peers: a seat that the match does not have")
		}
	}
	w, err := p.game.Load(st.world)
	if err != nil {
		return nil, nil, err
	}
	if w.Tick() != st.tick {
		return nil, nil, fmt.Errorf("peers: a world of tick %d that should be of %d", w.Tick(),
			st.tick)
	}
	return &st, w, nil
}

// carried takes a datagram of another member.
func (p *Relayed) carried(from member.ID, b []byte) {
	if len(b) < 2 {
		return
	}
	one := []link.Datagram{{Addr: memberAddr(from), Data: b[1:]}}
	switch b[0] {
	case fromDoor:
		for _, t := range slices.Clone(p.fetch.tries) {
			if t.to == from {
				t.client.Receive(p.now, one)
				if err := p.fetched(t, t.client.Events()); err != nil {
					_ = p.end(err)
				}
			}
		}
	case toDoor:
		if h := p.hosting(from); h != nil {
			h.server.Receive(p.now, one)
			p.knocked(h)
		}
	default:
		p.stats.Malformed++
	}
}

// hosting is the door for a member, or nil if this peer has no world to give.
func (p *Relayed) hosting(id member.ID) *hosting {
	for _, h := range p.hosts {
		if h.id == id {
			return h
		}
	}
	m := p.line.member(id)
	if m == nil || p.copy == nil || !p.rolls.valid || p.says.wrong || p.line.in == nil ||
		len(p.hosts) >= mostHosts {
		return nil
	}
	key, err := p.doorKey(m)
	if err != nil {
		return nil
	}
	o := conn.ServerOptions{Options: p.connOptions(-1), Keys: []token.Key{key}, MaxClients: 2,
		TicketLife: -1}
	h := &hosting{id: id, used: p.now}
	if h.server, err = conn.NewServer(o); err != nil {
		return nil
	}
	p.hosts = append(p.hosts, h)
	return h
}

// knocked handles what happens at a door.
func (p *Relayed) knocked(h *hosting) {
	for _, e := range h.server.Events() {
		h.used = p.now
		switch e.Kind {
		case conn.Connected:
			h.conn, h.asked, h.sent, h.sending = e.Conn, nil, false, 0
		case conn.BulkSent:
			h.sending = 0
		case conn.Disconnected:
			if e.Conn == h.conn {
				h.conn, h.asked, h.sending = nil, nil, 0
			}
		case conn.Message:
			var m askWorld
			if len(e.Data) == 0 || e.Data[0] != kindAskWorld || e.Conn != h.conn {
				p.stats.Malformed++
				continue
			}
			c := bits.CursorOver(e.Data[1:])
			if m.fields(&c); c.Done() && h.asked == nil && !h.sent {
				h.asked = &m
			}
		}
	}
}

// serve sends the world to those who have asked for it, and forgets those who have it.
func (p *Relayed) serve() error {
	for _, h := range p.hosts {
		p.knocked(h)
		if h.asked == nil || h.conn == nil || p.now < h.at {
			continue
		}
		if h.at = p.now + second/10; p.busy() {
			h.conn.Close(conn.ReasonGame, busyNote)
			h.asked = nil
		} else {
			p.hand(h)
		}
	}
	p.hosts = slices.DeleteFunc(p.hosts, func(h *hosting) bool {
		return h.conn == nil && p.now-h.used > hostWait && h.server.Done()
	})
	return nil
}

// busy says whether so much is being sent to others that one more would only make all slower.
func (p *Relayed) busy() bool {
	sum, most := 0, 0
	for _, h := range p.hosts {
		if p.now-h.since < sendTime {
			sum, most = sum+h.sending, max(most, h.sending)
		}
	}
	return sum > 0 && sum+most > sentAtOnce
}

// hand sends somebody the newest world that is not newer than they want, or the oldest that is not
// older than they can use.
func (p *Relayed) hand(h *hosting) {
	if p.copy == nil || !p.rolls.valid || p.says.wrong {
		return
	}
	marks := p.copy.Marks()
	best := -1
	for i := range marks {
		t := marks[i].Tick
		if t < h.asked.from || p.rolls.called(t) == nil {
			continue
		}
		if best < 0 || t <= h.asked.want {
			best = i
		}
	}
	if best < 0 {
		return // soon there is one
	}
	m := &marks[best]
	st := &relayedState{match: p.match, tick: m.Tick, turns: m.Turns,
		world: m.World.Host().Save(nil)}
	then := p.rolls.called(m.Tick)
	for i := range then.seats {
		if x := &then.seats[i]; x.state != seatFree {
			st.seats = append(st.seats, seatThen{uint8(i), uint8(x.state), x.member, x.last})
		}
	}
	c := bits.CursorTo(nil)
	st.fields(&c)
	if _, err := h.conn.SendBulk(1, c.Data()); err == nil {
		h.sending, h.since, h.asked, h.sent = len(c.Data()), p.now, nil, true
	}
}

// flushDoors has the relay carry what connections of two have to say.
func (p *Relayed) flushDoors() {
	if p.line.in == nil {
		return
	}
	for _, t := range p.fetch.tries {
		p.carry(t.to, toDoor, t.client.Flush(p.now, p.out[:0]))
	}
	for _, h := range p.hosts {
		p.carry(h.id, fromDoor, h.server.Flush(p.now, p.out[:0]))
	}
}

func (p *Relayed) carry(to member.ID, first byte, list []link.Datagram) {
	p.out = list
	for i := range list {
		p.sealed = append(append(p.sealed[:0], first), list[i].Data...)
		_ = p.line.client.Carry(to, p.sealed) // what is not taken is as good as lost on the way
	}
}
