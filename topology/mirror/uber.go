package mirror

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// This file is what a mirror does as überserver, and what others make of it.

const reasonFull = wire.ReasonNoSeat

const (
	claimAgain = 500 * time.Millisecond // an überserver may have died with the claim
	placeEvery = time.Second
)

// rule does what is due from time to time: as überserver, to start newcomers and drop whom nobody can wait for; and as any mirror, to ask again and to allow
// the timeline to settle.
func (m *Mirror) rule() {
	if m.line == nil || m.broken {
		return
	}
	if m.phase == Suspended && !m.cut && m.clock.local-m.reunited >= m.opt.History*3/4 && m.council.Quorum() && !m.clock.unsure {
		// By now it would have heard if the others went on without it.
		m.phase = Waiting
		if m.started {
			m.phase = Serving
		}
	}
	if m.uber == m.self && !m.started && m.phase == Waiting && !m.clock.unsure && m.council.Quorum() && !m.succeeds(m.self) {
		// It came to lead before anybody started it.
		m.queue(item{kind: itemStart, member: m.self, tick: m.open1(), epoch: m.epoch}, nil)
	}
	if m.leads() {
		present := m.present()
		for _, id := range m.order {
			m.watch(m.streams[id], present)
		}
	}
	if m.machine-m.placeAt >= placeEvery {
		m.placeAt = m.machine
		m.announce()
		m.registry.prune(m.line.Settled().Tick())
	}
	for _, client := range slices.Sorted(maps.Keys(m.claims)) {
		if c := m.claims[client]; m.machine-c.asked >= claimAgain {
			c.asked = m.machine
			m.queue(item{kind: itemClaim, client: client, name: c.name}, nil)
		}
	}
	m.hold()
	if m.waits {
		for _, id := range m.order {
			m.drain(m.streams[id])
		}
	}
	if len(m.parked) > 0 {
		m.unpark()
	}
}

// leads says whether this mirror may act as überserver.
func (m *Mirror) leads() bool {
	return m.uber == m.self && m.self != 0 && m.started && m.phase == Serving && !m.broken && !m.clock.unsure && m.council.Quorum() && !m.succeeds(m.self)
}

