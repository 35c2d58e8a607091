package interest

import (
	"sort"

	"github.com/coeval-dev/coeval/world"
)

// A View is what one client is shown, and what changed about that at the last update. The zero View
// shows nothing yet. It belongs to one client; what its methods give is its own, and good until the
// next update.
type View struct {
	entries  []Entry
	entered  []world.ID
	left     []world.ID
	removed  []world.ID
	observer Observer
	rules    *Rules
	index    *Index
	since    uint64
	steady   bool // the last search left who is shown by what as it was
}

// An Entry is one entity in a view.
type Entry struct {
	ID world.ID
	// Priority is how much the entity matters to this client compared with others, before anything
	// is known of what was sent: about 1 for what is close, and always positive. What waits gains
	// on it in package replica.
	Priority float32
	by       uint32
	slot     uint32
}

// By says whether a source shows the entity, so that what is only heard can be sent less often than
// what is seen. Sources are numbered from 0 in the order in which they are written in Rules, each
// before those inside it; from the 32nd on they share a number.
func (e *Entry) By(source int) bool { return source >= 0 && e.by>>min(source, 31)&1 != 0 }

// Entries are the entities in view, in order of identifier.
func (v *View) Entries() []Entry { return v.entries }

// Entered are those that are new in view since the update before, in order of identifier.
func (v *View) Entered() []world.ID { return v.entered }

// Left are those that were in view at the update before, are not now, but still exist, in order of
// identifier.
func (v *View) Left() []world.ID { return v.left }

// Removed are those that were in view at the update before and do not exist any more, in order of
// identifier.
func (v *View) Removed() []world.ID { return v.removed }

// Find gives an entity's place in Entries, and whether it is in view.
func (v *View) Find(id world.ID) (int, bool) {
	at := sort.Search(len(v.entries), func(i int) bool { return v.entries[i].ID >= id })
	return at, at < len(v.entries) && v.entries[at].ID == id
}

// Has says whether an entity is in view.
func (v *View) Has(id world.ID) bool {
	_, ok := v.Find(id)
	return ok
}

// Reset makes the view show nothing, without saying that anything left: for a client that starts
// anew. It keeps its memory.
func (v *View) Reset() {
	v.begin()
	*v = View{entries: v.entries[:0], entered: v.entered, left: v.left, removed: v.removed}
}

// reserve makes room for entries, and more than are needed: what a client is shown varies from
// place to place, and a thousand clients that each grow by a little now and then would allocate at
// every tick.
func (v *View) reserve(n int) []Entry {
	if cap(v.entries) < n {
		return make([]Entry, 0, n+n/2+16)
	}
	return v.entries[:0]
}

// begin clears the lists of changes, which have room for as many as come and go in a tick of normal
// play.
func (v *View) begin() {
	if v.entered == nil {
		const room = 16
		ids := make([]world.ID, 3*room)
		v.entered, v.left, v.removed = ids[0:0:room], ids[room:room:2*room],
			ids[2*room:2*room:3*room]
	}
	v.entered, v.left, v.removed = v.entered[:0], v.left[:0], v.removed[:0]
}
