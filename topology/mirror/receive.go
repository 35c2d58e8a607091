package mirror

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
)

// delivered takes a packet of another mirror: commands at once, the rest in its order.
func (m *Mirror) delivered(id member.ID, seq crimp.Sequence, data []byte) {
	p := m.peers.of(id)
	if p != nil && m.life.broken() {
		p.newest = max(p.newest, seq) // it holds a world, whatever it says
	}
	if p == nil || !m.goesOn() || !p.wants(seq) {
		return
	}
	k := m.codec.parse(data)
	p.put(seq, k)
	p.took(seq, k, m.settle.held)
	if p.heard = m.clock.steady; k.void {
		m.refuse(id, k.err)
		return
	}
	m.stats.Packets++
	m.stats.Bytes += uint64(len(data))
	m.clock.told(id, m.roll.self, &k.header)
	if k.hash {
		m.compare(k.settledTick, id, k.settledHash)
	}
	for i := range k.items {
		if it := &k.items[i]; it.kind == itemGive && !m.line.Waits() {
			m.command(p, it.give(id, it.seq))
		}
	}
	if k.err != nil {
		m.refuse(id, k.err)
	}
	m.takeInOrder(p)
}

// lost passes over packets that will never come. Where that was agreed they are missing everywhere
// alike; otherwise this mirror alone lacks them, and needs the world anew, if there is another.
func (m *Mirror) lost(e *crimp.Event) {
	for seq := e.Seq; seq <= e.Seq+crimp.Sequence(e.More); seq++ {
		p := m.peers.of(e.Member)
		switch {
		case p == nil || seq < p.next:
		case e.How != crimp.Agreed && m.others():
			m.again(fmt.Sprintf("packet %d of mirror %d was lost for good", seq, e.Member))
		default:
			if seq == p.next {
				p.passed()
			}
			m.takeInOrder(p)
		}
	}
}

// takeInOrder takes the packets of a peer whose turn it is. What one of them says may let those of
// others be taken, and they in turn of this one: its packets are taken one after the other all the
// same.
func (m *Mirror) takeInOrder(p *peer) {
	if m.life.broken() || p.taking {
		return
	}
	p.taking = true
	defer func() { p.taking = false }()
	bound := m.roll.bound(&m.in.standing, m.peers)
	for k := p.beyond[p.next]; k != nil && m.understands(p, k); k = p.beyond[p.next] {
		m.ordered(p, k)
		p.passed()
		m.codec.done(k)
	}
	if m.roll.bound(&m.in.standing, m.peers) != bound {
		m.decide()
	}
}

// takeWaiting looks again at what could not be taken before.
func (m *Mirror) takeWaiting() {
	if m.line.Waits() {
		for _, p := range m.peers {
			m.takeInOrder(p)
		}
	}
	m.decide()
}

// understands says whether all is known that the items of a packet refer to.
func (m *Mirror) understands(p *peer, k *packet) bool {
	for i := range k.items {
		switch it := &k.items[i]; it.kind {
		case itemAssign, itemStart:
			if it.epoch > m.roll.epoch || m.roll.succeeds(p.id, it.epoch, m.peers) {
				// It is of a roster that is not known here yet; or not all is known that the
				// überserver before this one said.
				return false
			}
		case itemHalt, itemPause, itemLevel:
			if it.decides() &&
				(it.epoch > m.roll.epoch || m.roll.succeeds(p.id, it.epoch, m.peers)) {
				return false
			}
		case itemResign:
			if it.epoch > m.roll.epoch {
				return false
			}
		case itemGive:
			if m.line.Waits() && m.counts(p, it.give(p.id, 0)) == countsMaybe {
				return false // timelines that wait take everything in order
			}
		case itemTell:
			if m.line.Waits() && !p.started {
				return false
			}
		}
	}
	return true
}

// ordered takes a packet whose turn it is.
func (m *Mirror) ordered(p *peer, k *packet) {
	if k.void {
		return // refused when it came
	}
	if !p.promised(&k.header) {
		m.distrust(p.id, "it takes back what it promised")
	}
	for i := range k.items {
		it := &k.items[i]
		if it.stamped() {
			p.implied = max(p.implied, it.tick-1)
		}
		if m.line.Waits() {
			it.seq = p.submitted + 1
			if c := it.give(p.id, it.seq); it.kind == itemGive && m.counts(p, c) == counts {
				p.submitted++
				m.submit(c)
			}
		}
		switch it.kind {
		case itemPart:
			m.part(p, it.data)
		case itemTell:
			m.told(p, it)
		case itemRuling:
			m.ruling(p.id, p.whole(it.data))
		case itemEvent:
			m.heardEvent(p.id, it.data)
		default:
			m.item(p.id, it)
		}
	}
	m.promised(p.id, p.submitted, &k.header)
}

