package arena

import (
	"slices"

	"github.com/coeval-dev/coeval/det"
)

// nav is what bots know of a map: for each portal and each room that it belongs to, how far it is
// to walk there from every cell of the room. From portal to portal that makes a graph. It is worked
// out when a level is loaded, and takes no more than maxWays steps.
type nav struct {
	local []int32   // by cell: its place among the cells of its room
	cells [][]int32 // by room: its cells that can be walked on
	// by portal, then by which of its rooms: steps from each cell of that room, noWay where one
	// cannot walk
	far   [][2][]uint16
	links [][2][]link // by portal, then by which of its rooms they lead through
}

// A link leads from a portal to another of the same room.
type link struct {
	to   int32
	cost float32
}

const noWay = 1<<16 - 1

// survey works out what bots need of the map.
func (m *Map) survey() *nav {
	n := &nav{local: make([]int32, len(m.cells)), cells: make([][]int32, len(m.Rooms)),
		far: make([][2][]uint16, len(m.Portals)), links: make([][2][]link, len(m.Portals))}
	for i, c := range m.cells {
		n.local[i] = -1
		if c == Floor && m.portal[i] < 0 {
			r := m.room[i]
			n.local[i] = int32(len(n.cells[r]))
			n.cells[r] = append(n.cells[r], int32(i))
		}
	}
	var queue []int32
	for p := range m.Portals {
		for side := range 2 {
			n.far[p][side], queue = m.steps(n, p, side, queue[:0])
		}
	}
	for p := range m.Portals {
		for side, r := range m.Portals[p].Rooms {
			for _, q := range m.Rooms[r].Portals {
				if q == p {
					continue
				}
				if d := m.stepsTo(n, p, side, q); d != noWay {
					n.links[p][side] = append(n.links[p][side], link{int32(q), float32(d) + 1})
				}
			}
		}
	}
	return n
}

// threshold calls f with each cell before a portal, on one side.
func (m *Map) threshold(p, side int, f func(cell int)) {
	o := &m.Portals[p]
	s := 2*side - 1
	for q := o.P; q.X < o.Q.X || q.Y < o.Q.Y; {
		i := m.at(q)
		if o.Across {
			f(i + s)
			q.Y++
		} else {
			f(i + s*m.Width)
			q.X++
		}
	}
}

// steps walks from a portal through one of its rooms, and gives the queue back.
func (m *Map) steps(n *nav, p, side int, queue []int32) ([]uint16, []int32) {
	r := m.Portals[p].Rooms[side]
	out := n.noWay(r, nil)
	m.threshold(p, side, func(cell int) {
		if l := n.local[cell]; l >= 0 {
			out[l] = 1
			queue = append(queue, int32(cell))
		}
	})
	return out, m.flood(n, r, out, queue)
}

// noWay makes the steps of a room in which nothing has been reached.
func (n *nav) noWay(room int, out []uint16) []uint16 {
	out = slices.Grow(out[:0], len(n.cells[room]))
	for range n.cells[room] {
		out = append(out, noWay)
	}
	return out
}

// flood counts the steps from the cells in the queue to all others of their room, and gives the
// queue back.
func (m *Map) flood(n *nav, room int, out []uint16, queue []int32) []int32 {
	for i := 0; i < len(queue); i++ {
		at := int(queue[i])
		d := out[n.local[at]]
		for _, to := range [4]int{at - 1, at + 1, at - m.Width, at + m.Width} {
			if l := n.local[to]; l >= 0 && int(m.room[to]) == room && out[l] == noWay {
				out[l] = d + 1
				queue = append(queue, int32(to))
			}
		}
	}
	return queue
}

// stepsTo is how far it is from one portal to another of the same room.
func (m *Map) stepsTo(n *nav, p, side, q int) int {
	best := noWay
	m.threshold(q, m.Portals[q].side(m.Portals[p].Rooms[side]), func(cell int) {
		if l := n.local[cell]; l >= 0 {
			best = min(best, int(n.far[p][side][l]))
		}
	})
	return best
}

// A route knows the way to one place from anywhere: how far it is from each portal, for someone who
// goes on through the one or the other of its rooms.
type route struct {
	goal  det.Vec2
	room  int
	steps []uint16     // to the goal, in its room
	far   [][2]float32 // by portal and room; negative if there is no way
	queue []waiting
	cells []int32

	// the portal that was chosen last, and on which side it is to be left: who is in a doorway goes
	// through
	via, side int
}

type waiting struct {
	portal, side int32
	cost         float32
}

// side is the place of a room in Rooms.
func (p *Portal) side(room int) int {
	if p.Rooms[1] == room {
		return 1
	}
	return 0
}

// to plans the way to a place, by Dijkstra's algorithm from there.
func (r *route) to(m *Map, n *nav, goal det.Vec2) bool {
	r.goal, r.room, r.via = goal, m.RoomAt(goal), -1
	r.far = r.far[:0]
	for range m.Portals {
		r.far = append(r.far, [2]float32{-1, -1})
	}
	r.queue = r.queue[:0]
	if r.room < 0 {
		return false
	}
	r.steps = n.noWay(r.room, r.steps)
	r.cells = r.cells[:0]
	if i := m.at(goal); n.local[i] >= 0 {
		r.steps[n.local[i]] = 1
		r.cells = m.flood(n, r.room, r.steps, append(r.cells, int32(i)))
	}
	for _, p := range m.Rooms[r.room].Portals {
		r.push(waiting{int32(p), int32(m.Portals[p].side(r.room)),
			float32(det.Sqrt(m.Portals[p].Mid().Sub(goal).LenSq()))})
	}
	for len(r.queue) > 0 {
		at := r.pop()
		if r.far[at.portal][at.side] >= 0 {
			continue
		}
		r.far[at.portal][at.side] = at.cost
		// Who comes to this portal comes through the room on its other side.
		back := m.Portals[at.portal].Rooms[1-at.side]
		for _, l := range n.links[at.portal][1-at.side] {
			if s := m.Portals[l.to].side(back); r.far[l.to][s] < 0 {
				r.push(waiting{l.to, int32(s), at.cost + l.cost})
			}
		}
	}
	return true
}

