package mirror

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// events does what the group says.
func (m *Mirror) events() error {
	for _, e := range m.node.Events() {
		switch e.Kind {
		case crimp.Established:
			m.self = e.Member
			m.roster()
			m.tell(News{Kind: Established, Mirror: e.Member})
			if m.opt.Found && m.tries == 1 {
				m.phase = Serving
				m.began()
			}
		case crimp.Joined:
			m.roster()
			m.met(e.Member)
			m.tell(News{Kind: MirrorJoined, Mirror: e.Member})
		case crimp.Led:
			before := m.uber
			if m.roster(); m.uber != before || e.Seq <= 1 {
				m.tell(News{Kind: Led, Mirror: m.uber})
			}
		case crimp.Left:
			m.roster()
			m.parted(e.Member)
			m.tell(News{Kind: MirrorLeft, Mirror: e.Member, Text: e.Reason.String()})
		case crimp.Delivered:
			if e.How == crimp.Lossy {
				m.lossy(e.Member, e.Data)
			} else {
				m.delivered(e.Member, e.Seq, e.Data)
			}
		case crimp.GaveUp:
			for s := e.Seq; s <= e.Seq+crimp.Sequence(e.More); s++ {
				m.lost(e.Member, s, e.How == crimp.Agreed)
			}
		case crimp.Revoked:
			m.again(fmt.Sprintf("packets of mirror %d that came do not count", e.Member))
		case crimp.Reunited:
			m.cut, m.reunited = false, m.clock.local
			m.tell(News{Kind: Reunited})
		case crimp.StateWanted:
			m.wanted = append(m.wanted, e.Member)
		case crimp.State:
			if err := m.takeState(e.Data); err != nil {
				m.tell(News{Kind: Refused, Text: "the world that came makes no sense", Err: err})
				m.again("the world that came makes no sense")
			}
		case crimp.CutOff:
			m.cut = true
			m.tell(News{Kind: CutOff})
			m.suspend()
		case crimp.Denied:
			return m.end(fmt.Errorf("%w: not let in: %s%s", ErrEnded, e.Reason, advice(e)))
		case crimp.Dismissed:
			if m.phase == Leaving || e.Reason == crimp.ReasonClosed {
				return m.end(fmt.Errorf("%w: %s", ErrEnded, e.Reason))
			}
			if !m.broken {
				m.tell(News{Kind: Rejoining, Text: e.Reason.String()})
				m.stats.Rejoins++
			}
			m.broken, m.rejoinBy = true, m.machine
		}
	}
	return nil
}

// provide gives the world to newcomers. While something of one who is gone is still to come it waits: they would not hear it.
func (m *Mirror) provide() {
	if len(m.wanted) == 0 || m.line == nil || m.broken {
		return
	}
	members := m.node.Group().Members()
	for id := range m.streams {
		if !slices.Contains(members, id) {
			return
		}
	}
	m.sendNow() // so that what counts here has been told to all
	for _, id := range m.wanted {
		if err := m.council.ProvideState(m.machine, id, m.appendState(nil, id)); err != nil && !errors.Is(err, crimp.ErrNotMember) {
			m.tell(News{Kind: Refused, Mirror: id, Text: "the world could not be sent", Err: err})
		}
	}
	m.wanted = nil
}

func advice(e crimp.Event) string {
	text := ""
	if len(e.Data) > 0 {
		text = ": " + string(e.Data)
	}
	if a := e.Reason.Advice(); a != "" {
		text += "; " + a
	}
	return text
}

// roster takes in who leads.
func (m *Mirror) roster() {
	m.uber, m.epoch = m.council.Uber(), m.council.Epoch()
	m.ubers[m.epoch] = m.uber
	if m.uber != 0 {
		m.led[m.uber] = true
	}
	for e := range m.ubers {
		if e+1024 < m.epoch {
			delete(m.ubers, e)
		}
	}
	for _, id := range m.node.Group().Members() {
		if id != m.self && m.streams[id] == nil && m.line != nil {
			m.met(id)
		}
	}
}

// met makes the stream of a mirror that came into the group.
func (m *Mirror) met(id member.ID) {
	if id == m.self || m.streams[id] != nil {
		return
	}
	m.listen(newStream(id, 1))
}

// listen adds a stream.
func (m *Mirror) listen(s *stream) {
	m.streams[s.id] = s
	m.order = slices.Sorted(maps.Keys(m.streams))
	m.clock.peer(s.id)
}

