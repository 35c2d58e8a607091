package peers

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/world"
)

// door is where others knock who want to play or watch. Every peer that has the world has one.
type door struct {
	server  *conn.Server
	guests  []*guest
	settled world.Tick // of one who watches: as it was told
	entered time.Duration
	sayAt   time.Duration
	lackAt  time.Duration
}

// A guest is somebody at the door, or inside without being a member.
type guest struct {
	conn  *conn.Conn
	nonce [16]byte
	since time.Duration
	said  bool // it has said who it is, and was let in
	candidate
	watch   bool
	fed     bool // it has the world
	bulk    conn.BulkID
	sending bool
	epoch   uint32     // the newest decree that it was told
	base    world.Tick // of the world that it was sent
	sent    []want     // from where on each member's commands are to be sent
	feedAt  time.Duration
	askAt   time.Duration
	settled world.Tick
	at      world.Tick // how far it has come
	entered bool       // it has become a member
}

const maxGuests = 16

// helloPatience is how long a guest may take to say who it is.
const helloPatience = 5 * time.Second

func (p *Peer) openDoor() error {
	if p.door.server != nil {
		return nil
	}
	o := conn.ServerOptions{Options: p.connOptions(-1), Keys: []token.Key{doorKey(&p.opt.Secret)},
		MaxClients: maxGuests, MaxPerSource: maxGuests / 2, TicketLife: -1}
	s, err := conn.NewServer(o)
	p.door.server = s
	return err
}

func (p *Peer) closeDoor() {
	for _, g := range p.door.guests {
		g.conn.Close(conn.ReasonGame, "this one is out of the match itself")
	}
	p.door.guests = nil
}

// atDoor takes a datagram of a connection at a door: this peer's, or another's at which it knocks.
func (p *Peer) atDoor(mine bool, one []link.Datagram) {
	for _, t := range p.ask.tries {
		if !mine && t.addr == one[0].Addr {
			t.client.Receive(p.now, one)
			for _, e := range t.client.Events() {
				p.answered(t, &e)
			}
			return
		}
	}
	if p.door.server == nil || !mine {
		return
	}
	p.door.server.Receive(p.now, one)
	for _, e := range p.door.server.Events() {
		p.knocked(&e)
	}
}

func (p *Peer) knocked(e *conn.Event) {
	i := slices.IndexFunc(p.door.guests, func(g *guest) bool { return g.conn == e.Conn })
	switch {
	case e.Kind == conn.Connected:
		if p.copy == nil {
			e.Conn.Close(conn.ReasonGame, "this one is out of the match itself")
			return
		}
		g := &guest{conn: e.Conn, since: p.now}
		_, _ = p.rand.Read(g.nonce[:])
		p.door.guests = append(p.door.guests, g)
		_ = g.conn.Send(chControl, append([]byte{kindNonce}, g.nonce[:]...))
	case i < 0:
	case e.Kind == conn.Disconnected:
		p.door.guests = slices.Delete(p.door.guests, i, i+1)
	case e.Kind == conn.BulkSent && p.door.guests[i].sending:
		p.door.guests[i].sending, p.door.guests[i].fed = false, true
	case e.Kind == conn.Message && len(e.Data) > 0 && e.Channel != chTurns:
		p.guestSaid(p.door.guests[i], e.Data[0], e.Data[1:])
	}
}

func (p *Peer) guestSaid(g *guest, kind uint8, b []byte) {
	c := bits.CursorOver(b)
	switch kind {
	case kindHello:
		var m hello
		if m.fields(&c); !c.Done() || g.said {
			p.stats.Malformed++
			return
		}
		if refusal := p.greet(g, &m); refusal != nil {
			if m.member != 0 {
				p.sendDecree(g)
			}
			_ = g.conn.Send(chControl, message(kindNo, refusal.fields))
			p.tell(News{Kind: Refused, Text: m.card.name + ": " + refusal.why})
			p.stats.TurnedAway++
			return
		}
		g.said, g.watch = true, m.watch
		g.returns = p.charter.holder(&m.card.sign) != nil
		g.card, g.addrs = m.card, m.addrs
		at := g.conn.Addr()
		if _, by := relayNumber(at); by {
			return // where it is the relay knows
		}
		g.addrs = slices.DeleteFunc(g.addrs, func(a netip.AddrPort) bool { return a == at })
		g.addrs = slices.Insert(g.addrs, 0, at)
		g.addrs = g.addrs[:min(len(g.addrs), maxAddrs)]
		if m.watch {
			p.tell(News{Kind: Watching, Text: m.card.name})
		}
	case kindBehind:
		var m have
		if m.fields(&c); c.Done() {
			g.at = m.upTo
		}
	}
}

