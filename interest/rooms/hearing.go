package rooms

import (
	"cmp"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/internal/heap"
)

// Hearing shows what can be heard: what makes a Sound that reaches the client on its way through
// the portals, around corners, as sound goes. A shut door lets it pass, but costs it some of its
// reach.
type Hearing struct {
	In *Rooms
	// Muffle is by how many units of the way a shut door counts. Default: 12.
	Muffle float64
	// Far is the relevance of what can barely be heard, as a part of that of what is at no
	// distance. Default: 0.1.
	Far float64
	// Weight is the relevance of what is at no distance. Default: 1.
	Weight float64
	// Classes restricts it to some classes. Default: all.
	Classes interest.Classes
}

// holdSound is by which factor further away a thing still counts as heard if it was heard before.
const holdSound = 1.1

// Find is for interest.Rules to call.
func (s *Hearing) Find(q *interest.Query) {
	s.spread(q, func(c *cell, via *Portal, way float64) bool {
		s.listen(q, c, via, way)
		return true
	})
}

// Quiet is for interest.Rules to call.
func (s *Hearing) Quiet(q *interest.Query) bool {
	since := q.Since()
	if s.In.latest <= since {
		return true
	}
	quiet := true
	s.spread(q, func(c *cell, _ *Portal, _ float64) bool {
		quiet = quiet && c.noise <= since
		return quiet
	})
	return quiet
}

// spread goes from the client's ear through the portals, nearest first, as far as the loudest thing
// can be heard, and calls visit with each room that it comes to, by which portal, and how long the
// way there is.
func (s *Hearing) spread(q *interest.Query, visit func(c *cell, via *Portal, way float64) bool) {
	r, o := s.In, q.Observer()
	ear := det.Vec2{X: o.Pos.X, Y: o.Pos.Y}
	home := r.room(ear)
	if !visit(&r.cells[home], nil, 0) || int(home) == r.plan.layout.Rooms {
		return
	}
	limit := float64(r.loudest*holdSound) + float64(o.Speed*r.lag(o)) + float64(r.fastest*r.lag(o))
	var best [MaxPortals]float32 // how near a portal is known to be; 0 for unknown
	// A portal waits for its turn by the way that sound has come so far, from the ear outward.
	var room [128]heap.Item[float64, int32]
	queue := heap.Heap[float64, int32](room[:0])
	reach := func(n int32, way float64) {
		if r.isShut(int(n)) {
			way += cmp.Or(s.Muffle, 12)
		}
		// Ways are compared in 32 bits, and made larger than nothing.
		if k := float32(way) + 1; way <= limit && (best[n] == 0 || k < best[n]) {
			best[n] = k
			queue = queue.Push(heap.Item[float64, int32]{Key: way, Value: n})
		}
	}
	for _, n := range r.plan.portals[home] {
		reach(n, det.Sqrt(r.plan.layout.Portals[n].distanceSq(ear)))
	}
	for len(queue) > 0 {
		next, rest := queue.Pop()
		n, way := next.Value, next.Key
		queue = rest
		if float32(way)+1 > best[n] {
			continue // a nearer way was found since
		}
		via := &r.plan.layout.Portals[n]
		if !visit(&r.cells[via.A], via, way) || !visit(&r.cells[via.B], via, way) {
			return
		}
		for _, l := range r.plan.links[n] {
			reach(l.to, way+l.distance)
		}
	}
}

// listen goes through the list of a room.
func (s *Hearing) listen(q *interest.Query, c *cell, via *Portal, way float64) {
	r, o := s.In, q.Observer()
	lag := r.lag(o)
	fall, weight := 1-det.Clamp(cmp.Or(s.Far, 0.1), 0, 1), cmp.Or(s.Weight, 1)
	ear := det.Vec2{X: o.Pos.X, Y: o.Pos.Y}
	for i := range c.members {
		m := &c.members[i]
		if m.sound == 0 || m.gap > 0 || !s.Classes.Has(m.id.Class()) {
			continue
		}
		d := way
		if via == nil {
			d = det.Sqrt(m.pos.Sub(ear).LenSq())
		} else {
			d += det.Sqrt(via.distanceSq(m.pos))
		}
		more := float64((m.speed + o.Speed) * lag)
		out := float64(m.sound*holdSound) + more
		if d > out || d > m.sound+more && !q.Held(m.id) {
			continue
		}
		q.Add(m.id, float64(weight*(1-float64(fall*min(1, d/out)))))
	}
}

// soundLinks works out how far sound goes from portal to portal.
func (p *Plan) soundLinks() [][]link {
	links := make([][]link, len(p.layout.Portals))
	for _, portals := range p.portals {
		for _, n := range portals {
			for _, m := range portals {
				if n != m {
					links[n] = append(links[n],
						link{m, between(&p.layout.Portals[n], &p.layout.Portals[m])})
				}
			}
		}
	}
	return links
}

// between is the distance of two lines that do not cross.
func between(a, b *Portal) float64 {
	return det.Sqrt(min(a.distanceSq(b.P), a.distanceSq(b.Q), b.distanceSq(a.P), b.distanceSq(a.Q)))
}
