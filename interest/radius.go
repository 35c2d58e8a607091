package interest

import (
	"cmp"

	"github.com/coeval-dev/coeval/det"
)

// Radius shows what is near the client. To each entity the radius grows by its Nimbus, and by what
// it and the client can come nearer within the client's round trip, so that things are there before
// they are in sight.
type Radius struct {
	// Enter is the distance within which an entity comes into view.
	Enter float64
	// Leave is the distance beyond which it leaves the view. What goes to and fro between the two
	// does not come and go each time. Default: a tenth more than Enter. Below Enter it counts as
	// Enter.
	Leave float64
	// Far is the relevance of what is about to leave, as a part of that of what is at no distance;
	// between them it falls evenly. Default: 0.1.
	Far float64
	// Weight is the relevance of what is at no distance. Default: 1.
	Weight float64
	// Classes restricts it to some classes, as shells may matter only when they are close. Default:
	// all.
	Classes Classes
}

// Find is for Rules to call.
func (s *Radius) Find(q *Query) {
	enter, leave, fall, weight := s.limits()
	p, lag, all := q.observer.Pos, q.lag, s.Classes == Classes{}
	near := float64(q.observer.Speed * lag)
	enter, leave = enter+near, leave+near
	g := &q.ix.sight
	for n := range g.levels {
		l := &g.levels[n]
		if l.members == 0 {
			continue
		}
		most := leave + l.reach
		mostSq := float64(most * most)
		q.cells = g.around(q.cells[:0], l, p, most)
		for _, number := range q.cells {
			members := l.cells[number].members
			for i := range members {
				m := &members[i]
				d := m.distanceSq(p)
				if d > mostSq {
					continue
				}
				more := m.reach + float64(m.speed*lag)
				out := leave + more
				if d > float64(out*out) || !all && !s.Classes.Has(m.id.Class()) {
					continue
				}
				if in := enter + more; d > float64(in*in) && !q.heldSlot(m.slot) {
					continue
				}
				q.add(m.id, m.slot, m.only, m.importance,
					float64(weight*(1-float64(fall*fraction(d, out)))))
			}
		}
	}
}

// Quiet is for Rules to call.
func (s *Radius) Quiet(q *Query) bool {
	_, leave, _, _ := s.limits()
	return q.calm(&q.ix.sight,
		func(l *level) float64 { return leave + float64(q.observer.Speed*q.lag) + l.reach })
}

func (s *Radius) limits() (enter, leave, fall, weight float64) {
	enter, leave = length(s.Enter), length(s.Leave)
	if leave == 0 {
		leave = float64(enter * 1.1)
	}
	return enter, max(enter, leave), 1 - det.Clamp(cmp.Or(s.Far, 0.1), 0, 1), cmp.Or(s.Weight, 1)
}

// Sound shows what can be heard: what makes a Sound that reaches the client, be it far out of
// sight. As with Radius, what can come into hearing within the client's round trip counts as heard.
type Sound struct {
	// Hearing multiplies how far sounds reach, for clients that hear better or worse than others.
	// Default: 1.
	Hearing float64
	// Hold is by which factor further away a thing still counts as heard if it was heard before.
	// Default: 1.1.
	Hold float64
	// Far is the relevance of what can barely be heard, as a part of that of what is at no
	// distance. Default: 0.1.
	Far float64
	// Weight is the relevance of what is at no distance. Default: 1.
	Weight float64
	// Classes restricts it to some classes. Default: all.
	Classes Classes
}

// Find is for Rules to call.
func (s *Sound) Find(q *Query) {
	hearing, hold, fall, weight := s.limits()
	p, lag, all := q.observer.Pos, q.lag, s.Classes == Classes{}
	near := float64(q.observer.Speed * lag)
	g := &q.ix.sound
	for n := range g.levels {
		l := &g.levels[n]
		if l.members == 0 {
			continue
		}
		q.cells = g.around(q.cells[:0], l, p, near+float64(float64(l.reach*max(1, hearing))*hold))
		for _, number := range q.cells {
			members := l.cells[number].members
			for i := range members {
				m := &members[i]
				d := m.distanceSq(p)
				more := near + float64(m.speed*lag)
				reach := float64(m.reach * hearing)
				out := float64(reach*hold) + more
				if d > float64(out*out) || !all && !s.Classes.Has(m.id.Class()) {
					continue
				}
				if in := reach + more; d > float64(in*in) && !q.heldSlot(m.slot) {
					continue
				}
				q.add(m.id, m.slot, m.only, m.importance,
					float64(weight*(1-float64(fall*fraction(d, out)))))
			}
		}
	}
}

// Quiet is for Rules to call.
func (s *Sound) Quiet(q *Query) bool {
	hearing, hold, _, _ := s.limits()
	return q.calm(&q.ix.sound, func(l *level) float64 {
		return float64(q.observer.Speed*q.lag) + float64(float64(l.reach*max(1, hearing))*hold)
	})
}

func (s *Sound) limits() (hearing, hold, fall, weight float64) {
	return length(cmp.Or(s.Hearing, 1)), max(1, length(cmp.Or(s.Hold, 1.1))),
		1 - det.Clamp(cmp.Or(s.Far, 0.1), 0, 1), cmp.Or(s.Weight, 1)
}

// fraction is how far away something is, as a part of the distance at which it is lost.
func fraction(distanceSq, out float64) float64 {
	if out == 0 {
		return 0
	}
	return min(1, det.Sqrt(distanceSq)/out)
}

// calm says that nothing happened in the cells of a grid that a search would visit.
func (q *Query) calm(g *grid, distance func(l *level) float64) bool {
	if q.ix.revision == q.since {
		return true
	}
	for n := range g.levels {
		l := &g.levels[n]
		if l.stamp > q.since {
			return false
		}
		if l.members == 0 {
			continue
		}
		q.cells = g.around(q.cells[:0], l, q.observer.Pos, distance(l))
		for _, number := range q.cells {
			if l.cells[number].stamp > q.since {
				return false
			}
		}
	}
	return true
}
