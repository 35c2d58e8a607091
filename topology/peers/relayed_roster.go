package peers

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// acquaintance is what is known of the others beside what the relay tells of those who are there.
type acquaintance struct {
	names [relay.MaxSeats]string // of who has a seat, or had it last
	trips map[member.ID]time.Duration
}

// told takes in what a member says of its way to the relay and back.
func (a *acquaintance) told(id member.ID, trip time.Duration) {
	if a.trips == nil {
		a.trips = map[member.ID]time.Duration{}
	}
	a.trips[id] = trip
}

// Members lists who takes part, by rising number, as Peer.Members does: not those who are absent,
// whose bodies wait. A member is open while it and this peer are connected with the relay. Its
// round trip is the sum of those of the two, as each tells with every mark; its silence is counted
// in rows that took nothing of it.
func (p *Relayed) Members() (list []Member) {
	l := &p.line
	var q conn.Quality
	if l.in != nil && l.client.Conn() != nil {
		q = l.client.Conn().Quality()
	}
	open := func(m *Member, o *relay.Peer) {
		if o != nil && l.in != nil && !p.opt.Watch {
			m.Open, m.RoundTrip, m.Loss = true, q.RoundTrip+l.known.trips[o.Member], q.LossIn
		}
	}
	me := world.Nobody
	if !p.opt.Watch {
		if me = p.mine.player; l.in != nil {
			me = world.Player(l.in.Player)
		}
	}
	seated := [relay.MaxSeats + 1]bool{}
	for i := range p.rolls.seats {
		x := &p.rolls.seats[i]
		player := world.Player(i + 1)
		if x.state == seatFree || x.state == seatAbsent && player != me {
			continue
		}
		seated[player] = true
		m := Member{ID: x.member, Player: player, Name: l.known.names[i], Self: player == me}
		if m.Self {
			m.Name = p.opt.Name
		} else {
			m.Silent = time.Duration(x.silent) * p.game.TickLength()
			open(&m, l.holder(player))
		}
		list = append(list, m)
	}
	for _, o := range l.members {
		absent := o.Player > 0 && p.rolls.seats[o.Player-1].state == seatAbsent &&
			p.rolls.seats[o.Player-1].member == o.Member // whose connection has not ended yet
		if !o.Watch && !absent && !seated[o.Player] {
			m := Member{ID: o.Member, Name: o.Name}
			open(&m, o)
			list = append(list, m)
		}
	}
	if l.in != nil && !p.opt.Watch && !seated[me] {
		list = append(list, Member{ID: l.in.Self, Name: p.opt.Name, Self: true})
	}
	slices.SortFunc(list, func(a, b Member) int { return int(a.ID) - int(b.ID) })
	return list
}

// holder is who of the others is there and has a seat, or nil.
func (l *line) holder(player world.Player) *relay.Peer {
	for _, m := range l.members {
		if !m.Watch && world.Player(m.Player) == player {
			return m
		}
	}
	return nil
}

// Waiting is for how long the next tick has been due and cannot be shown, since its row has not
// come; zero while all is well.
func (p *Relayed) Waiting() time.Duration {
	if !p.clock.late || p.phase != Playing {
		return 0
	}
	return p.now - p.clock.since
}

// Style is how this peer deals with commands that are not there yet.
func (p *Relayed) Style() Style { return p.clock.style }