// expired says whether nobody new is let in any more.
func (p *Peer) expired() bool {
	return p.opt.Expires != 0 && p.opt.Wall+int64(p.now/time.Second) >= p.opt.Expires
}

// greet says why a guest is not let in, or nil.
func (p *Peer) greet(g *guest, m *hello) *no {
	if m.game != p.match.Game || m.rules != p.match.Rules {
		return &no{why: fmt.Sprintf("this is %q with rules %016x, and you have %q with %016x: "+
			"everybody needs the same program", p.match.Game, p.match.Rules, m.game, m.rules)}
	}
	if !m.card.signed(p.helloText(g.nonce[:], m), &m.sign) {
		return &no{why: "what you say of yourself is not signed by you"}
	}
	if p.expired() && !p.charter.knows(&m.card.sign) {
		return &no{why: "the invitation has expired, and you were not in: nobody new is let in"}
	}
	watchers, others := 0, []netip.AddrPort(nil)
	for _, o := range p.door.guests {
		if o.said && o.watch {
			watchers++
			if o.fed && len(others) < maxAddrs {
				others = append(others, o.conn.Addr())
			}
		}
	}
	if e := p.charter.holder(&m.card.sign); m.member != 0 && (e != nil && e.id == m.member ||
		p.council == nil || !p.council.Quorum()) {
		return &no{why: "nothing is known here of your being out", again: true}
	}
	if m.watch && watchers >= p.opt.Watchers {
		return &no{why: "as many watch here as can; ask those who do", again: true, addrs: others}
	}
	if m.watch {
		return nil
	}
	if p.council == nil {
		var addrs []netip.AddrPort
		for i := range p.charter.members {
			if e := &p.charter.members[i]; len(e.addrs) > 0 && len(addrs) < maxAddrs {
				addrs = append(addrs, e.addrs[0])
			}
		}
		return &no{why: "this one only watches; ask those who play", again: true, addrs: addrs}
	}
	if seat, _ := p.charter.seat(&m.card.sign, p.match.Seats); seat == 0 &&
		p.charter.holder(&m.card.sign) == nil {
		return &no{why: fmt.Sprintf("all %d seats are taken", p.match.Seats), again: false}
	}
	return nil
}

// helloText is what a guest signs. The match has its name only from inside, so the secret stands
// for it.
func (p *Peer) helloText(nonce []byte, m *hello) []byte {
	key := doorKey(&p.opt.Secret)
	return statement("hello", (*[32]byte)(&key), nonce, m.card.agree[:], []byte(m.card.name))
}

// feed gives guests what they need to follow.
func (p *Peer) feed() {
	for _, g := range slices.Clone(p.door.guests) {
		switch {
		case !g.said:
			if p.now-g.since > helloPatience {
				g.conn.Close(conn.ReasonGame, "no word of who you are")
			}
		case p.copy == nil || p.charter == nil:
		case !g.fed && !g.sending:
			p.hand(g)
		case g.fed:
			p.pass(g)
		}
	}
}

// snapshot is what a newcomer needs, at the newest mark that is settled, or nil where there is
// none.
func (p *Peer) snapshot() *state {
	marks := p.copy.Marks()
	for i := len(marks) - 1; i >= 0; i-- {
		m := &marks[i]
		if m.Tick > p.copy.Settled() && i > 0 {
			continue
		}
		st := &state{match: p.match, tick: m.Tick, turns: m.Turns}
		if st.link, st.founds = p.decreeLink(); st.link == nil || !p.flows(st) {
			return nil
		}
		st.world = m.World.Host().Save(nil)
		return st
	}
	return nil
}

// flows fills in what has come since a mark.
func (p *Peer) flows(st *state) bool {
	for i := range p.charter.spans {
		s := &p.charter.spans[i]
		if s.until != open && s.until <= st.tick {
			continue
		}
		f := flow{member: s.member, have: max(st.tick, s.from-1)}
		from := p.stream(s.member)
		image, h, ok := from.Before(uint64(f.have))
		if !ok {
			if f.have > world.Tick(from.Have()) {
				continue // nothing of it has come yet
			}
			return false
		}
		f.image, f.head = image, h
		for t := uint64(f.have) + 1; t <= p.open(from); t++ {
			f.items = append(f.items, from.Item(t))
		}
		st.flows = append(st.flows, f)
	}
	return true
}

// decreeLink is the newest decree with its proof; the first of all has none.
func (p *Peer) decreeLink() (b []byte, founds bool) {
	if p.council == nil {
		return p.ask.decree, p.ask.founds
	}
	d := p.council.Decree()
	if d.Epoch == p.founded {
		return d.Append(nil), true
	}
	if l, ok := p.council.Past(d.Epoch); ok {
		return l.Append(nil), false
	}
	return nil, false
}