// present is the tick that most mirrors take to be the present, this one included.
func (m *Mirror) present() world.Tick {
	all := []world.Tick{m.stamp}
	for _, s := range m.streams {
		if s.started {
			all = append(all, s.bound())
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// watch starts a newcomer that is ready, and drops a mirror whose time is so wrong that all would have to wait for it.
func (m *Mirror) watch(s *stream, present world.Tick) {
	if !s.started {
		if s.waiting && s.newest > 0 && s.have+m.ticks(m.opt.window()) >= m.held {
			m.queue(item{kind: itemStart, member: s.id, tick: m.open1(), epoch: m.epoch}, nil)
		}
		return
	}
	lag := m.ticks(m.slack() / 2)
	switch bound := s.bound(); {
	case bound+lag < present && s.from+2*lag < present:
		m.refuse(s.id, errors.New("it is too far behind"))
		m.distrust(s.id)
	case bound > present+m.ticks(time.Second):
		m.refuse(s.id, errors.New("its clock is more than a second ahead"))
		m.distrust(s.id)
	}
}

// distrust has a mirror dropped that is not to be believed, or not to be waited for. It may join anew.
func (m *Mirror) distrust(id member.ID) {
	if m.uber == m.self {
		m.council.Dismiss(m.machine, id, crimp.ReasonRefused)
	}
}

// open1 is the first tick that may still be decided upon.
func (m *Mirror) open1() world.Tick { return max(m.stamp, m.promised+1, m.final+1, m.from+1) }

// consider gives a client of a mirror a player: the one that it had, wherever that was, or a new one.
func (m *Mirror) consider(from member.ID, client uint64, name string) {
	if !m.leads() {
		return
	}
	if h := m.registry.clients[client]; h != nil {
		m.assign(h.player, client, from, assignMove, "")
		return
	}
	p := m.registry.free(m.opt.Server.Players)
	if p == world.Nobody {
		m.queue(item{kind: itemDeny, client: client, member: from}, nil)
		return
	}
	m.assign(p, client, from, assignJoin, name)
}

// release takes a client's player out of the world, if the mirror that says so speaks for it.
func (m *Mirror) release(from member.ID, client uint64) {
	if h := m.registry.clients[client]; m.leads() && h != nil && h.owner() == from {
		m.assign(h.player, client, from, assignLeave, "")
	}
}

// reclaim takes over the players of mirrors that are gone, until their clients turn up somewhere.
func (m *Mirror) reclaim() {
	if !m.leads() {
		return
	}
	members := m.node.Group().Members()
	for _, h := range m.registry.list() {
		if h.left == 0 && !slices.Contains(members, h.owner()) {
			m.assign(h.player, h.client, m.self, assignMove, "")
		}
	}
}

func (m *Mirror) assign(p world.Player, client uint64, to member.ID, what byte, name string) {
	m.queue(item{kind: itemAssign, player: p, client: client, member: to, epoch: m.epoch, what: what, name: name, tick: m.open1()}, nil)
}

// assigned does what an assignment says, on every mirror.
func (m *Mirror) assigned(from member.ID, it *item, seq uint32) {
	if !m.registry.apply(it) {
		return
	}
	if s := m.streams[from]; m.waits && s != nil && it.stamped() {
		s.submitted++
	}
	switch it.what {
	case assignJoin:
		m.submit(timeline.Command{Kind: timeline.Join, Tick: it.tick, Origin: from, Seq: seq, Player: it.player})
	case assignLeave:
		m.submit(timeline.Command{Kind: timeline.Leave, Tick: it.tick, Origin: from, Seq: seq, Player: it.player})
	}
	m.tell(News{Kind: PlayerMoved, Mirror: it.member, Player: it.player, Tick: it.tick})
	m.unpark()
	d := server.Decision{Kind: server.Revoke, Client: it.client, Player: it.player}
	switch {
	case it.what == assignLeave:
	case it.member == m.self:
		delete(m.claims, it.client)
		d.Kind, d.Name = server.Grant, it.name
		if h := m.registry.players[it.player]; h != nil {
			d.Name = h.name
		}
	default:
		d.Text = "plays on another mirror now"
		if s := m.streams[it.member]; s != nil {
			d.To = s.place.Addr
		}
	}
	m.decides(d)
}

// start lets a mirror stamp from a tick on.
func (m *Mirror) start(id member.ID, tick world.Tick) {
	if id == m.self {
		if m.started {
			return
		}
		m.started, m.from = true, tick
		if m.phase == Waiting {
			m.phase = Serving
		}
		m.began()
		m.resume()
	} else if s := m.streams[id]; s != nil && !s.started {
		s.started, s.from = true, tick
	}
	m.placeAt = m.machine - placeEvery // clients shall know at once where else to go
	m.places()
	m.mirrors(nil)
	m.unpark()
	m.tell(News{Kind: Started, Mirror: id, Tick: tick})
}

// resume asks for the players of clients that are here from before.
func (m *Mirror) resume() {
	if m.server == nil {
		return
	}
	for _, seat := range m.seats() {
		if h := m.registry.clients[seat.Client]; !seat.Spectator() && (h == nil || h.owner() != m.self) {
			m.claims[seat.Client] = &claim{name: seat.Name, asked: m.machine}
			m.queue(item{kind: itemClaim, client: seat.Client, name: seat.Name}, nil)
		}
	}
}

// mirrors tells a timeline that waits for whom to wait: for all that were started, and no more for one that is gone.
func (m *Mirror) mirrors(gone *stream) {
	if !m.waits {
		return
	}
	list := m.line.Members()
	wait := func(id member.ID, from world.Tick) {
		if !slices.ContainsFunc(list, func(x timeline.Membership) bool { return x.Mirror == id }) {
			list = append(list, timeline.Membership{Mirror: id, From: from})
		}
	}
	if m.started {
		wait(m.self, m.from)
	}
	for _, id := range m.order {
		if s := m.streams[id]; s.started {
			wait(id, s.from)
		}
	}
	for i := range list {
		if x := &list[i]; gone != nil && x.Mirror == gone.id {
			x.Left, x.Until = true, max(gone.bound(), gone.implied)
		} else if x.Mirror == m.self {
			x.From = max(x.From, m.from)
		}
	}
	if err := m.line.SetMirrors(m.clock.now(), list); err != nil {
		m.again(err.Error())
	}
}

// have is the tick up to which this mirror holds everything of everyone.
func (m *Mirror) have() world.Tick {
	if m.ruled != nil {
		return m.ruledTo
	}
	t := world.Tick(maxTick)
	if m.started {
		t = m.promised
	}
	for _, s := range m.streams {
		if s.started {
			t = min(t, s.bound())
		}
	}
	if t == maxTick {
		t = 0
	}
	return t
}

// hold allows the timeline to settle what every mirror holds: then nobody who decides later who is gone can be without it.
func (m *Mirror) hold() {
	t := m.have()
	for _, s := range m.streams {
		if s.started {
			t = min(t, s.have)
		}
	}
	if t > m.held {
		m.held = t
		m.line.Hold(t)
	}
}

// announce tells where clients find this mirror.
func (m *Mirror) announce() {
	load := 0
	if m.server != nil {
		load = m.server.Population().Players
	}
	m.queue(item{kind: itemPlace, addr: m.opt.Public, peer: m.opt.Address, load: uint32(load), name: m.opt.Name}, nil)
}

// places tells clients of the other mirrors, the one with the fewest players first.
func (m *Mirror) places() {
	if m.server == nil {
		return
	}
	var list []Place
	for _, id := range m.order {
		if s := m.streams[id]; s.place.Addr.IsValid() && s.started {
			list = append(list, s.place)
		}
	}
	slices.SortStableFunc(list, func(a, b Place) int { return int(a.Load) - int(b.Load) })
	if len(list) > 0 {
		m.elsewhere = list
	}
	m.server.SetOtherServers(list)
}

const (
	// idleTime is how long a mirror may not serve before its players are asked to go on elsewhere, and sendEvery how often.
	idleTime  = 1500 * time.Millisecond
	sendEvery = 2 * time.Second
)

// sendOn asks players to go on elsewhere while this mirror does not serve. Those who are not let in there stay.
func (m *Mirror) sendOn() {
	if m.phase == Serving || m.phase == Waiting && m.started || m.server == nil {
		m.idle = m.machine
		return
	}
	if m.machine-m.idle < idleTime || m.machine-m.sentOn < sendEvery || len(m.elsewhere) == 0 {
		return
	}
	m.sentOn = m.machine
	for i, seat := range m.seats() {
		m.decides(server.Decision{Kind: server.Move, Client: seat.Client, To: m.elsewhere[i%len(m.elsewhere)].Addr})
	}
}

// seats lists those who are here, in the order of their numbers.
func (m *Mirror) seats() (list []*server.Seat) {
	for seat := range m.server.Seats {
		if !seat.Away() {
			list = append(list, seat)
		}
	}
	slices.SortFunc(list, func(a, b *server.Seat) int { return cmp.Compare(a.Client, b.Client) })
	return list
}