func (r *route) push(w waiting) {
	r.queue = append(r.queue, w)
	for i := len(r.queue) - 1; i > 0; {
		up := (i - 1) / 2
		if r.queue[up].cost <= r.queue[i].cost {
			return
		}
		r.queue[up], r.queue[i] = r.queue[i], r.queue[up]
		i = up
	}
}

func (r *route) pop() waiting {
	top := r.queue[0]
	last := len(r.queue) - 1
	r.queue[0] = r.queue[last]
	r.queue = r.queue[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return top
		}
		if c+1 < last && r.queue[c+1].cost < r.queue[c].cost {
			c++
		}
		if r.queue[i].cost <= r.queue[c].cost {
			return top
		}
		r.queue[i], r.queue[c] = r.queue[c], r.queue[i]
		i = c
	}
}

// next gives the place to head for from a point: the goal itself, or a place on the way to the best
// doorway, as far ahead as one can walk straight to.
func (r *route) next(s *Scene, n *nav, from det.Vec2) det.Vec2 {
	m := s.Map
	i, room := m.at(from), m.RoomAt(from)
	if i < 0 || room < 0 || r.room < 0 {
		return r.goal
	}
	if p := int(m.portal[i]); p >= 0 {
		if p != r.via {
			r.via, r.side = p, r.sideToward(m, p)
		}
		return m.through(p, r.side)
	}
	local := n.local[i]
	if local < 0 {
		return r.goal
	}
	if room == r.room && r.steps[local] != noWay {
		if s.canWalk(from, r.goal) {
			return r.goal
		}
		ahead, _ := s.descend(n, r.steps, from, i)
		return ahead
	}
	best, side, cost := -1, 0, float32(far)
	for _, p := range m.Rooms[room].Portals {
		k := m.Portals[p].side(room)
		steps, on := n.far[p][k][local], r.far[p][1-k]
		if on < 0 || steps == noWay {
			continue
		}
		c := on + float32(steps)
		if p == r.via && k == r.side {
			c += 8 // it just came from there
		}
		if c < cost {
			best, side, cost = p, k, c
		}
	}
	if best < 0 {
		return r.goal
	}
	if best != r.via || r.side == side {
		r.via, r.side = best, 1-side
	}
	ahead, there := s.descend(n, n.far[best][side], from, i)
	if there {
		if over := m.through(best, 1-side); s.canWalk(from, over) {
			return over
		}
		if mid := m.Portals[best].Mid(); s.canWalk(from, mid) {
			return mid
		}
	}
	return ahead
}

// descend follows steps downward, from cell to cell, as long as one can walk straight to where they
// lead, and says whether they came to their end.
func (s *Scene) descend(n *nav, steps []uint16, from det.Vec2, at int) (ahead det.Vec2,
	there bool) {
	m := s.Map
	room := m.room[at]
	ahead = center(m, at)
	for range 10 {
		d := steps[n.local[at]]
		if d <= 1 {
			return ahead, true
		}
		for _, to := range [4]int{at - 1, at + 1, at - m.Width, at + m.Width} {
			if l := n.local[to]; l >= 0 && m.room[to] == room && steps[l] < d {
				at = to
				break
			}
		}
		c := center(m, at)
		if !s.canWalk(from, c) {
			break
		}
		ahead = c
	}
	return ahead, false
}

// sideToward says through which side of a doorway the way leads on.
func (r *route) sideToward(m *Map, p int) int {
	for side, room := range m.Portals[p].Rooms {
		if room == r.room {
			return side
		}
	}
	if c := r.far[p]; c[0] < 0 || c[1] >= 0 && c[1] < c[0] {
		return 1
	}
	return 0
}

// through is a place just behind a doorway, on one side.
func (m *Map) through(p, side int) det.Vec2 {
	o := &m.Portals[p]
	at := o.Mid()
	if o.Across {
		at.X += float64(2*side - 1)
	} else {
		at.Y += float64(2*side - 1)
	}
	return at
}

func center(m *Map, i int) det.Vec2 {
	return det.Vec2{X: float64(i%m.Width) + 0.5, Y: float64(i/m.Width) + 0.5}
}

// canWalk says whether a fighter can go straight from one point to another. Doors count as open, as
// they will be.
func (s *Scene) canWalk(a, b det.Vec2) bool {
	d := b.Sub(a)
	n := det.Sqrt(d.LenSq())
	if n < 0.01 {
		return true
	}
	dir := d.Mul(1 / n)
	side := dir.Perp().Mul(Radius * 0.9)
	return s.Map.walkLine(a.Add(side), dir, n) && s.Map.walkLine(a.Sub(side), dir, n)
}

// walkLine follows a line over cells that can be walked on.
func (m *Map) walkLine(from, dir det.Vec2, length float64) bool {
	for t := 0.0; ; t += 0.45 {
		p := from.MulAdd(dir, min(t, length))
		if i := m.at(p); i < 0 || m.cells[i] != Floor {
			return false
		}
		if t >= length {
			return true
		}
	}
}
