package interest

import (
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// An Index knows the traits of every entity and finds them by place, owner and channel. It is built
// once and then told what changed: setting the traits of what did not change costs a comparison,
// and what is not mentioned costs nothing. Between changes any number of Finders may read it at
// once.
type Index struct {
	options  Options
	horizon  float64 // in seconds
	revision uint64  // grows with each change
	slots    table   // by identifier
	ids      []world.ID
	entities []known
	free     []uint32
	count    int

	sight, sound grid
	always       list
	channels     [64]list
	owned        []ownedList // by player
}

// Options fit an Index to a game.
type Options struct {
	// Cell is the side of the grid's cells. Views do not depend on it, only their cost does; about
	// the radius that most clients see is good. Default: 50.
	Cell float64
	// Cubes divides space along Z as well. It is for games in which things are above each other as
	// much as beside each other, such as in space. By default cells are columns; Z counts in
	// distances either way.
	Cubes bool
	// Horizon is how much of a client's round trip counts for what can come into range within it.
	// Default: 250 ms.
	Horizon time.Duration
}

// A known is all that is known of an entity, and where it stands.
type known struct {
	traits  Traits
	places  [2]place // in sight and in sound
	ownedAt uint32   // in the list of its owner
}

const (
	inSight = 0
	inSound = 1
)

// NewIndex makes an index of nothing.
func NewIndex(o Options) *Index {
	if !(o.Cell > 0 && o.Cell < far) {
		o.Cell = 50
	}
	if o.Horizon <= 0 {
		o.Horizon = 250 * time.Millisecond
	}
	return &Index{
		options:  o,
		horizon:  o.Horizon.Seconds(),
		revision: 1,
		// A search by sight goes as far as a client sees, about a cell or two, so a level takes
		// what adds half a cell to that. A search by sound goes as far as the reach itself.
		sight: grid{cell: o.Cell, part: 0.5, cubes: o.Cubes, which: inSight},
		sound: grid{cell: o.Cell, part: 1, cubes: o.Cubes, which: inSound},
	}
}

// Set says what an entity is like now. It brings the entity if it is new; if its traits are what
// they were, it does nothing.
func (ix *Index) Set(id world.ID, t Traits) {
	if id == world.None {
		return
	}
	t.tidy()
	slot, ok := ix.slots.get(uint64(id))
	if !ok {
		slot = ix.newSlot(id)
	} else if ix.entities[slot].traits == t {
		return
	}
	ix.revision++
	r := &ix.entities[slot]
	old := r.traits
	r.traits = t
	ix.setLists(slot, &old, &r.traits)

	ahead := float64(t.Speed * ix.horizon)
	m := member{
		x: t.Pos.X, y: t.Pos.Y, z: t.Pos.Z, speed: t.Speed, id: id, only: t.Only,
		importance: t.Importance, slot: slot}
	if t.Never || t.Nowhere {
		ix.unset(&ix.sight, slot)
		ix.unset(&ix.sound, slot)
		return
	}
	m.reach = t.Nimbus
	ix.set(&ix.sight, m, t.Nimbus+ahead)
	if t.Sound > 0 {
		m.reach = t.Sound
		ix.set(&ix.sound, m, t.Sound+ahead)
	} else {
		ix.unset(&ix.sound, slot)
	}
}

// Remove says that an entity is no more. Views that show it will list it as removed rather than
// left.
func (ix *Index) Remove(id world.ID) {
	slot, ok := ix.slots.get(uint64(id))
	if !ok {
		return
	}
	ix.revision++
	r := &ix.entities[slot]
	ix.unset(&ix.sight, slot)
	ix.unset(&ix.sound, slot)
	ix.setLists(slot, &r.traits, &Traits{Never: true})
	ix.slots.remove(uint64(id))
	ix.ids[slot] = world.None
	ix.free = append(ix.free, slot)
	ix.count--
}

func (ix *Index) newSlot(id world.ID) uint32 {
	var slot uint32
	if n := len(ix.free); n > 0 {
		slot, ix.free = ix.free[n-1], ix.free[:n-1]
	} else {
		slot = uint32(len(ix.ids))
		ix.ids = append(ix.ids, world.None)
		ix.entities = append(ix.entities, known{})
	}
	ix.ids[slot] = id
	ix.entities[slot] = known{traits: Traits{Never: true}, places: [2]place{noPlace, noPlace}}
	ix.slots.put(uint64(id), slot)
	ix.count++
	return slot
}

// Len is how many entities there are.
func (ix *Index) Len() int { return ix.count }

// Traits gives what was last set for an entity, with what was absurd brought into bounds, or nil if
// there is none. It is the index's own: do not change it, nor keep it beyond the next change.
func (ix *Index) Traits(id world.ID) *Traits {
	slot, ok := ix.slots.get(uint64(id))
	if !ok {
		return nil
	}
	return &ix.entities[slot].traits
}

// Revision is a number that grows with every change, for sources that keep something of their own
// beside the index.
func (ix *Index) Revision() uint64 { return ix.revision }

// Touch counts a change of which the index knows nothing, such as a door that opened, and gives its
// revision. A Source that depends on it compares that with Query.Since.
func (ix *Index) Touch() uint64 {
	ix.revision++
	return ix.revision
}

// Near goes through what is within a distance of a point, borders included, in no particular order:
// for game rules, and for sources that look from several places. It ignores reach, channels and
// importance.
func (ix *Index) Near(p det.Vec3, distance float64, yield func(id world.ID, t *Traits) bool) {
	distance = length(distance)
	limit := float64(distance * distance)
	var room [64]uint32
	for n := range ix.sight.levels {
		l := &ix.sight.levels[n]
		if l.members == 0 {
			continue
		}
		for _, number := range ix.sight.around(room[:0], l, p, distance) {
			members := l.cells[number].members
			for i := range members {
				m := &members[i]
				if m.distanceSq(p) <= limit && !yield(m.id, &ix.entities[m.slot].traits) {
					return
				}
			}
		}
	}
}

func (m *member) distanceSq(p det.Vec3) float64 {
	x, y, z := m.x-p.X, m.y-p.Y, m.z-p.Z
	return float64(x*x) + float64(y*y) + float64(z*z)
}
