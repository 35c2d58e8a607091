package replica

import "github.com/coeval-dev/coeval/codec"

// keepOld is how many images of an entity a client keeps beyond the latest
// packets. A base is relied on only if fewer were sent after it.
const keepOld = 4

// known is Coeval at the server. It knows of each entity the newest images that arrived, and counts
// on those that came with the latest packets: every packet says which packets these are. An older
// one is counted on only as long as the client is certain to keep it, and then the packet names it.
type known struct {
	s      *Sender
	list   []holding   // by handle
	low    uint32      // packets up to this one are outside of the present packet's window
	counts [256]uint8  // messages with events before each of the latest packets
	made   [256]madeAt // and when it was made
}

// holding is what a client is known to hold of an entity. The newest image is pinned.
type holding struct {
	bound bool       // the client knows which entity the handle stands for
	since uint32     // packets before this one say nothing about what the client holds
	n     int        // how many images the client is known to hold,
	acks  [depth]ack // the newest first
}

// ack is an image that a client is known to hold.
type ack struct {
	packet uint32
	number uint32
	tick   uint32 // of the snapshot
	sends  uint32 // how many times the entity had been sent
}

// madeAt is when a packet was made.
type madeAt struct{ count, tick uint32 }

func newKnown(s SenderState) SenderBases { return &known{s: (*Sender)(s.(*senderState))} }

func (k *known) at(h int32) *holding {
	for int(h) >= len(k.list) {
		k.list = append(k.list, holding{})
	}
	return &k.list[h]
}

func (k *known) Begin() {}

// Header says what of all that was sent before is known to have arrived, and
// how many messages were sent.
func (k *known) Header(enc codec.PacketEncoder, p *Sent) {
	t := &k.s.flights
	known := t.any && p.Packet-t.newest <= window
	k.putAcks(enc, p.Packet, known)
	k.made[p.Packet&255] = madeAt{uint32(k.s.pub.count), p.Tick}
	count := uint8(k.s.messages.sent & (1<<eventBits - 1))
	k.counts[p.Packet&255] = count
	changed := true
	if known {
		changed = count != k.counts[t.newest&255]
		enc.Flag(changed, chanceEvents)
	}
	if changed {
		enc.Bits(uint32(count), eventBits)
	}
}

// putAcks says which of the latest packets are known to have arrived: the
// newest, and all before it but for some. It is what bases are chosen from.
func (k *known) putAcks(enc codec.PacketEncoder, packet uint32, known bool) {
	t := &k.s.flights
	enc.Flag(known, chanceAck)
	k.low = packet // nothing is older
	if !known {
		return
	}
	enc.Bits(packet-t.newest, ageBits)
	k.low = t.newest - min(t.newest, span) - 1 // numbers begin at 0
	missing := rare
	for p := t.newest - 1; p != k.low; p-- {
		lost := !t.arrived.has(p) || !t.counts(p) || k.faded(p) &&
			Age(uint32(k.s.pub.tick), k.made[p&255].tick) <= recent
		enc.Flag(lost, missing.chance())
		missing.count(lost)
	}
	if !t.counts(k.low) {
		k.low = t.floor - 1 // the flags said so of those before the floor
	}
	enc.Flag(k.undecided(), chanceUndecided)
}

// faded says that images from a packet may no longer be found though they are few ticks old, since
// there were several publications of a tick. Such a packet is not counted on: it is said not to
// have arrived.
func (k *known) faded(packet uint32) bool {
	return k.s.pub.crowded && uint32(k.s.pub.count)-k.made[packet&255].count > recent
}

// undecided says whether a packet before the newest that arrived is still under
// way as far as is known.
func (k *known) undecided() bool {
	for _, f := range k.s.flights.list {
		if int32(f.Packet-k.s.flights.newest) < 0 {
			return true
		}
	}
	return false
}

func (k *known) Bound(handle int32) bool { return k.at(handle).bound }

// Where a base comes from, if it is not an old one.
const (
	inWindow = -1
	noBase   = -2
)