// promised passes a promise on to timelines that wait for them, with how many commands came before
// it. In order, so that whoever started before it is waited for as well.
func (m *Mirror) promised(id member.ID, seq uint32, h *header) {
	if m.line.Waits() && !h.waiting {
		m.submit(timeline.Command{Kind: timeline.Promise, Tick: h.promise, Origin: id, Seq: seq,
			Sent: h.group})
	}
}

// item does what another mirror, or this one, says.
func (m *Mirror) item(from member.ID, it *item) {
	switch it.kind {
	case itemClaim:
		if m.leads() {
			m.consider(from, it.client, it.name, it.why)
		} else {
			m.hearClaim(from, it)
		}
	case itemRelease:
		m.release(from, it.client)
	case itemAssign:
		if m.believes(from, it, "it assigns players and is not überserver") {
			m.assigned(from, it)
		}
	case itemDeny:
		if from == m.roll.uber && it.member == m.roll.self {
			delete(m.roll.claims, it.client)
			m.decides(server.Decision{Kind: server.Deny, Client: it.client,
				Reason: wire.ReasonNoSeat})
		}
	case itemStart:
		if m.believes(from, it, "it starts mirrors and is not überserver") {
			m.start(it.member, it.tick)
		}
	case itemResign:
		m.resigned(from, it)
	case itemHalt:
		m.hearHalt(from, it)
	case itemPause:
		m.hearPause(from, it)
	case itemLevel:
		m.hearLevel(from, it)
	case itemWhere:
		if p := m.peers.of(from); p != nil {
			p.server = wire.Server{Addr: it.addr, Name: it.name, Load: uint8(min(it.load, 255))}
			p.load, p.room = int(it.load), int(it.room)
			if !slices.Contains(m.group.met, it.peer) {
				m.group.met = append(m.group.met, it.peer)
			}
			m.tellServers()
		}
	case itemChat:
		if from != m.roll.self {
			m.decides(server.Decision{Kind: server.Relay, Player: it.player, Name: it.name,
				Text: it.text, Alone: it.alone})
		}
	}
}

// believes says whether an item is of the überserver of its epoch, and refuses it otherwise.
func (m *Mirror) believes(from member.ID, it *item, otherwise string) bool {
	if m.roll.epochs[it.epoch] == from {
		return true
	}
	m.refuse(from, errors.New(otherwise))
	return false
}

// counts says whether a command of another mirror counts. In the event-based protocol mirrors speak
// before they are started.
func (m *Mirror) counts(p *peer, c timeline.Command) counting {
	if m.ruled.line != nil && p != nil && !p.started {
		p = nil
	}
	return m.roll.counts(p, &c, m.roll.bound(&m.in.standing, m.peers))
}

// command takes one that another mirror has stamped. Whether it counts may not be known yet.
func (m *Mirror) command(p *peer, c timeline.Command) {
	switch m.counts(p, c) {
	case counts:
		m.submit(c)
	case countsNot:
		m.stats.Refused++
	default:
		m.keep(c)
	}
}

// maxUndecided bounds the commands that wait to be known good or bad: two seconds of a hundred
// players.
const maxUndecided = 12000

// keep has a command wait until it is known whether it counts, or until there is room for it.
func (m *Mirror) keep(c timeline.Command) {
	if len(m.undecided) >= maxUndecided {
		m.stats.Refused++
		return
	}
	c.Image = slices.Clone(c.Image)
	m.undecided = append(m.undecided, c)
}

// decide looks at undecided commands again.
func (m *Mirror) decide() {
	list := m.undecided
	m.undecided, m.settle.crowded = nil, 0
	for _, c := range list {
		p := m.peers.of(c.Origin)
		if p != nil || c.Origin == m.roll.self {
			m.command(p, c)
		} else if c.Kind != timeline.Give ||
			m.roll.registry.speaks(c.Origin, c.Player, c.Tick) {
			m.submit(c) // of a mirror that is gone: what it said before still counts
		}
	}
}

// submit gives a command to the timeline.
func (m *Mirror) submit(c timeline.Command) {
	if m.levels.closed(c.Tick) {
		m.keep(c) // until its world begins
		return
	}
	if m.early(&c) {
		m.stats.Refused++
		return
	}
	fate, err := m.line.Submit(m.worldTime(), c)
	switch {
	case errors.Is(err, timeline.ErrAhead):
		m.settle.crowd(c.Tick)
		m.keep(c)
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
