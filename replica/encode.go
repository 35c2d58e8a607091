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
	// Early is by how many quarters of a tick the client's newest command came before it was needed; negative if it was late.
	Early int
	// Repeated is how many of the player's commands had to be made up since the last snapshot.
	Repeated int
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
	place  []int32  // and where in the view it stands
	count  int
	behind []int32 // handles that are deferred
	buf    []byte
	parts  [][]byte
	skips  skips
	hist   codec.History
	part   codec.History
	picks  picks
	coder  *codec.Encoder // enc, if it is coeval's
	tapes  []tapeCase
	pub    *Publisher // whose entities the tapes are of
}

// NewWorker makes a worker for senders of a protocol.
func NewWorker(p *Protocol) *Worker {
	w := &Worker{enc: p.strategy.NewEncoder()}
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
	s.settle()
	s.unstage()
	s.answer()
	s.gather()
	if s.classic != nil {
		s.classic.prepare()
	}
	need := s.collect(w)
	now := s.pub.tick
	if len(w.todo) == 0 && len(s.sparks) == 0 && s.spoke && now-s.last < s.options.Idle {
		return
	}
	budget := room.Budget
	if min(room.Packet, budget) < minRoom {
		s.wait(w.todo)
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
	if s.classic != nil {
		s.classic.packed(whole)
	}
	s.last, s.spoke = now, true
}

func (w *Worker) reset(handles int) {
	w.todo, w.behind, w.parts, w.count = w.todo[:0], w.behind[:0], w.parts[:0], 0
	if n := (handles + 63) / 64; n > len(w.chosen) {
		w.chosen = append(w.chosen, make([]uint64, n-len(w.chosen))...)
		w.place = append(w.place, make([]int32, n*64-len(w.place))...)
	}
	clear(w.chosen)
}

func (w *Worker) choose(h int32) {
	w.chosen[h>>6] |= 1 << (h & 63)
	w.count++
}

// pack writes what was chosen, by rising handles, into as many packets as it
// takes and the budget allows. It reports false if not all of them could be encoded.
func (s *Sender) pack(w *Worker, room Room) bool {
	budget := room.Budget
	word, left := 0, w.count
	for part := 0; ; part++ {
		size := min(room.Packet, budget)
		if part > 0 && size < minRoom {
			return false
		}
		if cap(w.buf) < size {
			w.buf = make([]byte, max(size, 1500))
		}
		f := s.begin(w, w.buf[:size], part == 0, room)
		limit := float64(size*8 - s.tail)
		if more := s.sparkBits(); more > 0 {
			limit = max(limit-more, limit/2)
		}
		prev, hash := int32(-1), uint64(0)
		first, full := true, false
		for word < len(w.chosen) && !full {
			for w.chosen[word] != 0 {
				h := int32(word<<6 + bits.TrailingZeros64(w.chosen[word]))
				if !s.put(w, f, h, prev, first, limit, &hash) {
					if first { // not even alone
						s.oversize(h)
						w.chosen[word] &= w.chosen[word] - 1
						left--
						continue
					}
					full = true
					break
				}
				w.chosen[word] &= w.chosen[word] - 1
				left--
				prev, first = h, false
			}
			if !full {
				word++
			}
		}
		budget -= size
		more := left > 0 && budget >= minRoom
		tail := w.enc.Spent() - s.ledger.Events
		if first {
			w.enc.Flag(false, chanceAny)
		} else {
			w.enc.Flag(false, chanceEntity)
		}
		w.enc.Flag(more, chanceMore)
		if !more {
			s.rest(w, word)
			s.putBehind(w, float64(size*8))
			s.putSparks(w, float64(size*8-s.tail+tailBits-hashBits-8))
		}
		w.enc.Bits(fold(hash), hashBits)
		s.ledger.Tail += w.enc.Spent() - tail - s.ledger.Events
		data := s.finish(w, f)
		if data == nil {
			return false
		}
		budget += size - len(data)
		if !more {
			return true
		}
	}
}

// rest defers what was chosen and did not fit after all.
func (s *Sender) rest(w *Worker, word int) {
	for ; word < len(w.chosen); word++ {
		for m := w.chosen[word]; m != 0; m &= m - 1 {
			w.behind = append(w.behind, int32(word<<6+bits.TrailingZeros64(m)))
		}
	}
	for _, h := range w.behind {
		r := &s.records[h]
		r.waiting += max(r.priority, 0.05)
	}
}

// put adds what is to be told of one entity. It reports false, and leaves the
// packet as it was, if that does not fit.
func (s *Sender) put(w *Worker, f *flight, h, prev int32, first bool, limit float64, hash *uint64) bool {
	enc := w.enc
	r := &s.records[h]
	before, skipped := enc.Spent(), w.skips
	enc.Mark()
	if first {
		enc.Flag(true, chanceAny)
	} else {
		enc.Flag(true, chanceEntity)
	}
	putGap(enc, &w.skips, uint32(h-prev-1))
	e := flightEntry{handle: h, unique: r.unique, what: r.want}
	fits := true
	class := -1
	var sum uint64
	var owner world.Player
	if r.want != held {
		enc.Flag(true, chanceSpecial)
		enc.Flag(true, chanceGone)
		enc.Flag(r.want == removed, chanceRemoved)
	} else {
		sl := &s.pub.slots[r.slot]
		class = int(sl.class)
		m, image := sl.now()
		owner, sum = m.owner, m.sum
		e.number = sl.number
		fits = s.putImage(w, f, r, sl, m, image)
	}
	if !fits || enc.Full() || enc.Spent() > limit {
		enc.Rewind()
		w.skips = skipped
		return false
	}
	cost := enc.Spent() - before
	*hash = mix(*hash, uint32(h), sum)
	if class >= 0 {
		s.view[w.place[h]].number = e.number
		s.cost[class] += (float32(cost) - s.cost[class]) / 16
		s.ledger.Classes[class].Bits += cost
		s.ledger.Classes[class].Updates++
		if owner != r.owner {
			s.relay = true
			r.owner = owner
		}
	} else {
		s.ledger.Views += cost
	}
	r.sends++
	r.told, r.number, r.packet, r.tick, r.waiting = r.want, e.number, f.packet, f.tick, 0
	r.unsaid = false
	r.under++
	e.sends = r.sends
	f.entries = append(f.entries, e)
	return true
}

// putImage writes an image against what the client has of the entity.
func (s *Sender) putImage(w *Worker, f *flight, r *record, sl *slot, m *imageMeta, image []int32) bool {
	enc := w.enc
	c := &s.pub.protocol.classes[sl.class]
	var owner world.Player // of the base
	var old int64
	var known *tapeCase
	hit := false
	if s.classic != nil {
		w.hist.Reset()
		owner, old = s.classic.base(w, f, r, sl)
	} else {
		old = s.base(w, f, r, sl)
		if len(c.parts) == 1 && c.fields > 0 {
			known, hit = w.recall(sl, s.options.Start)
		}
		if hit {
			owner = known.owner
		} else {
			owner = s.load(w, sl)
		}
	}
	special := !r.bound || m.owner != owner
	enc.Flag(special, chanceSpecial)
	if special {
		enc.Flag(false, chanceGone)
		enc.Flag(!r.bound, chanceBind)
		if !r.bound {
			s.putBinding(enc, sl, f.tick)
		}
		enc.Flag(m.owner != owner, chanceOwner)
		if m.owner != owner {
			enc.Bits(uint32(m.owner), 16)
		}
	}
	if r.bound && old >= 0 {
		enc.Flag(true, chanceOld)
		putNumber(enc, uint32(old))
	} else if r.bound && old == noBase {
		enc.Flag(false, chanceOld)
	}
	switch {
	case hit:
		return w.coder.Replay(&known.tape)
	case known != nil:
		w.coder.Record(&known.tape)
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

// Where a base comes from, if it is not an old one.
const (
	inWindow = -1
	noBase   = -2
)

// base picks what the client is known to hold of an entity. old is how many
// packets ago the base was sent where that lies before the window, or one of the constants above.
func (s *Sender) base(w *Worker, f *flight, r *record, sl *slot) (old int64) {
	w.picks.n = 0
	var ticks [depth]uint32
	n, crowded := 0, s.pub.crowded
	for i := range int(r.acked) {
		a := r.ack(i)
		if int32(a.packet-s.low) <= 0 || age(f.tick, a.tick) > recent || crowded && s.faded(a.packet) {
			break
		}
		ticks[i] = a.tick
		n++
	}
	if n > 0 {
		picked, n := choose(f.tick, ticks[:n])
		for _, at := range picked[:n] {
			w.picks.add(r.ack(at).number, age(f.tick, ticks[at]))
		}
		return inWindow
	}
	if a := r.ack(0); r.acked > 0 && r.sends-a.sends < keepOld {
		if m, _ := sl.find(a.number); m != nil {
			w.picks.add(a.number, min(age(f.tick, a.tick), 255))
			return int64(f.packet - a.packet)
		}
	}
	return noBase
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

// putBinding says which entity a handle stands for from now on.
func (s *Sender) putBinding(enc codec.PacketEncoder, sl *slot, tick uint32) {
	p := s.pub.protocol
	isCommand := sl.player != world.Nobody
	if p.commands >= 0 {
		enc.Flag(isCommand, chanceCommand)
		if isCommand {
			enc.Bits(uint32(sl.player), 16)
			return
		}
	}
	p.putID(enc, sl.id)
	age := tick - uint32(sl.origin.Tick)
	fresh := sl.origin.By != world.None && age < 1<<originBits
	enc.Flag(fresh, chanceOrigin)
	if fresh {
		p.putID(enc, sl.origin.By)
		enc.Bits(age, originBits)
		putNumber(enc, uint32(sl.origin.Ordinal))
	}
}

// putBehind lists what the client is not told though it changed.
func (s *Sender) putBehind(w *Worker, limit float64) {
	enc := w.enc
	known := w.behind[:0]
	for _, h := range w.behind {
		if r := &s.records[h]; r.want == held && (r.bound || r.under > 0) {
			known = append(known, h)
		}
	}
	enc.Flag(len(known) > 0, chanceDeferred)
	if len(known) == 0 {
		return
	}
	all := enc.Spent()+float64(len(known)*10+s.tail) > limit
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
		putGap(enc, &w.skips, uint32(h-prev-1))
		prev = h
	}
	enc.Flag(false, chanceEntity)
	if enc.Full() || enc.Spent()+float64(s.tail) > limit { // far apart they take more than was thought
		enc.Rewind()
		enc.Flag(true, chanceRemoved)
	}
}

// flight gives an empty record of a packet.
func (s *Sender) flight() *flight {
	if n := len(s.pool); n > 0 {
		f := s.pool[n-1]
		s.pool = s.pool[:n-1]
		*f = flight{entries: f.entries[:0]}
		return f
	}
	return new(flight)
}

// finish ends a packet and stages it.
func (s *Sender) finish(w *Worker, f *flight) []byte {
	data, err := w.enc.Finish()
	if err != nil { // an image out of range; nothing of it was sent
		s.ledger.Failed++
		s.dropped(f)
		return nil
	}
	s.next++
	s.arrived.drop(f.packet)
	s.made[f.packet&255] = madeAt{uint32(s.pub.count), f.tick}
	f.size = len(data)
	n := len(s.staged)
	if n < cap(s.staged) {
		s.staged = s.staged[:n+1]
	} else {
		s.staged = append(s.staged, stagedPart{})
	}
	st := &s.staged[n]
	st.data = append(st.data[:0], data...)
	st.flight = f
	s.flights = append(s.flights, f)
	s.ledger.Packets++
	s.ledger.Bytes += uint64(len(data))
	return st.data
}