// Base picks what the client is known to hold of an entity. b.old is how many packets ago the base
// was sent where that lies before the window, or one of the constants above.
func (k *known) Base(handle int32, p *Sent, b *Base) {
	r := k.at(handle)
	var ticks [depth]uint32
	n, crowded := 0, k.s.pub.crowded
	for i := range r.n {
		a := &r.acks[i]
		if int32(a.packet-k.low) <= 0 || Age(p.Tick, a.tick) > recent || crowded &&
			k.faded(a.packet) {
			break
		}
		ticks[i] = a.tick
		n++
	}
	b.old = inWindow
	if n > 0 {
		picked, n := choose(p.Tick, ticks[:n])
		for _, at := range picked[:n] {
			b.Add(r.acks[at].number, Age(p.Tick, ticks[at]))
		}
		return
	}
	e := k.s.at(handle)
	if a := &r.acks[0]; r.n > 0 && e.sends-a.sends < keepOld {
		if m, _ := k.s.pub.slots[e.slot].find(a.number); m != nil {
			b.Add(a.number, min(Age(p.Tick, a.tick), 255))
			b.old = int64(p.Packet - a.packet)
			return
		}
	}
	b.old = noBase
}

func (k *known) Staged([]*Sent, bool) {}

// Landed moves the client's base of each entity on.
func (k *known) Landed(p *Sent, arrived bool) bool {
	for i := range p.Said {
		e := &p.Said[i]
		if !arrived || e.What != Held || k.s.at(e.Handle).unique != e.Unique {
			continue
		}
		r := k.at(e.Handle)
		if int32(p.Packet-r.since) < 0 {
			continue
		}
		r.bound = true
		if before, had := r.acks[0].number,
			r.n > 0; r.acknowledge(ack{p.Packet, e.Number, p.Tick, e.sends}) {
			k.pin(e.Handle, e.Number, true)
			if had {
				k.pin(e.Handle, before, false)
			}
		}
	}
	return arrived
}

func (k *known) pin(handle int32, number uint32, hold bool) {
	(*senderState)(k.s).pin(handle, number, hold)
}

// Heard is true, since what is under way is not repeated.
func (k *known) Heard(int32) bool { return true }

func (k *known) Held(handle int32, i int) (packet, number uint32, ok bool) {
	r := k.at(handle)
	if i >= r.n {
		return 0, 0, false
	}
	return r.acks[i].packet, r.acks[i].number, true
}

func (k *known) Refresh(handle int32) { k.Forget(handle) }

func (k *known) Forget(handle int32) {
	r := k.at(handle)
	if r.n > 0 {
		k.pin(handle, r.acks[0].number, false)
	}
	*r = holding{since: k.s.flights.next}
}

// Rejected forgets that the client has what a packet brought.
func (k *known) Rejected(packet uint32, arrived bool) {
	if !arrived {
		return
	}
	for i := range k.list {
		r := &k.list[i]
		number, newest := r.disown(packet)
		if newest {
			if r.n > 0 {
				k.pin(int32(i), r.acks[0].number, true)
			}
			k.pin(int32(i), number, false)
		}
		if r.n == 0 {
			r.bound = false // what said which entity it is may have been just that packet
		}
	}
}

// acknowledge notes that the client has an image, and says whether it is the
// newest it has.
func (r *holding) acknowledge(a ack) (newest bool) {
	at := 0
	for at < r.n && int32(r.acks[at].packet-a.packet) > 0 {
		at++
	}
	if at == depth {
		return false
	}
	copy(r.acks[at+1:], r.acks[at:])
	r.acks[at] = a
	r.n = min(r.n+1, depth)
	return at == 0
}

// disown forgets an image that the client says it does not have, and says
// whether it was the newest.
func (r *holding) disown(packet uint32) (number uint32, newest bool) {
	for i := range r.n {
		if r.acks[i].packet == packet {
			number = r.acks[i].number
			copy(r.acks[i:], r.acks[i+1:r.n])
			r.n--
			return number, i == 0
		}
	}
	return 0, false
}
