package peers

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
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

// greet says why a guest is not let in, or nil.
func (p *Peer) greet(g *guest, m *hello) *no {
	if m.game != p.match.Game || m.rules != p.match.Rules {
		return &no{why: fmt.Sprintf("this is %q with rules %016x, and you have %q with %016x: "+
			"everybody needs the same program", p.match.Game, p.match.Rules, m.game, m.rules)}
	}
	if !m.card.signed(p.helloText(g.nonce[:], m), &m.sign) {
		return &no{why: "what you say of yourself is not signed by you"}
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
		for t := uint64(f.have) + 1; t <= from.Have(); t++ {
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
	for *next <= world.Tick(st.Have()) {
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

// asking is how a peer that has no world comes by one.
type asking struct {
	targets []netip.AddrPort
	next    int
	at      time.Duration
	tries   []*try
	host    *try // who has opened
	inquiry bool // this peer only asks whether it still is a member
	since   time.Duration
	apart   time.Duration // when a majority was last heard

	decree []byte // of one who only watches: the newest, with its proof
	founds bool
	epoch  uint32
	sayAt  time.Duration
}

// A try is an attempt at one door.
type try struct {
	addr   netip.AddrPort
	client *conn.Client
	since  time.Duration
	over   bool
}

const (
	mostTries  = 3
	mostDoors  = 32
	doorWait   = 3 * time.Second
	triesEvery = 150 * time.Millisecond
)

func (a *asking) met(addr netip.AddrPort) {
	if addr.IsValid() && !slices.Contains(a.targets, addr) && len(a.targets) < mostDoors {
		a.targets = append(a.targets, addr)
	}
}

func (a *asking) begin(now time.Duration, but *try) {
	for _, t := range a.tries {
		if t != but {
			t.client.Close(conn.ReasonGame, "")
			t.over = true
		}
	}
	a.host, a.at, a.since = nil, now, now
	a.decree, a.epoch = nil, 0
}

// knock asks at doors until one opens.
func (p *Peer) knock() {
	a := &p.ask
	a.tries = slices.DeleteFunc(a.tries, func(t *try) bool { return t.client.Done() })
	if p.phase == Ended {
		return
	}
	inquires := p.inquires()
	if a.host != nil && p.phase == Asking {
		if c := a.host.client.Conn(); c != nil {
			if _, _, _, under := c.BulkIncoming(); under {
				a.since = p.now
			}
		}
		if p.now-a.since > doorWait {
			p.letGo() // it does not say no, and sends nothing either
		}
	}
	if a.host != nil && p.council != nil && inquires != a.inquiry {
		p.letGo() // who let it in has nothing more to say
	}
	if (p.phase == Asking || inquires) && a.host == nil {
		for _, addr := range p.opt.Ask {
			a.met(addr)
		}
		for i := range p.meeting.mates {
			a.met(relayAddr(p.meeting.mates[i].number))
		}
		for _, t := range a.tries {
			if p.now-t.since > doorWait {
				t.client.Close(conn.ReasonGame, "")
				t.over = true
			}
		}
		if p.now >= a.at && len(a.tries) < mostTries && len(a.targets) > 0 {
			p.tryDoor()
		}
	}
	if p.phase == Guest || p.phase == Entering {
		p.keepUp()
	}
}

// inquires says whether a member should ask at doors whether it still is one: it has not heard a
// majority for a while, and whether they go on without it nobody may be able to tell it. It keeps
// what it has until it knows.
func (p *Peer) inquires() bool {
	if p.council == nil || p.council.Quorum() && !p.lonely() {
		p.ask.apart = p.now
		return false
	}
	for i := range p.charter.members {
		for _, a := range p.charter.members[i].addrs {
			p.ask.met(a)
		}
	}
	return p.now-p.ask.apart > p.match.Patience
}

// letGo closes a connection at a door.
func (p *Peer) letGo() {
	p.ask.host.client.Close(conn.ReasonGame, "")
	p.ask.host.over = true
	p.ask.host = nil
}

func (p *Peer) tryDoor() {
	a := &p.ask
	a.at = p.now + triesEvery
	for range a.targets {
		addr := a.targets[a.next%len(a.targets)]
		a.next++
		if addr == p.opt.Address ||
			slices.ContainsFunc(a.tries, func(t *try) bool { return t.addr == addr }) {
			continue
		}
		key := doorKey(&p.opt.Secret)
		tok, err := p.token(key, p.rand.Uint64()|1, addr)
		if err != nil {
			return
		}
		c, err := conn.NewClient(conn.ClientOptions{Options: p.connOptions(maxState), Token: tok,
			Servers: []netip.AddrPort{addr}})
		if err != nil {
			return
		}
		a.tries = append(a.tries, &try{addr: addr, client: c, since: p.now})
		return
	}
}

// answered is what comes from a door.
func (p *Peer) answered(t *try, e *conn.Event) {
	a := &p.ask
	switch e.Kind {
	case conn.Disconnected:
		if t.over = true; a.host == t {
			a.host = nil
			if p.phase == Guest {
				p.lost()
			}
		}
	case conn.BulkReceived:
		if a.host == t {
			p.moveIn(e.Data)
		}
	case conn.Message:
		if len(e.Data) > 0 && !t.over {
			p.hostSaid(t, e.Data[0], e.Data[1:])
		}
	}
}

// lost begins again with asking, since who let this peer follow is gone.
func (p *Peer) lost() {
	p.phase = Asking
	p.closeDoor()
	p.copy, p.charter, p.streams = nil, nil, nil
	p.pace = pace{style: p.pace.style}
	p.ask.begin(p.now, nil)
	p.ask.at = p.now + second/4
}

func (p *Peer) hostSaid(t *try, kind uint8, b []byte) {
	a := &p.ask
	c := bits.CursorOver(b)
	switch kind {
	case kindNonce:
		if a.host != nil || p.phase != Asking && !p.inquires() {
			t.over = true
			t.client.Close(conn.ReasonGame, "")
			return
		}
		a.host, a.inquiry, a.since = t, p.council != nil, p.now
		for _, o := range a.tries {
			if o != t {
				o.over = true
				o.client.Close(conn.ReasonGame, "")
			}
		}
		m := hello{game: p.game.Name(), rules: p.game.Hash(), card: p.id.card(p.opt.Name),
			addrs: p.addresses(), watch: p.opt.Watch, member: p.self}
		m.sign = p.id.signs(p.helloText(b, &m))
		_ = t.client.Conn().Send(chControl, message(kindHello, m.fields))
	case kindNo:
		var m no
		if m.fields(&c); !c.Done() || a.host != t {
			return
		}
		p.turnedAway(t, &m)
	case kindDecree:
		var founds bool
		var link []byte
		c.Bool(&founds)
		if blob(&c, &link, 1<<20); c.Done() && a.host == t {
			if p.council != nil {
				p.taught(link, founds)
				return
			}
			if p.copy != nil { // before there is a world, there is nothing to decree about
				p.learnDecree(slices.Clone(link), founds)
			}
		}
	case kindItems:
		var m items
		if m.fields(&c); c.Done() && a.host == t && p.copy != nil {
			p.takeItems(&m)
		}
	case kindHave:
		var m have
		if m.fields(&c); c.Done() && a.host == t {
			p.door.settled = max(p.door.settled, m.upTo)
		}
	}
}

// taught is told at a door of a decree that nobody else could tell this member of.
func (p *Peer) taught(b []byte, founds bool) {
	d, l, err := readLink(b, founds)
	if err != nil || d.Epoch <= p.council.Decree().Epoch {
		return
	}
	if d.Has(p.self) && !founds {
		p.council.Teach(p.now, &l)
	} else if !d.Has(p.self) {
		p.dismissed("the others went on without this one", nil)
	}
}

// turnedAway is told why a door does not open. If that cannot change the peer gives up.
func (p *Peer) turnedAway(t *try, m *no) {
	t.over = true
	t.client.Close(conn.ReasonGame, "")
	p.ask.host = nil
	for _, addr := range m.addrs {
		p.ask.met(addr)
	}
	if p.self == 0 {
		p.tell(News{Kind: Refused, Text: m.why})
	}
	if !m.again {
		_ = p.end(&RefusedError{Why: m.why})
	}
}

// A RefusedError says why this peer was not let in.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "peers: refused: " + e.Why }

// moveIn takes the world from whoever has opened.
func (p *Peer) moveIn(data []byte) {
	st, w, err := p.readState(data)
	if p.council != nil {
		if d, ok := st.decree(); err != nil || !ok || d.Epoch <= p.council.Decree().Epoch ||
			d.Has(p.self) {
			p.letGo()
			return
		}
		host := p.ask.host
		p.dismissed("the others went on without this one", host)
		p.ask.host, p.ask.inquiry = host, false
	}
	if p.phase != Asking && p.phase != Guest {
		return
	}
	if err != nil {
		_ = p.end(err)
		return
	}
	p.match, p.sum = st.match, st.match.digest(&p.opt.Secret)
	p.streams = nil
	for i := range st.flows {
		p.streams = append(p.streams, p.resume(&st.flows[i]))
	}
	slices.SortFunc(p.streams, func(a, b *stream) int { return int(a.id) - int(b.id) })
	p.door.settled = st.tick
	p.phase = Guest
	if err := p.begin(w, st.turns); err != nil {
		_ = p.end(err)
		return
	}
	p.pace.begun = false
	p.ask.epoch = 0
	p.learnDecree(st.link, st.founds)
	if p.phase == Guest && p.opt.Watch {
		if err := p.openDoor(); err != nil {
			_ = p.end(err)
			return
		}
	}
	p.tell(News{Kind: Following, Tick: w.Tick()})
}

// readState makes sense of a world that was sent.
func (p *Peer) readState(data []byte) (*state, *world.World, error) {
	var st state
	c := bits.CursorOver(data)
	if st.fields(&c); !c.Done() {
		return nil, nil,
			fmt.Errorf("peers: %d bytes that should be a match make no sense", len(data))
	}
	if err := st.match.fits(p.game); err != nil {
		return nil, nil, err
	}
	w, err := p.game.Load(st.world)
	if err != nil {
		return nil, nil, err
	}
	if w.Tick() != st.tick {
		return nil, nil,
			fmt.Errorf("peers: a world of tick %d that should be of %d", w.Tick(), st.tick)
	}
	return &st, w, nil
}

func (st *state) decree() (council.Decree, bool) {
	if st == nil {
		return council.Decree{}, false
	}
	d, _, err := readLink(st.link, st.founds)
	return d, err == nil
}

// readLink reads a decree with its proof, or one that has none.
func readLink(b []byte, founds bool) (d council.Decree, l council.Link, err error) {
	raw := b
	if !founds {
		if l, err = council.ReadLink(b); err != nil {
			return d, l, err
		}
		raw = l.Decree
	}
	d, err = council.ReadDecree(raw)
	return d, l, err
}

// learnDecree is told who plays.
func (p *Peer) learnDecree(b []byte, founds bool) {
	d, link, err := readLink(b, founds)
	if err != nil || d.Epoch <= p.ask.epoch || p.council != nil {
		return
	}
	p.ask.decree, p.ask.founds, p.ask.epoch = b, founds, d.Epoch
	if err := p.decreed(&d); err != nil {
		_ = p.end(err)
		return
	}
	mine := p.id.card("")
	e := p.charter.holder(&mine.sign)
	if e == nil || p.opt.Watch || !slices.Contains(d.Learners, e.id) {
		return
	}
	p.door.entered = p.now
	if err := p.enter(e.id, d, link); err != nil {
		_ = p.end(err)
		return
	}
	if err := p.openDoor(); err != nil {
		_ = p.end(err)
	}
}

// keepUp tells whoever feeds this peer how far it has come.
func (p *Peer) keepUp() {
	a := &p.ask
	if a.host == nil || p.now < a.sayAt || p.copy == nil || p.council != nil {
		return
	}
	a.sayAt = p.now + second/20
	m := have{p.copy.Known()}
	if c := a.host.client.Conn(); c != nil && c.Open() {
		_ = c.Send(chSmall, message(kindBehind, m.fields))
	}
}

// leaveDoor lets go of whoever fed this peer.
func (p *Peer) leaveDoor() {
	if p.ask.host != nil {
		p.ask.host.client.Close(conn.ReasonGame, "")
		p.ask.host.over = true
		p.ask.host = nil
	}
	p.copy.SetDepth(p.pace.style.Depth)
	p.pace.begun = false
}

var _ = member.ID(0)