// parted forgets a mirror that is gone: all that counts of it has come.
func (m *Mirror) parted(id member.ID) {
	s := m.streams[id]
	if s == nil {
		return
	}
	m.drain(s)
	delete(m.streams, id)
	m.order = slices.Sorted(maps.Keys(m.streams))
	m.clock.forget(id)
	if m.led[id] {
		delete(m.led, id)
		m.final = max(m.final, s.bound())
		m.setJudge()
		for _, other := range m.order {
			m.drain(m.streams[other])
		}
	}
	m.mirrors(s)
	m.reclaim()
	m.places()
}

// lost passes over a packet that will never come. Where that was agreed it is missing everywhere alike; otherwise this mirror alone lacks it, and needs the world anew.
func (m *Mirror) lost(id member.ID, seq crimp.Sequence, agreed bool) {
	s := m.streams[id]
	if s == nil || seq < s.next {
		return
	}
	if !agreed {
		m.again(fmt.Sprintf("packet %d of mirror %d was lost for good", seq, id))
		return
	}
	s.skip(seq)
	m.drain(s)
}

// delivered takes a packet of another mirror: commands at once, the rest in its order.
func (m *Mirror) delivered(id member.ID, seq crimp.Sequence, data []byte) {
	s := m.streams[id]
	if s == nil || m.line == nil || m.broken || !s.put(seq, data) {
		return
	}
	var p packet
	rest, err := p.parse(data)
	if err != nil {
		m.refuse(id, err)
		return
	}
	m.stats.Packets++
	m.stats.Bytes += uint64(len(data))
	s.told(seq, &p)
	m.clocks(id, &p)
	m.compare(id, &p)
	var it item
	stamped := p.count
	for len(rest) > 0 {
		if rest, err = m.codec.next(rest, p.promise, &it); err != nil {
			m.refuse(id, err)
			break
		}
		if it.stamped() {
			stamped++
		}
		if it.kind == itemGive && !m.waits {
			m.command(s, timeline.Command{Kind: timeline.Give, Tick: it.tick, Origin: id, Seq: stamped, Player: it.player, Image: it.image})
		}
	}
	m.drain(s)
}

// promise passes a promise on to timelines that wait for them. In order, so that whoever started before it is waited for as well.
func (m *Mirror) promise(id member.ID, p *packet) {
	if !m.waits || p.waiting {
		return
	}
	seq := m.stamped
	if s := m.streams[id]; s != nil {
		seq = s.submitted
	}
	m.submit(timeline.Command{Kind: timeline.Promise, Tick: p.promise, Origin: id, Seq: seq, Sent: p.group})
}

// drain does what is in order now.
func (m *Mirror) drain(s *stream) {
	if m.broken {
		return
	}
	bound := m.uberBound()
	s.drain(func(data []byte) bool { return m.ordered(s, data) })
	if m.uberBound() != bound {
		m.unpark()
	}
}

// ordered takes a packet whose turn it is. It says false if it cannot be understood yet.
func (m *Mirror) ordered(s *stream, data []byte) bool {
	var p packet
	rest, err := p.parse(data)
	if err != nil {
		return true // refused when it came
	}
	var it item
	for b := rest; len(b) > 0; {
		if b, err = m.codec.next(b, p.promise, &it); err != nil {
			break
		}
		if (it.kind == itemAssign || it.kind == itemStart) && (it.epoch > m.epoch || m.succeeds(s.id)) {
			return false // under a roster that is not known here yet, or before all is known that the überserver before it said
		}
		if c := (timeline.Command{Tick: it.tick, Origin: s.id, Player: it.player}); m.waits && it.kind == itemGive && m.counts(s, &c) == countsMaybe {
			return false // timelines that wait take everything in order
		}
	}
	if !s.promised(&p) {
		m.refuse(s.id, errors.New("it takes back what it promised"))
		m.distrust(s.id)
	}
	stamped := p.count
	for len(rest) > 0 {
		if rest, err = m.codec.next(rest, p.promise, &it); err != nil {
			break
		}
		if it.stamped() {
			stamped++
			s.implied = max(s.implied, it.tick-1)
		}
		if m.waits {
			stamped = s.submitted + 1
			if c := (timeline.Command{Kind: timeline.Give, Tick: it.tick, Origin: s.id, Seq: stamped, Player: it.player, Image: it.image}); it.kind == itemGive && m.counts(s, &c) == counts {
				s.submitted++
				m.submit(c)
			}
		}
		m.item(s.id, &it, stamped)
	}
	m.promise(s.id, &p)
	return true
}

