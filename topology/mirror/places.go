package mirror

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
)

// places is where players are: what the überserver weighs when a player finds another mirror that
// is much nearer, and what every mirror counts of those that come and go.
//
// Players find out by themselves which mirror is near. But all players of a region find the same
// one at the same time, and each of them knows how full it was a second ago. So whoever has a
// mirror that works, and would rather be at another, is let go by the überserver: if there is room,
// if it is worth it to a player of whom the new mirror has more, and some in each second.
type places struct {
	in, out [wire.Whys]uint64
	denied  uint64
	granted []grantedMove // in the last second, as überserver
}

type grantedMove struct {
	to member.ID
	at time.Duration
}

const (
	// fullPenalty is by how much nearer a mirror without any room left must be than an empty one.
	fullPenalty = 60 * time.Millisecond
	// worthLeast is by how much nearer a mirror must be that is as full.
	worthLeast = 10 * time.Millisecond
	// movesAtOnce is how many players may go to one mirror in a second of their own accord, or one
	// in movesShare of those it has room for, if that is more.
	movesAtOnce = 4
	movesShare  = 16
)

// worth says whether a player may go from one mirror to another: always if it must.
func (q *places) worth(m *Mirror, from, to member.ID, why wire.Journey) bool {
	if why.Why != wire.Nearer || from == to ||
		!slices.Contains(m.group.node.Group().Members(), from) {
		return true
	}
	now := m.clock.steady
	q.granted = slices.DeleteFunc(q.granted, func(g grantedMove) bool {
		return now-g.at >= time.Second
	})
	coming := 0
	for _, g := range q.granted {
		if g.to == to {
			coming++
		}
	}
	here, there := m.fullness(from, 0), m.fullness(to, coming+1)
	_, room := m.loadOf(to)
	gain := time.Duration(int(why.From)-int(why.Trip)) * time.Millisecond
	price := worthLeast + time.Duration((there-here)*float64(fullPenalty))
	if there > 1 || coming >= max(movesAtOnce, room/movesShare) || gain < price {
		q.denied++
		return false
	}
	q.granted = append(q.granted, grantedMove{to, now})
	return true
}

// loadOf is how many players a mirror has, and has room for.
func (m *Mirror) loadOf(id member.ID) (load, room int) {
	room = m.opt.Room
	if id == m.roll.self {
		if s := m.show.server; s != nil {
			load = s.Population().Players
		}
	} else if p := m.peers.of(id); p != nil {
		load, room = p.load, p.room
	}
	if room == 0 {
		room = m.opt.Server.Players
	}
	return load, room
}

// fullness is which share of its room a mirror uses when some more have come.
func (m *Mirror) fullness(id member.ID, more int) float64 {
	load, room := m.loadOf(id)
	return float64(load+more) / float64(max(room, 1))
}

// sendsOn sends someone to another mirror, if this one is full and another is not. Whoever comes
// since the mirror before works no more finds the next nearest by itself.
func (m *Mirror) sendsOn(v server.Visitor) bool {
	h := m.roll.registry.clients[v.Client]
	if h != nil && h.owner() == m.roll.self || m.fullness(m.roll.self, 1) <= 1 {
		return false
	}
	for _, q := range m.show.elsewhere { // the nearest first
		for _, p := range m.peers {
			if p.server.Addr != q.Addr || !p.started || m.fullness(p.id, 1) > 1 {
				continue
			}
			d := server.Decision{Kind: server.Deny, Client: v.Client, Reason: wire.ReasonNoSeat,
				Text: "this mirror is full"}
			if v.Journey.Why == wire.Joins {
				d.Reason, d.Text = wire.ReasonMoved, q.Addr.String()+" this mirror is full"
			}
			m.places.denied++
			m.decides(d)
			return true
		}
	}
	return false
}

// count books who comes to this mirror and who goes from it.
func (q *places) count(self, was member.ID, it *item) {
	switch {
	case it.what == assignLeave:
	case it.member == self && was != self:
		q.in[it.why.Why]++
	case was == self && it.member != self:
		q.out[it.why.Why]++
	}
}

// Moves are how many players came to this mirror and went from it to others, by why they did, and
// how many were told to stay where they are or go elsewhere.
type Moves struct {
	In, Out [wire.Whys]uint64
	Denied  uint64
}

// Moves gives the totals so far.
func (m *Mirror) Moves() Moves { return Moves{m.places.in, m.places.out, m.places.denied} }
