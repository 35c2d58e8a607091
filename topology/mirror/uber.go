package mirror

import (
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

// This file is the überserver's part: who is given which player, who is started, and who is
// dropped; and what every mirror makes of that.

const (
	claimAgain    = 500 * time.Millisecond // an überserver may have died with the claim
	announceEvery = time.Second
	// reclaimAfter is how long the players of a mirror that is gone are left to those at which
	// their clients turn up: one that asks just then is not to be sent elsewhere.
	reclaimAfter = time.Second
)

// rule does what is due as überserver: to start newcomers, and to drop whom nobody can wait for.
func (m *Mirror) rule() {
	m.resign()
	m.takeOffice()
	if m.life.state == waiting && m.rules() {
		m.letStamp(m.roll.self) // it came to lead before anybody started it
	}
	if m.leads() {
		m.considerHeard()
		if m.roll.reclaimAt != 0 && m.clock.steady >= m.roll.reclaimAt {
			m.roll.reclaimAt = 0
			m.reclaim()
		}
		present := m.present()
		for _, p := range m.peers {
			m.watch(p, present)
		}
	}
}

// takeOffice has a former überserver dropped that a while after another was elected is still a
// mirror, and has not said that it decides nothing more: what it decided last can be known only
// when all that counts of it is. It may join anew.
func (m *Mirror) takeOffice() {
	self := m.roll.self
	if m.roll.uber != self || self == 0 || !m.confident() ||
		!m.roll.succeeds(self, m.roll.epoch, m.peers) {
		m.roll.waits = m.clock.steady
		return
	}
	if m.clock.steady-m.roll.waits < m.slack() {
		return
	}
	m.roll.waits = m.clock.steady
	for _, p := range m.peers {
		if m.roll.leaders[p.id] {
			m.distrust(p.id, "it led before, and another does now")
		}
	}
}

// remind tells others what has to be told from time to time.
func (m *Mirror) remind() {
	now := m.clock.steady
	if m.life.state == cutOff {
		return
	}
	if now-m.show.announced >= announceEvery {
		m.show.announced = now
		m.announce()
		m.roll.registry.prune(m.at(m.line.Settled()))
		maps.DeleteFunc(m.roll.heard,
			func(_ uint64, c heardClaim) bool { return now-c.at > 2*claimAgain })
	}
	for _, client := range slices.Sorted(maps.Keys(m.roll.claims)) {
		if c := m.roll.claims[client]; now-c.asked >= claimAgain {
			m.claim(client, c.name, c.why)
		}
	}
}

// claimAnew has all claims made again at once: another überserver decides about them, or can from
// now on.
func (m *Mirror) claimAnew() {
	for _, c := range m.roll.claims {
		c.asked = m.clock.steady - claimAgain
	}
}

// confident says that this mirror knows the time and is in touch with most of the others.
func (m *Mirror) confident() bool { return !m.clock.unsure && m.group.council.Quorum() }

// rules says whether this mirror is überserver, and knows all that those before it decided.
func (m *Mirror) rules() bool {
	self := m.roll.self
	return m.roll.uber == self && self != 0 && m.confident() &&
		!m.roll.succeeds(self, m.roll.epoch, m.peers)
}

// leads says whether this mirror may act as überserver.
func (m *Mirror) leads() bool { return m.life.state == serving && m.in.started && m.rules() }

// present is the tick that most mirrors take to be the present, this one included.
func (m *Mirror) present() world.Tick {
	all := []world.Tick{m.in.stamp}
	for _, p := range m.peers {
		if p.started {
			all = append(all, p.bound())
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// watch starts a newcomer that is ready, and drops a mirror whose time is so wrong that all would
// have to wait for it. One that is as far as this one is not too far ahead, whatever most others
// say: they may not have been heard of late.
func (m *Mirror) watch(p *peer, present world.Tick) {
	if !p.started {
		if p.waiting && p.newest > 0 && p.have+m.ticks(m.opt.window()) >= m.settle.held {
			m.letStamp(p.id)
		}
		return
	}
	if m.life.reunited != 0 && m.clock.local-m.life.reunited < m.slack() {
		return // those that were cut off when this one was need some time to be where they should
	}
	lag := m.ticks(m.slack() / 2)
	switch bound := p.bound(); {
	case bound+lag < present && p.from+2*lag < present:
		m.distrust(p.id, "it is too far behind")
	case bound > max(present, m.in.stamp)+m.ticks(time.Second):
		m.distrust(p.id, "its clock is more than a second ahead")
	}
}

// letStamp starts a mirror.
func (m *Mirror) letStamp(id member.ID) {
	m.queue(item{kind: itemStart, member: id, tick: m.decidable(), epoch: m.roll.epoch})
}

// distrust has a mirror dropped that is not to be believed, or not to be waited for. It may join
// anew.
func (m *Mirror) distrust(id member.ID, why string) {
	m.refuse(id, errors.New(why))
	if m.roll.uber == m.roll.self {
		m.group.council.Dismiss(m.clock.steady, id, crimp.ReasonRefused)
	}
}

// decidable is the first tick that may still be decided upon. In the first tick of a level's world
// only those come in who were in the one before.
func (m *Mirror) decidable() world.Tick {
	t := max(m.in.open(), m.roll.final+1, m.in.from+1)
	switch v := &m.levels; {
	case v.closed(t):
		t = max(t, v.next+2)
	case v.base != 0:
		t = max(t, v.base+2)
	}
	return t
}

// consider gives a client of a mirror a player: the one that it had, wherever that was, or a new
// one.
func (m *Mirror) consider(from member.ID, client uint64, name string, why wire.Journey) {
	if !m.leads() || m.halt.at != 0 { // it is asked again
		return
	}
	delete(m.roll.heard, client)
	r := m.roll.registry
	if h := r.clients[client]; h != nil && !m.places.worth(m, h.owner(), from, why) {
		m.queue(item{kind: itemDeny, client: client, member: from})
	} else if h != nil {
		m.assign(h.player, client, from, assignMove, "", why.Why)
	} else if p := r.free(m.opt.Server.Players); p != world.Nobody {
		m.assign(p, client, from, assignJoin, name, why.Why)
	} else {
		m.queue(item{kind: itemDeny, client: client, member: from})
	}
}

// hearClaim keeps a claim that was made while this mirror could not decide about it: it may be
// überserver before the claim is made again.
func (m *Mirror) hearClaim(from member.ID, it *item) {
	r := &m.roll
	if len(r.heard) < maxClaims {
		r.heard[it.client] = heardClaim{from, it.name, it.why, m.clock.steady}
	}
}

// considerHeard decides about claims that were made before this mirror led, if they are recent.
func (m *Mirror) considerHeard() {
	r := &m.roll
	if len(r.heard) == 0 {
		return
	}
	members := m.group.node.Group().Members()
	for _, client := range slices.Sorted(maps.Keys(r.heard)) {
		c := r.heard[client]
		if m.clock.steady-c.at < claimAgain+claimAgain/2 && slices.Contains(members, c.from) {
			m.consider(c.from, client, c.name, c.why)
		}
	}
	clear(r.heard)
}

// release takes a client's player out of the world, if the mirror that says so speaks for it.
func (m *Mirror) release(from member.ID, client uint64) {
	if h := m.roll.registry.clients[client]; m.leads() && h != nil && h.owner() == from &&
		m.halt.at == 0 {
		m.assign(h.player, client, from, assignLeave, "", wire.Joins)
	}
}

// reclaim takes over the players of mirrors that are gone, until their clients turn up somewhere.
func (m *Mirror) reclaim() {
	if !m.leads() || m.halt.at != 0 {
		return
	}
	members := m.group.node.Group().Members()
	for _, h := range m.roll.registry.list() {
		if h.left == 0 && !slices.Contains(members, h.owner()) {
			m.assign(h.player, h.client, m.roll.self, assignMove, "", wire.Lost)
		}
	}
}

func (m *Mirror) assign(p world.Player, client uint64, to member.ID, what byte, name string,
	why wire.Why) {
	m.queue(item{kind: itemAssign, player: p, client: client, member: to, epoch: m.roll.epoch,
		what: what, name: name, tick: m.decidable(), why: wire.Journey{Why: why}})
}

// assigned does what an assignment says, on every mirror.
func (m *Mirror) assigned(from member.ID, it *item) {
	was := member.ID(0)
	if h := m.roll.registry.clients[it.client]; h != nil {
		was = h.owner()
	}
	if !m.roll.registry.apply(it) {
		return
	}
	m.places.count(m.roll.self, was, it)
	if it.stamped() {
		if p := m.peers.of(from); p != nil {
			p.submitted++
		}
		c := timeline.Command{
			Kind: timeline.Join, Tick: it.tick, Origin: from, Seq: it.seq, Player: it.player}
		if it.what == assignLeave {
			c.Kind = timeline.Leave
		}
		m.submit(c)
	}
	delete(m.roll.heard, it.client)
	m.tell(News{Kind: PlayerMoved, Mirror: it.member, Player: it.player, Tick: it.tick})
	m.decide()
	d := server.Decision{Kind: server.Revoke, Client: it.client, Player: it.player}
	switch {
	case it.what == assignLeave:
	case it.member == m.roll.self:
		delete(m.roll.claims, it.client)
		d.Kind, d.Name = server.Grant, m.roll.registry.players[it.player].name
	default:
		d.Text = "plays on another mirror now"
		if p := m.peers.of(it.member); p != nil {
			d.To = p.server.Addr
		}
	}
	m.decides(d)
}

// start lets a mirror stamp from a tick on.
func (m *Mirror) start(id member.ID, tick world.Tick) {
	if id == m.roll.self {
		if m.in.started {
			return
		}
		m.in.started, m.in.from = true, tick
		m.life.to(serving)
		m.begins()
		m.reseat()
	} else if p := m.peers.of(id); p != nil && !p.started {
		p.started, p.from = true, tick
	}
	m.show.announced = m.clock.steady - announceEvery // clients shall know at once where else to go
	m.tellServers()
	m.awaitMirrors(nil)
	m.decide()
	m.tell(News{Kind: Started, Mirror: id, Tick: tick})
}

// reseat asks for the players of clients that are here from before.
func (m *Mirror) reseat() {
	for _, seat := range m.show.seats() {
		if h := m.roll.registry.clients[seat.Client]; !seat.Spectator() &&
			(h == nil || h.owner() != m.roll.self) {
			m.claim(seat.Client, seat.Name, wire.Journey{})
		}
	}
}

// claim asks the überserver for a player.
func (m *Mirror) claim(client uint64, name string, why wire.Journey) {
	m.roll.claims[client] = &claim{name: name, why: why, asked: m.clock.steady}
	m.queue(item{kind: itemClaim, client: client, name: name, why: why})
}
