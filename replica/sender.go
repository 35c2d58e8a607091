package replica

import (
	"math/bits"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// SenderOptions say for whom a Sender works.
type SenderOptions struct {
	// Player is who plays at the client; Nobody for one who only watches. The player's own commands are not relayed.
	Player world.Player
	// Epoch tells the worlds of one connection apart, as after a change of map: packets of another are ignored. Its lowest two bits count.
	Epoch uint8
	// Start says that the client starts from the same world as the server, so that what is still as it was at the start need not be sent.
	// Compare Publisher.Start with Receiver.Start.
	Start bool
	// Idle is how many ticks may pass without a packet when there is nothing to say. Default: as many as make a second.
	Idle world.Tick
	// Keep is how many entities that left the view are remembered, so that they cost little when they return. Default: 4096.
	Keep int
}

// A Sender makes the snapshots for one client: what changed in its view,
// against what it is known to hold.
//
// Look and Encode are the work that can be spread over cores: they touch the sender and the
// worker, and only read the Publisher. All other methods belong with Publish, to one goroutine.
type Sender struct {
	pub     *Publisher
	options SenderOptions

	records []record // by handle
	handles []int32  // by slot: the handle, or -1
	spare   handleSet
	looks   uint32
	jumps   uint64   // the publisher's, when the view was last looked over
	view    []glance // what is in view: states, entities in order of identifier, commands
	old     []glance
	states  int     // how many states there are in view,
	things  int     // and where entities end
	stale   bool    // the numbers in view are not those of the records
	leaving []int32 // handles whose going has not been acknowledged
	relay   bool    // owners changed, so others may have to be relayed

	next     uint32       // number of the next packet
	arrived  packetSet    // which of the latest packets have
	counts   [256]uint8   // messages with events before each of them
	made     [256]madeAt  // and when it was made
	newest   uint32       // the newest that arrived
	any      bool         // any has
	low      uint32       // packets up to this one are outside of the present packet's window
	flights  []*flight    // under way, oldest first
	pool     []*flight    // for more
	verdicts []verdict    // on those under way
	pins     []pin        // bases that changed
	cost     []float32    // bits that an entity of each class takes
	last     world.Tick   // of the last packet
	spoke    bool         // there was one
	tidied   uint32       // packets at the last sweep
	staged   []stagedPart // of the present snapshot

	events   uint64 // place in the publisher's log
	since    uint64 // where that was at first
	messages messageQueue
	said     world.Tick // the settled tick that the client was told
	saidAt   uint64     // in which publication
	due      world.Tick // it waits to hear that this one is settled; 0 if it waits for nothing
	doubted  world.Tick // the last tick of which it was told something that may be retracted
	doubt    []int32    // handles whose bases the client wants to compare
	sparks   []uint64   // unreliable events that wait for a packet

	classic classic // what an older strategy does its own way; nil for Coeval
	tail    int     // bits that a packet keeps free for what follows the entities

	ledger Ledger
}

// glance is what there is to know of something in view as long as it does not
// change: records are large, and lie far apart.
type glance struct {
	id       world.ID
	handle   int32
	slot     int32
	unique   uint32
	number   uint32 // the image that the client was told, 0 if it must be told anew
	priority float32
	player   world.Player // whose command it is, if it is one
}

// madeAt is when a packet was made.
type madeAt struct{ count, tick uint32 }

// stagedPart is a packet that was encoded and has not been sent.
type stagedPart struct {
	data   []byte
	flight *flight
}

// packetSet remembers something of each of the latest 256 packets.
type packetSet [4]uint64

func (p *packetSet) has(n uint32) bool { return p[n>>6&3]>>(n&63)&1 != 0 }
func (p *packetSet) add(n uint32)      { p[n>>6&3] |= 1 << (n & 63) }
func (p *packetSet) drop(n uint32)     { p[n>>6&3] &^= 1 << (n & 63) }

// NewSender makes the sender for a client that holds nothing yet. What is saved
// for late joiners is the first that it sends.
func NewSender(b *Publisher, o SenderOptions) *Sender {
	if o.Idle == 0 {
		o.Idle = world.Tick(b.protocol.game.Rate())
	}
	if o.Keep == 0 {
		o.Keep = 4096
	}
	s := &Sender{pub: b, options: o, cost: make([]float32, len(b.protocol.classes)), tail: tailBits}
	switch b.protocol.options.Strategy {
	case Quake3:
		s.classic, s.tail = &quake3Sender{s: s}, classicTail
	case Doom3:
		s.classic, s.tail = &doom3Sender{s: s}, classicTail
	}
	s.ledger.Classes = make([]ClassLedger, len(b.protocol.classes))
	for i := range s.cost {
		s.cost[i] = 64
	}
	s.events = b.events.end()
	s.since = s.events
	s.tellSaved()
	s.see(nil)
	return s
}

// Close gives up what the sender keeps others from forgetting. It must not be
// used afterwards.
func (s *Sender) Close() {
	for h := range s.records {
		s.unbase(&s.records[h])
	}
	s.applyPins()
	s.records, s.view, s.leaving = nil, nil, nil
}

// unbase lets go of the image that the client has as its base.
func (s *Sender) unbase(r *record) {
	if r.unique != 0 && r.acked > 0 {
		s.release(r, r.ack(0).number)
	}
	r.acked = 0
}

// Look tells the sender what its client is shown. It need not be called where
// Finder.Update says that nothing changed.
func (s *Sender) Look(v *interest.View) { s.see(v.Entries()) }

func (s *Sender) see(entries []interest.Entry) {
	s.renew()
	s.looks++
	old, view := s.view, s.old[:0]
	for i, at := range s.pub.states {
		if i < s.states {
			view = append(view, old[i])
		} else {
			view = append(view, s.glance(at, 4))
		}
	}
	before := old[s.states:s.things]
	commands := old[s.things:]
	s.states = len(view)
	for i := range entries {
		e := &entries[i]
		for len(before) > 0 && before[0].id < e.ID {
			s.lose(before[0].handle)
			before = before[1:]
		}
		if len(before) > 0 && before[0].id == e.ID {
			g := before[0]
			g.priority = e.Priority
			view = append(view, g)
			before = before[1:]
		} else if at := s.pub.lookup(e.ID); at >= 0 {
			view = append(view, s.glance(at, e.Priority))
		}
	}
	for i := range before {
		s.lose(before[i].handle)
	}
	s.things = len(view)
	s.view, s.old = view, old
	s.relayCommands()
	for i := range commands {
		if s.records[commands[i].handle].mark != s.looks {
			s.lose(commands[i].handle)
		}
	}
}

// glance takes something into view.
func (s *Sender) glance(at int32, priority float32) glance {
	h := s.handle(at)
	r := &s.records[h]
	r.want = held
	sl := &s.pub.slots[at]
	return glance{id: sl.id, handle: h, slot: at, unique: sl.unique, number: r.heard(), priority: priority, player: sl.player}
}

// renew finds what is in view under the same name as before and is something else, or went and came again. Only where a world was taken back can that be.
func (s *Sender) renew() {
	if s.jumps == s.pub.jumps {
		return
	}
	s.jumps = s.pub.jumps
	for i := range s.view {
		g := &s.view[i]
		if s.pub.slots[g.slot].unique == g.unique {
			continue
		}
		at := s.pub.command(g.player)
		if g.player == world.Nobody {
			at = s.pub.lookup(g.id)
		}
		if at < 0 {
			continue // it is gone, as will be found
		}
		s.lose(g.handle)
		*g = s.glance(at, g.priority)
		s.records[g.handle].mark = s.looks
	}
}

// heard is the image that the client was told last, 0 if it must be told anew.
func (r *record) heard() uint32 {
	if r.told == held {
		return r.number
	}
	return 0
}

// relayCommands takes the commands of those into view whose entities are.
func (s *Sender) relayCommands() {
	s.relay = false
	if len(s.pub.commands) == 0 {
		return
	}
	for i := range s.view[s.states:s.things] {
		g := &s.view[s.states+i]
		sl := &s.pub.slots[g.slot]
		if sl.unique != g.unique {
			continue
		}
		m, _ := sl.now()
		if m.owner == world.Nobody || m.owner == s.options.Player {
			continue
		}
		if at := s.pub.command(m.owner); at >= 0 {
			if r := &s.records[s.handle(at)]; r.mark != s.looks {
				r.mark = s.looks
				s.view = append(s.view, s.glance(at, g.priority))
			}
		}
	}
}

func (s *Sender) lose(h int32) {
	r := &s.records[h]
	if r.want != held {
		return
	}
	r.want = left
	if s.pub.slots[r.slot].unique != r.unique {
		r.want = removed
	}
	r.waiting = 0
	if r.sends == 0 {
		r.told = r.want // it never heard of it
		return
	}
	s.leaving = append(s.leaving, h)
}

// handle finds the handle of what is in a slot, or gives it one.
func (s *Sender) handle(at int32) int32 {
	for int(at) >= len(s.handles) {
		s.handles = append(s.handles, -1)
	}
	unique := s.pub.slots[at].unique
	if h := s.handles[at]; h >= 0 {
		if r := &s.records[h]; r.slot == at && r.unique == unique {
			return h
		}
	}
	sl := &s.pub.slots[at]
	h := s.unused(sl.id)
	if int(h) == len(s.records) {
		s.records = append(s.records, record{})
	}
	s.records[h] = record{slot: at, unique: unique, id: sl.id, before: s.records[h].before, since: s.next}
	s.handles[at] = h
	return h
}

// unused gives a free handle that did not stand for the same entity last: the client would take it for what it was, and count on images that are forgotten here.
func (s *Sender) unused(id world.ID) int32 {
	h := s.spare.take()
	if id == world.None || int(h) == len(s.records) || s.records[h].before != id {
		return h
	}
	other := s.unused(id)
	s.spare.put(h)
	return other
}

// forget frees the handle of what the client will not be told of any more.
func (s *Sender) forget(h int32) {
	r := &s.records[h]
	s.unbase(r)
	if s.handles[r.slot] == h {
		s.handles[r.slot] = -1
	}
	before := r.before
	if r.sends > 0 {
		before = r.id
	}
	*r = record{before: before}
	s.spare.put(h)
}

// sweep frees the handles of what left the view and is no more, and of those
// that left longest ago if there are too many.
func (s *Sender) sweep() {
	out := 0
	oldest, at := uint32(0), int32(-1)
	now := uint32(s.pub.tick)
	for h := range s.records {
		r := &s.records[h]
		if r.unique == 0 || r.want == held || r.under > 0 || r.told != r.want {
			continue
		}
		if s.classic != nil && !s.classic.settled(int32(h)) {
			continue
		}
		if s.pub.slots[r.slot].unique != r.unique {
			s.forget(int32(h))
			continue
		}
		out++
		if age := age(now, r.tick); at < 0 || age > oldest {
			oldest, at = age, int32(h)
		}
	}
	if out > s.options.Keep {
		s.forget(at)
	}
}

// handleSet gives out the lowest free number.
type handleSet struct {
	words []uint64 // bits of those that are taken
	from  int      // words before this one are full
}

func (f *handleSet) take() int32 {
	for i := f.from; i < len(f.words); i++ {
		if f.words[i] != ^uint64(0) {
			b := bits.TrailingZeros64(^f.words[i])
			f.words[i] |= 1 << b
			f.from = i
			return int32(i*64 + b)
		}
	}
	f.words = append(f.words, 1)
	f.from = len(f.words) - 1
	return int32(f.from * 64)
}

func (f *handleSet) put(h int32) {
	f.words[h>>6] &^= 1 << (h & 63)
	f.from = min(f.from, int(h>>6))
}
