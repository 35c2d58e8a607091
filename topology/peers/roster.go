package peers

import (
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A Member is one who takes part, as seen from here.
type Member struct {
	ID     member.ID
	Player world.Player // whom it plays; 0 until it does
	Name   string
	Self   bool // it is this peer
	Lapses int  // how many times it has lapsed of late
	Open   bool // there is a connection with it
	// RoundTrip and Loss are of that connection, and Silent is for how long nothing has come.
	RoundTrip time.Duration
	Loss      float64
	Silent    time.Duration
}

// Members lists who takes part, by rising number.
func (p *Peer) Members() []Member {
	if p.charter == nil {
		return nil
	}
	list := make([]Member, 0, len(p.charter.members))
	for i := range p.charter.members {
		e := &p.charter.members[i]
		m := Member{ID: e.id, Player: e.player, Name: e.card.name, Self: e.id == p.self,
			Lapses: p.charter.lapsed(e.id, 0)}
		if s := p.charter.span(e.id); s != nil {
			m.Player = s.player
		}
		if q := p.pair(e.id); q != nil && q.open() {
			u := q.conn.Quality()
			m.Open, m.RoundTrip, m.Loss = true, u.RoundTrip, u.LossIn
			m.Silent = p.now - q.heard
		}
		list = append(list, m)
	}
	return list
}

// Waiting is for how long the next tick has been due and cannot be shown, since something is
// missing; zero while all is well.
func (p *Peer) Waiting() time.Duration {
	if !p.pace.late || p.phase != Playing {
		return 0
	}
	return p.now - p.pace.since
}

// Style is how this peer deals with commands that are not there yet.
func (p *Peer) Style() Style { return p.pace.style }
