package replica

import (
	"math/bits"
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// Room is what a snapshot may take, and what it reports beside the world.
type Room struct {
	// Packet is the largest packet, in bytes.
	Packet int
	// Budget is how many bytes all packets of the snapshot may have together.
	Budget int
	// Early is by how many quarters of a tick the client's newest command came before it was
	// needed; negative if it was late.
	Early int
	// Repeated is how many of the player's commands had to be made up since the last snapshot.
	Repeated int
	// Acted is the player's newest command that the world has executed, where that is not the one
	// of the world's tick; 0 if it is.
	Acted world.Tick
}

// minRoom is the least that a packet is worth beginning for.
const minRoom = 48

// tailBits is what a packet keeps free for what follows the entities.
const tailBits = 64

// A Worker is the memory that encoding takes. Each goroutine that encodes
// needs one, and one is enough for any number of senders.
type Worker struct {
	enc    codec.PacketEncoder
	todo   []todo
	chosen []uint64 // a bit for each handle
	inView []int32  // and where in the view it stands
	count  int      // how many are left of those,
	word   int      // and in which word the next is
	behind []int32  // handles that are deferred
	buf    []byte
	skips  skips
	hist   codec.History
	part   codec.History
	base   Base
	coder  *codec.Encoder // enc, if it is coeval's
	tapes  []tapeCase
	pub    *Publisher              // whose entities the tapes are of
	models [TableSets]*codec.Model // with which they were made,
	number uint8                   // and the number of the present one

	samples *codec.Samples // what is gathered, if anything,
	every   uint32         // of one in so many entities
}

// NewWorker makes a worker for senders of a protocol.
func NewWorker(p *Protocol) *Worker {
	w := &Worker{enc: p.coding.NewEncoder()}
	w.coder, _ = w.enc.(*codec.Encoder)
	return w
}

// Encode makes the packets of a snapshot and stages them in the sender. What
// was staged before and not sent is taken back. There may be no packets at all,
// if nothing changed or there is no room.
//
// It should be called at each snapshot even when there is no budget, since it also collects events.
func (s *Sender) Encode(w *Worker, room Room) {
	w.serve(s.pub)
	s.landAll()
	s.unstage()
	s.answer()
	s.gather()
	s.encodes = w
	s.bases.Begin()
	if s.scheme.Repeats {
		s.repeat()
	}
	need := s.collect(w)
	now := s.pub.tick
	if len(w.todo) == 0 && len(s.events.unreliable) == 0 && s.pace.spoke &&
		now-s.pace.last < s.options.Idle {
		return
	}
	budget := room.Budget
	if min(room.Packet, budget) < minRoom {
		for _, t := range w.todo {
			w.behind = append(w.behind, t.handle)
		}
		s.wait(w.behind)
		return
	}
	if free := float32(budget*8 - 128); need > free {
		s.prefer(w, free)
	} else {
		for _, t := range w.todo {
			w.choose(t.handle)
		}
	}
	whole := s.pack(w, room)
	if len(s.flights.staged) > 0 {
		s.flights.snapshots++
		s.flights.sent = s.flights.sent[:0]
		for _, st := range s.flights.staged {
			s.flights.sent = append(s.flights.sent, &st.flight.Sent)
		}
		s.bases.Staged(s.flights.sent, whole)
	}
	s.pace.last, s.pace.spoke = now, true
}

func (w *Worker) reset(handles int) {
	w.todo, w.behind, w.count, w.word = w.todo[:0], w.behind[:0], 0, 0
	if n := (handles + 63) / 64; n > len(w.chosen) {
		w.chosen = append(w.chosen, make([]uint64, n-len(w.chosen))...)
		w.inView = append(w.inView, make([]int32, n*64-len(w.inView))...)
	}
	clear(w.chosen)
}

func (w *Worker) choose(h int32) {
	w.chosen[h>>6] |= 1 << (h & 63)
	w.count++
}

// begin starts a packet with its header.
func (s *Sender) begin(w *Worker, buf []byte, first bool, room Room) *flight {
	f := s.flight()
	f.Packet, f.Snapshot, f.Tick = s.flights.next, s.flights.snapshots+1, uint32(s.pub.tick)
	enc := w.enc
	enc.Begin(buf)
	w.skips = skips{}
	enc.Bits(uint32(s.options.Epoch)&(1<<epochBits-1), epochBits)
	enc.Bits(f.Packet&(1<<packetBits-1), packetBits)
	enc.Bits(f.Tick&(1<<tickBits-1), tickBits)
	if s.scheme.Learns {
		enc.Bits(uint32(s.tables), tablesBits)
		w.useTables(s.tables, s.model)
	}
	enc.Flag(first, chanceFirst)
	s.bases.Header(enc, &f.Sent)
	if first {
		early := min(max(room.Early, -1<<(earlyBits-1)), 1<<(earlyBits-1)-1)
		enc.Bits(uint32(early)&(1<<earlyBits-1), earlyBits)
		enc.Flag(room.Repeated > 0, chanceRepeated)
		if room.Repeated > 0 {
			enc.Bits(uint32(min(room.Repeated, 1<<repeatBits-1)), repeatBits)
		}
		ahead := int64(room.Acted) - int64(s.pub.tick)
		acted := room.Acted > 0 && ahead >= -1<<(actedBits-1) && ahead < 1<<(actedBits-1)
		enc.Flag(acted, chanceActed)
		if acted {
			enc.Bits(uint32(ahead)&(1<<actedBits-1), actedBits)
		}
	}
	s.ledger.Header += enc.Spent()
	return f
}

// pack writes what was chosen, by rising handles, into as many packets as it
// takes and the budget allows. It reports false if not all of them could be encoded.
func (s *Sender) pack(w *Worker, room Room) bool {
	budget := room.Budget
	tail := tailBits + s.scheme.Tail
	for first := true; ; first = false {
		size := min(room.Packet, budget)
		if !first && size < minRoom {
			return false
		}
		if cap(w.buf) < size {
			w.buf = make([]byte, max(size, 1500))
		}
		f := s.begin(w, w.buf[:size], first, room)
		limit := float64(size*8 - tail)
		if more := s.unreliableBits(); more > 0 {
			limit = max(limit-more, limit/2)
		}
		hash := s.fill(w, f, limit)
		budget -= size
		more := w.count > 0 && budget >= minRoom
		before := w.enc.Spent() - s.ledger.Events
		w.enc.Flag(false, chanceNext(len(f.Said) == 0))
		w.enc.Flag(more, chanceMore)
		if !more {
			s.rest(w)
			s.putBehind(w, float64(size*8), tail)
			s.putUnreliable(w, float64(size*8-s.scheme.Tail-hashBits-8))
		}
		w.enc.Bits(fold(hash), hashBits)
		s.ledger.Tail += w.enc.Spent() - before - s.ledger.Events
		data, err := w.enc.Finish()
		if err != nil { // an image out of range; nothing of it was sent
			s.ledger.Failed++
			s.end(f, false)
			return false
		}
		budget += size - len(s.stage(f, data))
		if !more {
			return true
		}
	}
}

// fill writes into a packet what was chosen and fits, and gives the hash of what it says.
func (s *Sender) fill(w *Worker, f *flight, limit float64) (hash uint64) {
	prev := int32(-1)
	for ; w.word < len(w.chosen); w.word++ {
		for m := &w.chosen[w.word]; *m != 0; *m &= *m - 1 {
			h := int32(w.word<<6 + bits.TrailingZeros64(*m))
			switch r := s.at(h); {
			case r.want == Left && s.scheme.Views: // the header says it
				s.said(f, Said{Handle: h, Unique: r.unique, What: Left, sends: r.sends + 1})
			case s.put(w, f, h, prev, limit, &hash):
				prev = h
			case len(f.Said) == 0: // not even alone
				s.oversize(h)
			default:
				return hash
			}
			w.count--
		}
	}
	return hash
}

// rest defers what was chosen and did not fit after all.
func (s *Sender) rest(w *Worker) {
	for ; w.word < len(w.chosen); w.word++ {
		for m := w.chosen[w.word]; m != 0; m &= m - 1 {
			w.behind = append(w.behind, int32(w.word<<6+bits.TrailingZeros64(m)))
		}
	}
	s.wait(w.behind)
}

// put adds what is to be told of one entity. It reports false, and leaves the
// packet as it was, if that does not fit.
func (s *Sender) put(w *Worker, f *flight, h, prev int32, limit float64, hash *uint64) bool {
	enc := w.enc
	r := s.at(h)
	before, skipped := enc.Spent(), w.skips
	enc.Mark()
	enc.Flag(true, chanceNext(len(f.Said) == 0))
	wire{enc: enc}.gap(&w.skips, uint32(h-prev-1))
	e := Said{Handle: h, Unique: r.unique, What: r.want, sends: r.sends + 1}
	fits := true
	var class int32
	var sum uint64
	var owner world.Player
	if r.want != Held {
		enc.Flag(true, chanceSpecial)
		enc.Flag(true, chanceGone)
		enc.Flag(r.want == Removed, chanceRemoved)
	} else {
		sl := &s.pub.slots[r.slot]
		m, image := sl.now()
		class, owner, sum, e.Number = sl.class, m.owner, m.sum, sl.number
		fits = s.putImage(w, f, h, sl, m, image)
	}
	if !fits || enc.Full() || enc.Spent() > limit {
		enc.Rewind()
		w.skips = skipped
		return false
	}
	cost := enc.Spent() - before
	*hash = mix(*hash, uint32(h), sum)
	if r.want == Held {
		s.view.list[w.inView[h]].number = e.Number
		s.pace.cost[class] += (float32(cost) - s.pace.cost[class]) / 16
		s.ledger.Classes[class].Bits += cost
		s.ledger.Classes[class].Updates++
		s.view.relay = s.view.relay || owner != r.owner
		r.owner = owner
	} else {
		s.ledger.Views += cost
	}
	s.said(f, e)
	return true
}

// said notes what a packet says of an entity.
func (s *Sender) said(f *flight, e Said) {
	r := s.at(e.Handle)
	r.told, r.number, r.packet, r.tick, r.waiting = r.want, e.Number, f.Packet, f.Tick, 0
	r.sends, r.unsaid = e.sends, false
	r.under++
	f.Said = append(f.Said, e)
}

// putImage writes an image against what the client has of the entity.
func (s *Sender) putImage(w *Worker, f *flight, h int32, sl *slot, m *imageMeta,
	image []int32) bool {
	enc := w.enc
	c := &s.pub.protocol.classes[sl.class]
	w.base.n, w.base.old = 0, inWindow
	s.bases.Base(h, &f.Sent, &w.base)
	bound := s.bases.Bound(h)
	var owner world.Player // of the base
	known, hit := w.recall(c, sl, s.options.Start)
	if hit {
		owner = known.owner
	} else {
		owner = s.load(w, sl)
	}
	special := !bound || m.owner != owner
	enc.Flag(special, chanceSpecial)
	if special {
		enc.Flag(false, chanceGone)
		enc.Flag(!bound, chanceBind)
		if !bound {
			s.pub.protocol.binding(wire{enc: enc}, f.Tick,
				&News{ID: sl.id, Player: sl.player, Origin: sl.origin})
		}
		enc.Flag(m.owner != owner, chanceOwner)
		if m.owner != owner {
			enc.Bits(uint32(m.owner), 16)
		}
	}
	if old := w.base.old; bound && old != inWindow {
		enc.Flag(old >= 0, chanceOld)
		if old >= 0 {
			codec.PutNumber(enc, uint32(old))
		}
	}
	if w.samples != nil {
		s.take(w, f, c, sl, image)
	}
	switch {
	case hit:
		return w.coder.Replay(&known.tape)
	case known != nil:
		w.coder.Note(&known.tape)
		known.used, known.owner = w.coder.Put(c.parts[0].class, &w.hist, image), owner
		return known.used
	}
	return w.putParts(c, image)
}

// putParts writes an image part by part.
func (w *Worker) putParts(c *class, image []int32) bool {
	if c.fields == 0 {
		return true
	}
	if len(c.parts) == 1 {
		return w.enc.Put(c.parts[0].class, &w.hist, image)
	}
	for _, part := range c.parts {
		w.part = w.hist
		for i := range w.part.Len {
			w.part.Images[i] = w.hist.Images[i][part.from:part.to]
		}
		if !w.enc.Put(part.class, &w.part, image[part.from:part.to]) {
			return false
		}
	}
	return true
}

// startBase is what an entity is a difference from of which the client is not
// known to hold anything.
func (s *Sender) startBase(w *Worker, sl *slot) (owner world.Player) {
	if s.options.Start && sl.first != nil {
		w.hist.Add(sl.first, 255)
		return sl.firstOwner
	}
	w.hist.Add(s.pub.protocol.start(sl.class), 255)
	return world.Nobody
}

// putBehind lists what the client is not told though it changed.
func (s *Sender) putBehind(w *Worker, limit float64, tail int) {
	enc := w.enc
	known := w.behind[:0]
	for _, h := range w.behind {
		if r := s.at(h); r.want == Held && (r.under > 0 || s.bases.Bound(h)) {
			known = append(known, h)
		}
	}
	enc.Flag(len(known) > 0, chanceDeferred)
	if len(known) == 0 {
		return
	}
	all := enc.Spent()+float64(len(known)*10+tail) > limit
	enc.Mark()
	enc.Flag(all, chanceRemoved)
	if all {
		return
	}
	slices.Sort(known)
	w.skips = skips{}
	prev := int32(-1)
	for _, h := range known {
		enc.Flag(true, chanceEntity)
		wire{enc: enc}.gap(&w.skips, uint32(h-prev-1))
		prev = h
	}
	enc.Flag(false, chanceEntity)
	// far apart they take more than was thought
	if enc.Full() || enc.Spent()+float64(tail) > limit {
		enc.Rewind()
		enc.Flag(true, chanceRemoved)
	}
}
