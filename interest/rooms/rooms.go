package rooms

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// Rooms knows who is in which room and which doors are open. Its sources, Sight and Hearing, find
// what a client sees and hears. Like the index that it stands beside, it is changed between ticks,
// and meanwhile any number of finders may read it at once.
type Rooms struct {
	plan    *Plan
	ix      *interest.Index
	horizon float64
	linger  float64

	open   []bool  // by number of door
	moved  []int32 // doors that changed since Refresh
	effort int     // of one Refresh
	behind set     // rooms that are taken to see all that they could, until there is time
	sees   []set   // by room: what is seen with the doors as they are
	seesAt []uint64

	cells    []cell // by room, and one more for what is in none
	slots    map[world.ID]int32
	listings []listing
	free     []int32
	loudest  float64 // no sound reaches further; it shrinks only when all are gone
	fastest  float64 // of what makes a sound
	latest   uint64  // revision of the last change to anything here
	batch    uint64  // revision that the changes being made get, or 0
	round    uint32
	near     []near
}

// Options fit Rooms to a game.
type Options struct {
	// Horizon is how much of a client's round trip counts for what may change rooms within it: that
	// of the index. Default: 250 ms.
	Horizon time.Duration
	// Linger is by how many units further away from a visible room something still counts as in it,
	// if it was seen before, so that who dances in a doorway does not come and go. Default: 1.
	Linger float64
	// Effort bounds the work of one Refresh or Follow, as a number of portals looked through:
	// rooms for which it does not suffice are taken to see what they would if all doors were open,
	// and are looked at again by the next. Default: 32,768, a few thousandths of a second.
	Effort int
}

// A cell is who is in a room, or may be within a round trip.
type cell struct {
	stamp   uint64 // revision of the last change
	noise   uint64 // the same for what makes a sound
	members []member
}

// A member is an entity on the list of a room.
type member struct {
	id     world.ID
	pos    det.Vec2
	speed  float64
	nimbus float64
	sound  float64
	gap    float64 // how far it has to go to be in this room; 0 if it is
	home   int32   // the room that it is in
	slot   int32
}

// A listing is where an entity is listed.
type listing struct {
	id     world.ID
	member member // as it is at home
	places []place
	round  uint32
}

type place struct {
	room int32
	at   int32
	gap  float64
}

// near is a room within some distance.
type near struct {
	room int32
	gap  float64
}

// A link is the way that sound takes from a portal to another of the same room.
type link struct {
	to       int32
	distance float64
}

// New makes the rooms of a plan, empty and with all doors shut, beside the index that knows the
// entities' traits.
func New(p *Plan, ix *interest.Index, o Options) *Rooms {
	if o.Horizon <= 0 {
		o.Horizon = 250 * time.Millisecond
	}
	if o.Linger == 0 {
		o.Linger = 1
	}
	if o.Effort <= 0 {
		o.Effort = 1 << 15
	}
	r := &Rooms{
		plan: p, ix: ix, horizon: o.Horizon.Seconds(), linger: max(0, o.Linger),
		open: make([]bool, max(1, len(p.doors))), sees: slices.Clone(p.shut),
		seesAt: make([]uint64, p.layout.Rooms),
		cells:  make([]cell, p.layout.Rooms+1), slots: map[world.ID]int32{}, effort: o.Effort,
	}
	return r
}

// Plan is what the rooms were made of.
func (r *Rooms) Plan() *Plan { return r.plan }

// SetDoor says whether a door is open, be it only a crack. Before views are updated, Refresh or
// Follow must be called. A server that opens doors for whoever comes near may say so a little
// earlier, by a round trip, so that those who look through know what is behind.
func (r *Rooms) SetDoor(door int, open bool) {
	if door > 0 && door < len(r.open) && r.open[door] != open {
		r.open[door] = open
		r.moved = append(r.moved, int32(door))
	}
}

// Open says whether a door is.
func (r *Rooms) Open(door int) bool { return door > 0 && door < len(r.open) && r.open[door] }

// Sees says whether something in one room may be seen from another with the doors as they are.
func (r *Rooms) Sees(from, to int) bool { return r.sees[from].has(to) }

// Refresh works out what is seen after doors have moved: for the rooms from which both sides of one
// can be seen at all. What it does is bounded by Options.Effort; where that does not suffice, what
// is seen is too much for a while, never too little.
func (r *Rooms) Refresh() {
	r.refresh()
	r.batch = 0
}

func (r *Rooms) refresh() {
	if len(r.moved) == 0 && r.behind == (set{}) {
		return
	}
	left := r.effort
	for room := range r.sees {
		late := r.behind.has(room)
		if !late && !r.concerned(room) {
			continue
		}
		was := r.sees[room]
		r.behind.remove(room)
		spent, enough := r.plan.look(room, left, &r.sees[room], r.isShut)
		if !enough && left < r.effort {
			r.behind.add(room) // a whole Refresh may suffice
		}
		left -= spent
		if r.sees[room] != was {
			r.seesAt[room] = r.stamp()
		}
	}
	// What is heard changes as well.
	for _, d := range r.moved {
		for _, n := range r.plan.doors[d] {
			o := &r.plan.layout.Portals[n]
			r.cells[o.A].noise, r.cells[o.B].noise = r.stamp(), r.stamp()
		}
	}
	r.moved = r.moved[:0]
}

// concerned says whether a door that moved matters to what a room sees.
func (r *Rooms) concerned(room int) bool {
	s := &r.plan.sees[room]
	for _, d := range r.moved {
		for _, n := range r.plan.doors[d] {
			if o := &r.plan.layout.Portals[n]; s.has(o.A) && s.has(o.B) {
				return true
			}
		}
	}
	return false
}

func (r *Rooms) isShut(portal int) bool {
	d := r.plan.layout.Portals[portal].Door
	return d > 0 && !r.open[d]
}

// stamp is the revision of a change. All changes of one call share it; it must be newer than what
// any view has seen, so that it is forgotten at the end of each call.
func (r *Rooms) stamp() uint64 {
	if r.batch == 0 {
		r.batch = r.ix.Touch()
		r.latest = r.batch
	}
	return r.batch
}

// Follow brings the rooms up to date with the index for all entities of a world, after the index
// itself has followed it, and takes in the doors.
func (r *Rooms) Follow(w *world.World) {
	r.round++
	for id := range w.Entities() {
		if slot := r.set(id); slot >= 0 {
			r.listings[slot].round = r.round
		}
	}
	for slot := range r.listings {
		if e := &r.listings[slot]; e.id != world.None && e.round != r.round {
			r.remove(int32(slot))
		}
	}
	r.refresh()
	r.batch = 0
}

// Set takes what the index knows of one entity, for a program that does not use Follow.
func (r *Rooms) Set(id world.ID) {
	r.set(id)
	r.batch = 0
}

// Remove forgets an entity.
func (r *Rooms) Remove(id world.ID) {
	if slot, ok := r.slots[id]; ok {
		r.remove(slot)
	}
	r.batch = 0
}