// item does what another mirror, or this one, says.
func (m *Mirror) item(from member.ID, it *item, seq uint32) {
	switch it.kind {
	case itemClaim:
		m.consider(from, it.client, it.name)
	case itemRelease:
		m.release(from, it.client)
	case itemAssign:
		if m.ubers[it.epoch] != from {
			m.refuse(from, errors.New("it assigns players and is not überserver"))
			return
		}
		m.assigned(from, it, seq)
	case itemDeny:
		if from == m.uber && it.member == m.self {
			delete(m.claims, it.client)
			m.decides(server.Decision{Kind: server.Deny, Client: it.client, Reason: reasonFull})
		}
	case itemStart:
		if m.ubers[it.epoch] != from {
			m.refuse(from, errors.New("it starts mirrors and is not überserver"))
			return
		}
		m.start(it.member, it.tick)
	case itemPlace:
		if s := m.streams[from]; s != nil {
			s.place, s.addr = Place{Addr: it.addr, Name: it.name, Load: uint8(min(it.load, 255))}, it.peer
			if !slices.Contains(m.peers, it.peer) {
				m.peers = append(m.peers, it.peer)
			}
			m.places()
		}
	case itemChat:
		if from != m.self {
			m.decides(server.Decision{Kind: server.Relay, Player: it.player, Name: it.name, Text: it.text})
		}
	case itemRuling:
		m.ruling(from, it.data)
	}
}

// command takes one that another mirror has stamped. Whether it counts may not be known yet.
func (m *Mirror) command(s *stream, c timeline.Command) {
	switch m.counts(s, &c) {
	case counts:
		m.submit(c)
	case countsNot:
		m.stats.Refused++
	default:
		m.park(c)
	}
}

type counting uint8

const (
	countsMaybe counting = iota
	counts
	countsNot
)

// counts says whether a command is its mirror's to give. It answers only what will stay true.
func (m *Mirror) counts(s *stream, c *timeline.Command) counting {
	bound := m.uberBound()
	id := c.Origin
	switch {
	case s != nil && s.started && c.Tick <= s.from:
		return countsNot
	case s != nil && !s.started && m.ruled == nil:
		return countsMaybe
	case bound+m.registry.overlap < c.Tick && m.uber != m.self:
		return countsMaybe // it may have been taken away from that mirror long ago
	case m.registry.speaks(id, c.Player, c.Tick):
		return counts
	case bound >= c.Tick:
		return countsNot
	}
	return countsMaybe
}

// uberBound is the tick up to which all assignments are known: of the überserver, and of one before it of which not all has come.
func (m *Mirror) uberBound() world.Tick {
	t := world.Tick(maxTick)
	for id := range m.led {
		if id == m.self {
			t = min(t, m.promised)
		} else if s := m.streams[id]; s != nil {
			t = min(t, s.bound())
		}
	}
	if t == maxTick {
		return 0
	}
	return t
}

// succeeds says whether a mirror became überserver after another of which not all has come: what it says must wait for that, so that all mirrors hear
// both in the same order.
func (m *Mirror) succeeds(id member.ID) bool {
	for other := range m.led {
		if other != id && (other == m.self || m.streams[other] != nil) {
			return true
		}
	}
	return false
}

// maxParked bounds the commands that wait to be known good or bad: two seconds of a hundred players.
const maxParked = 12000

func (m *Mirror) park(c timeline.Command) {
	if len(m.parked) >= maxParked {
		m.stats.Refused++
		return
	}
	c.Image = slices.Clone(c.Image)
	m.parked = append(m.parked, c)
}

// unpark looks at parked commands again.
func (m *Mirror) unpark() {
	if len(m.parked) == 0 {
		return
	}
	list := m.parked
	m.parked = nil
	for _, c := range list {
		s := m.streams[c.Origin]
		if s == nil && c.Origin != m.self {
			// Of a mirror that is gone: what it said before still counts.
			if m.registry.speaks(c.Origin, c.Player, c.Tick) {
				m.submit(c)
			}
			continue
		}
		m.command(s, c)
	}
}

// submit gives a command to the timeline.
func (m *Mirror) submit(c timeline.Command) {
	fate, err := m.line.Submit(m.clock.now(), c)
	switch {
	case errors.Is(err, timeline.ErrAhead):
		m.park(c)
	case err != nil:
		m.stats.Refused++
		m.refuse(c.Origin, err)
	case fate == timeline.TooLate:
		m.stats.TooLate++
	case fate == timeline.Late:
		m.stats.Late++
	}
}

// refuse tells that something of another mirror was refused, but not of everything.
func (m *Mirror) refuse(id member.ID, err error) {
	m.stats.Refusals++
	if m.stats.Refusals&(m.stats.Refusals-1) == 0 { // 1, 2, 4, 8 ...
		m.tell(News{Kind: Refused, Mirror: id, Text: err.Error(), Err: err})
	}
}
