package replica

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// The wire format, which docs/protocol.md describes to the bit. Numbers of
// packets and ticks travel as their lowest bits; the receiver knows the rest.
const (
	epochBits  = 2
	packetBits = 12
	tickBits   = 12
	tablesBits = 2 // which set of tables the packet was made with
	ageBits    = 7 // how far back an acknowledged packet lies
	window     = 1<<ageBits - 1
	eventBits  = 6 // of the count of reliable messages with events
	earlyBits  = 8
	repeatBits = 8
	actedBits  = 10 // by how many ticks the command that was executed last is ahead
	hashBits   = 12

	originBits = 8 // ticks since an entity was spawned

	// packets before the newest acknowledged one of which it is said whether they arrived
	span     = 40
	maxUnary = 12 // handles that are skipped one by one
)

// Chances, of 1<<16, that flags are set.
const (
	chanceFirst     = 62000
	chanceMore      = 3000 // more packets of this snapshot follow
	chanceAck       = 64500
	chanceUndecided = 3000 // some packet before the newest acknowledged one may still arrive
	chanceEvents    = 2500 // reliable messages since the acknowledged packet
	chanceRepeated  = 3000
	chanceActed     = 200   // commands are executed as they come
	chanceEntity    = 63500 // one more entity, after at least one
	chanceAny       = 62000 // any entity at all
	chanceSpecial   = 2500  // more to say of an entity than its image
	chanceGone      = 24000 // of those that are special
	chanceRemoved   = 32768
	chanceBind      = 56000
	chanceOld       = 60000 // an older base, where the window has none
	chanceOwner     = 16384
	chanceDeferred  = 1500
	chanceEvent     = 6000
	chanceOrigin    = 16384
	chanceCommand   = 16384
	chanceBy        = 60000 // the entity that caused an event is the one it is about
	chanceHome      = 64000 // identifiers of allocator 0
)

// chanceNext is the chance that there is one more entity, the first or another.
func chanceNext(first bool) uint32 {
	if first {
		return chanceAny
	}
	return chanceEntity
}

// skips counts how often something was so in a packet so far, such as that a
// handle was skipped: the chance that it is so the next time.
type skips struct{ yes, no uint32 }

// rare is for what is seldom so.
var rare = skips{no: 5}

func (s *skips) chance() uint32 { return (s.yes*2 + 1) << 16 / (2*(s.yes+s.no) + 2) }

func (s *skips) count(skipped bool) {
	if skipped {
		s.yes++
	} else {
		s.no++
	}
	if s.yes+s.no > 1<<12 {
		s.yes, s.no = s.yes>>1, s.no>>1
	}
}

// A wire writes or reads the fields of a packet, so that one function has both ways. What it is
// given counts if it writes; what it gives counts if it reads.
type wire struct {
	enc codec.PacketEncoder
	dec codec.PacketDecoder
}

func (w wire) flag(v bool, one uint32) bool {
	if w.dec != nil {
		return w.dec.Flag(one)
	}
	w.enc.Flag(v, one)
	return v
}

func (w wire) bits(v uint32, n uint) uint32 {
	if w.dec != nil {
		return w.dec.Bits(n)
	}
	w.enc.Bits(v, n)
	return v
}

func (w wire) number(v uint32) uint32 {
	if w.dec != nil {
		return codec.GetNumber(w.dec)
	}
	codec.PutNumber(w.enc, v)
	return v
}

// gap is how many handles lie between one entity and the next.
func (w wire) gap(s *skips, gap uint32) uint32 {
	for n := range uint32(maxUnary) {
		more := w.flag(gap > n, s.chance())
		s.count(more)
		if !more {
			return n
		}
	}
	return maxUnary + w.number(gap-maxUnary)
}

// id is an identifier; None if what is read can be no other.
func (p *Protocol) id(w wire, id *world.ID) {
	class := w.bits(uint32(id.Class()), p.idBits)
	allocator := uint32(id.Allocator())
	if w.flag(allocator == 0, chanceHome) {
		allocator = 0
	} else {
		allocator = w.bits(allocator, 12)
	}
	index := w.number(uint32(id.Index()))
	generation := w.number(uint32(id.Generation()))
	if int(class) >= len(p.game.Classes()) || index > 1<<20 || generation > 1<<24 {
		*id = world.None
		return
	}
	*id = world.MakeID(int(class), int(allocator), int(index), int(generation))
}

// binding says which entity a handle stands for from now on.
func (p *Protocol) binding(w wire, tick uint32, n *News) {
	if p.commands >= 0 && w.flag(n.Player != world.Nobody, chanceCommand) {
		n.Player = world.Player(w.bits(uint32(n.Player), 16))
		n.Class = int32(p.commands)
		return
	}
	p.id(w, &n.ID)
	n.Class = int32(n.ID.Class())
	age := tick - uint32(n.Origin.Tick)
	if w.flag(n.Origin.By != world.None && age < 1<<originBits, chanceOrigin) {
		p.id(w, &n.Origin.By)
		n.Origin.Tick = world.Tick(tick - w.bits(age, originBits))
		n.Origin.Ordinal = uint16(w.number(uint32(n.Origin.Ordinal)))
	}
}

// event is what an unreliable event is known by, and how many bits its fields take.
func (p *Protocol) event(w wire, now world.Tick, e *world.Emitted, size uint32) uint32 {
	e.Kind = uint16(w.bits(uint32(e.Kind), p.kindBits))
	e.Tick = world.Tick(max(int64(now)-int64(int32(w.number(uint32(now-e.Tick)))), 0))
	e.Ordinal = uint16(w.number(uint32(e.Ordinal)))
	if w.flag(e.About != world.None, chanceBy) {
		p.id(w, &e.About)
	}
	if w.flag(e.By == e.About, chanceBy) {
		e.By = e.About
	} else if w.flag(e.By != world.None, chanceBy) {
		p.id(w, &e.By)
	}
	return w.number(size)
}

// near completes a number of which the lowest bits are known to the one that
// is nearest to another.
func near(low uint32, n uint, to uint32) uint32 {
	half := uint32(1) << (n - 1)
	d := (low - to) & (1<<n - 1)
	if d >= half {
		d -= 1 << n
	}
	return to + d
}

// imageSum is the hash of an image.
func imageSum(image []int32) uint64 {
	h := uint64(len(image))
	for _, v := range image {
		h = (h ^ uint64(uint32(v))) * hashFactor
		h ^= h >> 29
	}
	return h
}

const hashFactor = 0x9e3779b97f4a7c15

// mix adds what is said of an entity to the hash of a packet: the hash of its
// image, or 0 if it is gone.
func mix(h uint64, handle uint32, sum uint64) uint64 {
	h = (h ^ uint64(handle)) * hashFactor
	h ^= h >> 29
	h = (h ^ sum) * hashFactor
	return h ^ h>>29
}

func fold(h uint64) uint32 { return uint32(h>>40^h>>20) & (1<<hashBits - 1) }
