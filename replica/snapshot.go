package replica

import (
	"cmp"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// A Snapshot is what one packet brought: some of what a client is shown, as it was on the server at
// one tick. All of it stays the receiver's, and is good until the next call of Next.
type Snapshot struct {
	// Tick is when it was so.
	Tick world.Tick
	// Updates are the entities that changed, came into view or left it.
	Updates []Update
	// Commands are the latest commands of other players in view.
	Commands []Relayed
	// Events are unreliable ones. Reliable ones come by Receiver.Events.
	Events []Event
	// Deferred are entities in view that changed and are not told this time. If there are too many
	// to list, Behind is set instead.
	Deferred []world.ID
	Behind   bool
	// Certain says that whatever is in view, and neither in Updates nor Deferred, is as it was last
	// told.
	Certain bool
	// Settled is Receiver.Settled, as of when the snapshot is handed out.
	Settled world.Tick
	// Report says that the next three are there: only the first packet of a snapshot has them.
	Report bool
	// Early is by how many quarters of a tick the newest command came before it was needed;
	// negative if it was late.
	Early int
	// Repeated is how many commands the server had to make up since its last report.
	Repeated int
	// Acted is the player's newest command that the server has executed, if it executes commands
	// as they come; 0 if at their ticks.
	Acted world.Tick

	packet uint32
	taken  uint64  // how many were taken before it
	count  uint32  // messages that must come before it
	data   []byte  // fields of events
	images []int32 // of updates
}

// An Update is news of one entity.
type Update struct {
	ID    world.ID
	What  What
	Entry world.Entry
	Image []int32 // nil where it is gone
}

// What says what became of an entity.
type What uint8

const (
	untold What = iota
	// Held entities are in view, and their image is given.
	Held
	// Left entities are out of view, and still there as far as is known.
	Left
	// Removed entities are no more.
	Removed
)

// Relayed is what another player commanded last, as Game.Commands describes its image, without
// edges and what is private; nil if no entity that is predicted from it is in view any more.
type Relayed struct {
	Player world.Player
	Image  []int32
}

// maxQueue is how many snapshots may wait for events that come before them.
// If there are more, the oldest waits no longer: the server will not tell again what it brings.
const maxQueue = 256

// queue is the snapshots that were not handed out yet, in the order in which they came. Each waits
// for the messages that went before it.
type queue struct {
	list   []*Snapshot
	shown  *Snapshot // handed out
	handed uint64    // how many were taken before the last of those that were handed out
	pool   []*Snapshot
}

// fresh gives an empty snapshot.
func (q *queue) fresh() *Snapshot {
	n := len(q.pool)
	if n == 0 {
		return new(Snapshot)
	}
	s := q.pool[n-1]
	q.pool = q.pool[:n-1]
	*s = Snapshot{
		Updates: s.Updates[:0], Commands: s.Commands[:0], Events: s.Events[:0],
		Deferred: s.Deferred[:0], data: s.data[:0], images: s.images[:0]}
	return s
}

// add lets a snapshot wait for Next.
func (q *queue) add(s *Snapshot) {
	if len(q.list) == 4*maxQueue { // no one takes them
		q.pool = append(q.pool, q.list[0])
		q.list = append(q.list[:0], q.list[1:]...)
	}
	q.list = append(q.list, s)
}

// commit takes over what a packet said, now that it is known to be right.
func (r *Receiver) commit(p *Arrived, snap *Snapshot) {
	snap.packet, snap.taken, snap.count = p.Packet, r.stats.Packets, p.Messages
	r.arrived.add(p, snap.Tick)
	for i := range r.work.list {
		n := &r.work.list[i]
		if e := r.bind(n, p, snap); e != nil {
			r.tell(e, n, p, snap)
		}
	}
	r.outOfView(p, snap)
	r.bases.Commit(p, r.work.list)
	r.queue.add(snap)
}

// outOfView takes out of view what the header of a packet does not have there.
func (r *Receiver) outOfView(p *Arrived, snap *Snapshot) {
	if !r.protocol.scheme.Views {
		return
	}
	for h, e := range r.entities {
		if e != nil && e.what == Held &&
			(h/32 >= len(p.InView) || p.InView[h/32]>>(h%32)&1 == 0) {
			r.tell(e, &News{Handle: int32(h), What: Left}, p, snap)
		}
	}
}

// tell lists what a packet says of an entity, if nothing newer is known.
func (r *Receiver) tell(e *entity, n *News, p *Arrived, snap *Snapshot) {
	if e.what != untold && int32(p.Packet-e.told) < 0 {
		return
	}
	repeated := r.protocol.scheme.Repeats && e.what > Held && n.What != Held
	e.told, e.what = p.Packet, n.What
	if e.passed {
		e.what = max(n.What, Left)
	} else if !repeated {
		snap.add(e, n)
	}
}

// entityPlace is where an entity stands in a world, whichever it is that stands there; or whose
// commands it is.
type entityPlace struct {
	id     world.ID
	player world.Player
}

func (e *entity) place() entityPlace {
	return entityPlace{world.MakeID(e.id.Class(), e.id.Allocator(), e.id.Index(), 0), e.player}
}

// claim sees that what stands in a place of the world is known by one handle. A server may bind
// another entity that has the place to another handle, or if it takes its world back, the same one,
// and packets overtake each other. What was bound last counts; what is said under the other handle
// has no effect on what is shown. Where snapshots are whole, each of them binds what it holds.
func (r *Receiver) claim(h int32, before entityPlace, e *entity, snap *Snapshot) {
	if holds, ok := r.places[before]; ok && holds == h {
		delete(r.places, before)
	}
	place := e.place()
	if holds, ok := r.places[place]; ok && holds != h {
		other := r.entities[holds]
		if int32(other.bound-e.bound) > 0 {
			e.passed = true
			return
		}
		other.passed = true
		if other.what == Held {
			other.what = Left
			if e.id != other.id || e.what != untold { // nothing will be told of it that would do
				snap.add(other, nil)
			}
		}
	}
	r.places[place] = h
}

// bind finds the entity of a handle, or makes it what the handle stands for now. It gives nil if
// the handle stands for something else by now.
func (r *Receiver) bind(n *News, p *Arrived, snap *Snapshot) *entity {
	for int(n.Handle) >= len(r.entities) {
		r.entities = append(r.entities, nil)
	}
	e := r.entities[n.Handle]
	if e == nil {
		e = new(entity)
		r.entities[n.Handle] = e
	}
	same := e.id == n.ID && e.player == n.Player
	overtaken := e.what != untold && int32(p.Packet-e.told) < 0
	switch {
	case r.protocol.scheme.Frames:
		if n.What != Held {
			return e
		}
		if same && !e.passed {
			if int32(p.Packet-e.bound) > 0 {
				e.bound = p.Packet
			}
			return e
		}
		// What was passed over may have its place again: a handle comes to stand for the same
		// entity once more if the client never heard of what it stood for in between.
		if overtaken {
			return nil
		}
	case !n.Bind:
		return e
	case same && !e.unsure && !(e.what == Removed && int32(p.Packet-e.told) > 0):
		if int32(p.Packet-e.bound) < 0 {
			e.bound = p.Packet
		}
		return e // told again, because the server could not know that it had come
	}
	if e.what == Held && !same { // a server forgets what it cannot tell any more
		e.what = Left
		snap.add(e, nil)
	}
	r.bases.Forget(n.Handle)
	now := entity{
		floor: e.floor, again: e.again, id: n.ID, player: n.Player, class: n.Class,
		origin: n.Origin, bound: p.Packet}
	if overtaken {
		now.told, now.what = e.told, Left // by the news that it is gone
	}
	if a := n.ID.Allocator(); !slices.Contains(r.from, a) {
		r.from = append(r.from, a) // a packet brings a few at most
	}
	before := e.place()
	*e = now
	r.claim(n.Handle, before, e, snap)
	return e
}

// add lists what became of an entity; n is nil where only its handle tells that it is gone.
func (s *Snapshot) add(e *entity, n *News) {
	if e.id == world.None && e.player == world.Nobody {
		return // it is gone before it came
	}
	u := Update{ID: e.id, What: e.what, Entry: world.Entry{Origin: e.origin}}
	if e.what == Held {
		u.Image, u.Entry.Owner = n.Image, n.Owner
	}
	if e.player != world.Nobody {
		s.Commands = append(s.Commands, Relayed{e.player, u.Image})
		return
	}
	s.Updates = append(s.Updates, u)
}

// Next gives the next snapshot that can be shown, or nil. A snapshot waits for
// reliable events that the server sent before it.
func (r *Receiver) Next() *Snapshot {
	q := &r.queue
	if q.shown != nil {
		q.pool = append(q.pool, q.shown)
		q.shown = nil
	}
	for i, s := range q.list {
		if int32(s.count-r.events.received) > 0 && (i > 0 || len(q.list) <= maxQueue) {
			continue
		}
		q.list = slices.Delete(q.list, i, i+1)
		if s.taken < q.handed { // others were made knowing of it, and did not have to wait
			r.recheck(s)
		}
		q.handed = max(q.handed, s.taken)
		q.shown, s.Settled = s, r.events.settled
		return s
	}
	return nil
}

// recheck leaves out of a snapshot what newer ones have told.
func (r *Receiver) recheck(s *Snapshot) {
	n := len(s.Updates) + len(s.Commands)
	s.Updates = slices.DeleteFunc(s.Updates, func(u Update) bool {
		return r.outdated(&entity{id: u.ID}, u.What == Held, s.packet)
	})
	s.Commands = slices.DeleteFunc(s.Commands, func(c Relayed) bool {
		return r.outdated(&entity{player: c.Player}, c.Image != nil, s.packet)
	})
	s.Certain = s.Certain && n == len(s.Updates)+len(s.Commands)
}

// outdated says whether it is no longer so that something is there as a packet said, or that it is
// gone.
func (r *Receiver) outdated(what *entity, there bool, packet uint32) bool {
	h, ok := r.places[what.place()]
	is := ok && r.entities[h].what == Held && r.entities[h].id == what.id
	return is != there || there && r.entities[h].told != packet
}

// Apply brings a partial world up to what has come: its tick is that of the newest snapshot, and it
// holds what is in view. Events are delivered to it. It says whether there was anything.
func (r *Receiver) Apply(w *world.World) (changed bool, err error) {
	try := func(e error) { err = cmp.Or(err, e) }
	begin := func() {
		if !changed {
			changed = true
			w.Host().SetTick(r.arrived.tick)
		}
	}
	for _, e := range r.Events() {
		begin()
		try(e.Deliver(w))
	}
	for s := r.Next(); s != nil; s = r.Next() {
		begin()
		for _, u := range s.Updates {
			if u.What != Held {
				w.Host().Drop(u.ID)
			} else {
				try(w.Host().Put(u.ID, u.Entry, u.Image))
			}
		}
		for i := range s.Events {
			try(s.Events[i].Deliver(w))
		}
	}
	return changed, err
}
