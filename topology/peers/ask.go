package peers

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

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
type RefusedError struct {
	Why string
	// Refusal is what the relay calls it, if it was the relay that refused.
	Refusal relay.Refusal
}

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
