package rooms

import (
	"slices"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// set lists an entity in its room, and in those that it may be in within a round trip. It gives the
// entity's slot, or -1 if it is in no place.
func (r *Rooms) set(id world.ID) int32 {
	t := r.ix.Traits(id)
	slot, ok := r.slots[id]
	if t == nil || t.Never || t.Nowhere {
		if ok {
			r.remove(slot)
		}
		return -1
	}
	m := member{
		id: id, pos: det.Vec2{X: t.Pos.X, Y: t.Pos.Y}, speed: t.Speed, nimbus: t.Nimbus,
		sound: t.Sound, slot: slot}
	if ok {
		if old := &r.listings[slot].member; old.pos == m.pos && old.speed == m.speed &&
			old.nimbus == m.nimbus && old.sound == m.sound {
			return slot
		}
	} else {
		slot = r.newSlot(id)
		m.slot = slot
	}
	m.home = r.room(m.pos)
	r.near = r.around(r.near[:0], m.home, m.pos, float64(m.speed*r.horizon)+m.nimbus+r.linger)
	if m.sound > 0 {
		r.loudest, r.fastest = max(r.loudest, m.sound), max(r.fastest, m.speed)
	}
	r.list(slot, m)
	return slot
}

// room is the room that a point is in; what is in none has a list of its own.
func (r *Rooms) room(p det.Vec2) int32 {
	n := r.plan.layout.Locate(p)
	if n < 0 || n >= r.plan.layout.Rooms {
		return int32(r.plan.layout.Rooms)
	}
	return int32(n)
}

// around lists the rooms that can be reached from a point within a distance: through portals that
// are that near. Doors are no hindrance, as they may open.
func (r *Rooms) around(dst []near, home int32, p det.Vec2, reach float64) []near {
	dst = append(dst, near{room: home})
	if int(home) >= r.plan.layout.Rooms {
		return dst
	}
	limit := float64(reach * reach)
	for i := 0; i < len(dst); i++ {
		for _, n := range r.plan.portals[dst[i].room] {
			d := r.plan.layout.Portals[n].distanceSq(p)
			if d > limit {
				continue
			}
			next, gap := int32(r.plan.beyond(int(n), int(dst[i].room))), det.Sqrt(d)
			if k := slices.IndexFunc(dst, func(o near) bool { return o.room == next }); k >= 0 {
				dst[k].gap = min(dst[k].gap, gap)
			} else {
				dst = append(dst, near{next, gap})
			}
		}
	}
	return dst
}

// distanceSq is the square of the distance from a point to the line.
func (o *Portal) distanceSq(p det.Vec2) float64 {
	d, to := o.Q.Sub(o.P), p.Sub(o.P)
	t := det.Clamp(to.Dot(d)/d.LenSq(), 0, 1)
	return to.Sub(d.Mul(t)).LenSq()
}

// list puts an entity on the lists of the rooms in r.near: in place, if they are those that it is
// on already.
func (r *Rooms) list(slot int32, m member) {
	e := &r.listings[slot]
	e.member = m
	same := len(e.places) == len(r.near)
	for i := 0; same && i < len(r.near); i++ {
		same = e.places[i].room == r.near[i].room
	}
	if !same {
		r.unlist(slot)
		for _, n := range r.near {
			c := &r.cells[n.room]
			e.places = append(e.places, place{room: n.room, at: int32(len(c.members))})
			c.members = append(c.members, member{})
		}
	}
	for i, n := range r.near {
		p := &e.places[i]
		p.gap, m.gap = n.gap, n.gap
		c := &r.cells[n.room]
		r.note(c, &c.members[p.at], &m)
		c.members[p.at] = m
	}
}

// note stamps a list of which a member changes.
func (r *Rooms) note(c *cell, was, is *member) {
	c.stamp = r.stamp()
	if was.sound > 0 || is.sound > 0 {
		c.noise = c.stamp
	}
}

// unlist takes an entity off all lists.
func (r *Rooms) unlist(slot int32) {
	e := &r.listings[slot]
	for _, p := range e.places {
		c := &r.cells[p.room]
		r.note(c, &c.members[p.at], &c.members[p.at])
		last := int32(len(c.members) - 1)
		if p.at != last {
			moved := c.members[last]
			c.members[p.at] = moved
			other := r.listings[moved.slot].places
			for i := range other {
				if other[i].room == p.room {
					other[i].at = p.at
				}
			}
		}
		c.members = c.members[:last]
	}
	e.places = e.places[:0]
}

func (r *Rooms) newSlot(id world.ID) int32 {
	var slot int32
	if n := len(r.free); n > 0 {
		slot, r.free = r.free[n-1], r.free[:n-1]
	} else {
		slot = int32(len(r.listings))
		r.listings = append(r.listings, listing{places: make([]place, 0, 4)})
	}
	r.listings[slot].id = id
	r.slots[id] = slot
	return slot
}

func (r *Rooms) remove(slot int32) {
	r.unlist(slot)
	e := &r.listings[slot]
	delete(r.slots, e.id)
	*e = listing{places: e.places}
	r.free = append(r.free, slot)
	if len(r.slots) == 0 {
		r.loudest, r.fastest = 0, 0
	}
}