// hand sends a guest the world.
func (p *Peer) hand(g *guest) {
	if p.now < g.feedAt {
		return
	}
	g.feedAt = p.now + second/10
	st := p.snapshot()
	if st == nil {
		return
	}
	c := bits.CursorTo(nil)
	st.fields(&c)
	id, err := g.conn.SendBulk(1, c.Data())
	if err != nil {
		return
	}
	g.bulk, g.sending, g.epoch, g.base = id, true, p.epoch(), st.tick
	g.sent = g.sent[:0]
	for _, f := range st.flows {
		g.sent = append(g.sent, want{f.member, f.have + 1 + world.Tick(len(f.items))})
	}
}

func (p *Peer) epoch() uint32 {
	if p.council != nil {
		return p.council.Decree().Epoch
	}
	return p.ask.epoch
}

// feedEvery is how many times a second guests are told what was commanded.
const feedEvery = 20

// pass tells a guest who plays, and what was commanded.
func (p *Peer) pass(g *guest) {
	if p.now < g.feedAt || g.conn.Unacked() > 64 {
		return
	}
	g.feedAt = p.now + second/feedEvery
	if g.epoch != p.epoch() && !p.sendDecree(g) {
		return
	}
	for i := range p.charter.spans {
		p.passItems(g, &p.charter.spans[i])
	}
	settled := have{p.copy.Settled()}
	if p.council == nil {
		settled.upTo = p.door.settled
	}
	if settled.upTo != g.settled {
		g.settled = settled.upTo
		_ = g.conn.Send(chControl, message(kindHave, settled.fields))
	}
	p.propose(g)
}

// sendDecree tells a guest who plays.
func (p *Peer) sendDecree(g *guest) bool {
	b, founds := p.decreeLink()
	if b == nil || g.conn.Send(chControl, message(kindDecree, func(c *bits.Cursor) {
		c.Bool(&founds)
		blob(c, &b, 1<<20)
	})) != nil {
		return false
	}
	g.epoch = p.epoch()
	return true
}

// passItems tells a guest what one member has commanded since.
func (p *Peer) passItems(g *guest, s *span) {
	i := slices.IndexFunc(g.sent, func(w want) bool { return w.member == s.member })
	if i < 0 {
		i = len(g.sent)
		g.sent = append(g.sent, want{s.member, s.from})
	}
	if s.until <= g.base {
		return // it is all in the world that it was sent
	}
	st := p.stream(s.member)
	next := &g.sent[i].from
	if *next <= world.Tick(st.Have()) && !st.Holds(uint64(*next)) {
		g.fed = false // it is so far behind that it needs the world anew
		return
	}
	for *next <= world.Tick(p.open(st)) {
		b := p.itemsFrom(s.member, *next)
		if b == nil || g.conn.Send(chControl, b) != nil {
			return
		}
		var m items
		c := bits.CursorOver(b[1:])
		m.fields(&c)
		*next += world.Tick(len(m.items))
	}
}

// propose has whoever leads know of a guest that wants to play and keeps up.
func (p *Peer) propose(g *guest) {
	if g.watch || p.council == nil || p.now < g.askAt ||
		g.at+30 < p.copy.Known() || g.at < p.copy.Settled() && p.copy.Settled()-g.at > 30 {
		return
	}
	if g.entered {
		return
	}
	g.askAt = p.now + second/5
	p.candidate(&g.candidate)
	for _, q := range p.pairs { // who returns may have led
		if g.returns || q.id == p.council.Decree().Leader {
			q.small(message(kindCandidate, g.candidate.fields))
		}
	}
}

// guestsDecree has guests be told at once that something was decided.
func (p *Peer) guestsDecree() {
	for _, g := range p.door.guests {
		g.feedAt = min(g.feedAt, p.now)
	}
}

// flushDoor gathers the datagrams of connections at doors, with their first byte.
func (p *Peer) flushDoor() {
	at := len(p.out)
	if p.door.server != nil {
		p.out = p.door.server.Flush(p.now, p.out)
	}
	mine := len(p.out)
	for _, t := range p.ask.tries {
		p.out = t.client.Flush(p.now, p.out)
	}
	size := 0
	for _, d := range p.out[at:] {
		size += 1 + len(d.Data)
	}
	p.sealed = slices.Grow(p.sealed[:0], size)
	for i := at; i < len(p.out); i++ {
		d, from, first := &p.out[i], len(p.sealed), byte(fromDoor)
		if i >= mine {
			first = toDoor
		}
		p.sealed = append(append(p.sealed, first), d.Data...)
		d.Data = p.sealed[from:]
	}
}
