package rooms

import (
	"cmp"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
)

// Sight shows what is in rooms that can be seen from the client's, doors as they are. To that it
// adds what may change within the client's round trip: the rooms that the client can be in by then,
// and what can have come into a visible room.
type Sight struct {
	In *Rooms
	// Reach is how far one sees, such as a little more than the screen shows. It grows by what the
	// two can come nearer within the round trip and by the entity's Nimbus, and who is seen already
	// is lost a tenth later. Default: no limit.
	Reach float64
	// Far is the relevance of what is at that distance, as a part of that of what is at none.
	// Default: 0.1.
	Far float64
	// Weight is the relevance of what is at no distance. Default: 1.
	Weight float64
	// Classes restricts it to some classes. Default: all.
	Classes interest.Classes
}

// lag is how much of a client's round trip counts.
func (r *Rooms) lag(o *interest.Observer) float64 { return min(o.RoundTrip.Seconds(), r.horizon) }

// visible is what can be seen from where the client may be. It says false if that depends on
// something that changed since a revision.
func (r *Rooms) visible(o *interest.Observer, vis *set, since uint64) bool {
	var room [16]near
	p := det.Vec2{X: o.Pos.X, Y: o.Pos.Y}
	home := r.room(p)
	if int(home) == r.plan.layout.Rooms { // from nowhere one sees everything, rather than nothing
		for n := range r.plan.layout.Rooms {
			vis.add(n)
		}
		return true
	}
	same := true
	for _, n := range r.around(room[:0], home, p, float64(o.Speed*r.lag(o))) {
		s := &r.sees[n.room]
		for i := range vis {
			vis[i] |= s[i]
		}
		same = same && r.seesAt[n.room] <= since
	}
	return same
}

// Find is for interest.Rules to call.
func (s *Sight) Find(q *interest.Query) {
	r, o := s.In, q.Observer()
	var vis set
	r.visible(o, &vis, 0)
	s.look(q, &r.cells[r.plan.layout.Rooms], &vis)
	for n := range vis.all {
		s.look(q, &r.cells[n], &vis)
	}
}

// look goes through the list of a room.
func (s *Sight) look(q *interest.Query, c *cell, vis *set) {
	r, o := s.In, q.Observer()
	lag := r.lag(o)
	far, weight := 1-det.Clamp(cmp.Or(s.Far, 0.1), 0, 1), cmp.Or(s.Weight, 1)
	eye := det.Vec2{X: o.Pos.X, Y: o.Pos.Y}
	for i := range c.members {
		m := &c.members[i]
		if !s.Classes.Has(m.id.Class()) {
			continue
		}
		comes := float64(m.speed * lag)
		if m.gap > 0 {
			if int(m.home) < r.plan.layout.Rooms && vis.has(int(m.home)) {
				continue // it is found at home
			}
			if into := comes + m.nimbus; m.gap > into && (m.gap > into+r.linger || !q.Held(m.id)) {
				continue
			}
		}
		relevance := weight
		if s.Reach > 0 {
			d := m.pos.Sub(eye).LenSq()
			out := s.Reach + m.nimbus + comes + float64(o.Speed*lag)
			if d > float64(out*out) {
				if out += float64(s.Reach * 0.1); d > float64(out*out) || !q.Held(m.id) {
					continue
				}
			}
			relevance *= 1 - float64(far*min(1, det.Sqrt(d)/out))
		}
		q.Add(m.id, relevance)
	}
}

// Quiet is for interest.Rules to call.
func (s *Sight) Quiet(q *interest.Query) bool {
	r := s.In
	since := q.Since()
	if r.latest <= since {
		return true
	}
	var vis set
	if !r.visible(q.Observer(), &vis, since) || r.cells[r.plan.layout.Rooms].stamp > since {
		return false
	}
	for n := range vis.all {
		if r.cells[n].stamp > since {
			return false
		}
	}
	return true
}
