package mirror

import (
	"maps"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A roll says who leads, and who speaks for whom. What the überserver decides takes effect at
// ticks; every mirror hears all that the überservers have decided in the same order, so all have
// the same roll for a tick once its bound has passed that tick.
type roll struct {
	self   member.ID // 0 before this mirror is let in
	uber   member.ID
	epoch  uint32
	epochs map[uint32]member.ID // the überserver of each, as far back as anything may refer to it

	leaders map[member.ID]bool // who is or was überserver, and may have decided what is not known
	// ended says that a mirror decides nothing more in epochs before one
	ended    map[member.ID]uint32
	final    world.Tick // up to where those who are gone may have decided
	registry *registry
	claims   map[uint64]*claim
	heard    map[uint64]heardClaim // claims of all mirrors that nobody has decided about
	// since when this mirror leads, and waits for what others had decided
	waits time.Duration
	// when players of mirrors that are gone are taken over, or zero
	reclaimAt time.Duration
}

// A claim is a client that waits for a player.
type claim struct {
	name  string
	why   wire.Journey
	asked time.Duration
}

// A heardClaim is one that any mirror has made.
type heardClaim struct {
	from member.ID
	name string
	why  wire.Journey
	at   time.Duration
}

// maxClaims bounds the claims that are kept.
const maxClaims = 4096

func newRoll(overlap world.Tick) roll {
	return roll{
		epochs: map[uint32]member.ID{}, leaders: map[member.ID]bool{},
		ended:    map[member.ID]uint32{},
		registry: newRegistry(overlap), claims: map[uint64]*claim{},
		heard: map[uint64]heardClaim{},
	}
}

// led takes who leads, in which epoch.
func (r *roll) led(uber member.ID, epoch uint32) {
	r.uber, r.epoch = uber, epoch
	r.epochs[epoch] = uber
	if uber != 0 {
		r.leaders[uber] = true
	}
	maps.DeleteFunc(r.epochs, func(e uint32, _ member.ID) bool { return e+1024 < epoch })
}

// bound is the tick up to which all decisions are known: of the überserver, and of one before it of
// which not all has come.
func (r *roll) bound(own *standing, others peers) world.Tick {
	t := world.Tick(maxTick)
	for id := range r.leaders {
		if id == r.self {
			t = min(t, own.promise)
		} else if p := others.of(id); p != nil {
			t = min(t, p.bound())
		}
	}
	if t == maxTick {
		return 0
	}
	return t
}

// succeeds says whether what a mirror decides as überserver in an epoch comes after what another
// decided of which not all has come: it must wait for that, so that all mirrors hear both in the
// same order. What the one before says does not wait for the one after it.
func (r *roll) succeeds(id member.ID, epoch uint32, others peers) bool {
	for other := range r.leaders {
		if other != id && (other == r.self || others.of(other) != nil) && r.first(other) < epoch {
			return true
		}
	}
	return false
}

// resign takes it that a mirror decides nothing more in epochs before one, and has decided nothing
// for ticks after another. It says whether there is nothing to wait for any more.
func (r *roll) resign(id member.ID, epoch uint32, last world.Tick) bool {
	if !r.leaders[id] || r.ended[id] >= epoch {
		return false
	}
	r.ended[id], r.final = epoch, max(r.final, last)
	if r.first(id) != 0 || r.uber == id {
		return false // it leads again
	}
	delete(r.leaders, id)
	return true
}

// first is the first epoch in which a mirror led and may have decided what is not known, or zero if
// there is none, or it is too long ago.
func (r *roll) first(id member.ID) (first uint32) {
	for epoch, uber := range r.epochs {
		if uber == id && epoch >= r.ended[id] && (first == 0 || epoch < first) {
			first = epoch
		}
	}
	return first
}

// counting says whether a command counts.
type counting uint8

const (
	countsMaybe counting = iota // that cannot be known yet
	counts
	countsNot
)

// counts says whether a command is its mirror's to give, where bound is known. It answers only what
// will stay true. The mirror is p, or nil if it is this one.
func (r *roll) counts(p *peer, c *timeline.Command, bound world.Tick) counting {
	switch {
	case p != nil && p.started && c.Tick <= p.from:
		return countsNot
	case p != nil && !p.started:
		return countsMaybe
	case c.Kind != timeline.Give:
		return counts // it is about nobody, or the überserver's word, which was looked at before
	case bound+r.registry.overlap < c.Tick && r.uber != r.self:
		return countsMaybe // it may have been taken away from that mirror long ago
	case r.registry.speaks(c.Origin, c.Player, c.Tick):
		return counts
	case bound >= c.Tick:
		return countsNot
	}
	return countsMaybe
}

// fields reads or writes what a newcomer has to know of the roll.
func (r *roll) fields(c *bits.Cursor) {
	tick(c, &r.final)
	table(c, r.leaders, func(id *member.ID, leads *bool) {
		c.U16((*uint16)(id))
		*leads = true
	})
	table(c, r.epochs, func(epoch *uint32, uber *member.ID) {
		c.U32(epoch)
		c.U16((*uint16)(uber))
	})
	table(c, r.ended, func(id *member.ID, epoch *uint32) {
		c.U16((*uint16)(id))
		c.U32(epoch)
	})
	r.registry.fields(c)
}

// roster takes in who leads, and who is in the group.
func (m *Mirror) roster() {
	m.roll.led(m.group.council.Uber(), m.group.council.Epoch())
	for _, id := range m.group.node.Group().Members() {
		if m.line != nil {
			m.met(id)
		}
	}
}

// succeeded goes on after one who led, all of whose decisions are known now.
func (m *Mirror) succeeded() {
	m.setJudge()
	for _, p := range m.peers {
		m.takeInOrder(p)
	}
	m.claimAnew()
}

// resign tells the others that this mirror, which led, decides nothing more, so that the one that
// leads now need not wait until it is gone.
func (m *Mirror) resign() {
	r := &m.roll
	if r.uber == r.self || r.uber == 0 || !r.leaders[r.self] || m.line == nil ||
		m.life.state == cutOff {
		return
	}
	m.queue(item{kind: itemResign, epoch: r.epoch, tick: m.decidable()})
}

// resigned takes it that a mirror that led decides nothing more.
func (m *Mirror) resigned(from member.ID, it *item) {
	if m.roll.resign(from, it.epoch, it.tick) {
		m.succeeded()
		m.decide()
		m.roll.reclaimAt = m.clock.steady + reclaimAfter
	}
}

// met begins to listen to a mirror that came into the group.
func (m *Mirror) met(id member.ID) {
	if id != m.roll.self && m.peers.of(id) == nil {
		m.listen(newPeer(id))
	}
}

// listen adds a peer.
func (m *Mirror) listen(p *peer) {
	m.peers = m.peers.with(p)
	m.clock.peer(p.id)
}

// gone forgets a mirror that is gone: all that counts of it has come.
func (m *Mirror) gone(id member.ID) {
	p := m.peers.of(id)
	if p == nil {
		return
	}
	m.takeInOrder(p)
	m.peers = m.peers.without(id)
	m.clock.forget(id)
	delete(m.roll.ended, id)
	if m.roll.leaders[id] {
		delete(m.roll.leaders, id)
		m.roll.final = max(m.roll.final, p.bound())
		m.succeeded()
	}
	m.awaitMirrors(p)
	m.roll.reclaimAt = m.clock.steady + reclaimAfter
	m.tellServers()
}
