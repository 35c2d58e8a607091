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
	ageBits    = 7 // how far back an acknowledged packet lies
	window     = 1<<ageBits - 1
	eventBits  = 6 // of the count of reliable messages with events
	earlyBits  = 8
	repeatBits = 8
	hashBits   = 12

	originBits = 8 // ticks since an entity was spawned

	span     = 40 // packets before the newest acknowledged one of which it is said whether they arrived
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

// putGap says how many handles lie between one entity and the next.
func putGap(enc codec.PacketEncoder, s *skips, gap uint32) {
	for range min(gap, maxUnary) {
		enc.Flag(true, s.chance())
		s.count(true)
	}
	if gap < maxUnary {
		enc.Flag(false, s.chance())
		s.count(false)
		return
	}
	codec.PutNumber(enc, gap-maxUnary)
}

func getGap(dec codec.PacketDecoder, s *skips) uint32 {
	for gap := range uint32(maxUnary) {
		skipped := dec.Flag(s.chance())
		s.count(skipped)
		if !skipped {
			return gap
		}
	}
	return maxUnary + codec.GetNumber(dec)
}

// putID writes an identifier.
func (p *Protocol) putID(enc codec.PacketEncoder, id world.ID) {
	enc.Bits(uint32(id.Class()), p.idBits)
	home := id.Allocator() == 0
	enc.Flag(home, chanceHome)
	if !home {
		enc.Bits(uint32(id.Allocator()), 12)
	}
	codec.PutNumber(enc, uint32(id.Index()))
	codec.PutNumber(enc, uint32(id.Generation()))
}

func (p *Protocol) getID(dec codec.PacketDecoder) world.ID {
	class := dec.Bits(p.idBits)
	allocator := uint32(0)
	if !dec.Flag(chanceHome) {
		allocator = dec.Bits(12)
	}
	index := codec.GetNumber(dec)
	generation := codec.GetNumber(dec)
	if int(class) >= len(p.game.Classes()) || index > 1<<20 || generation > 1<<24 {
		return world.None
	}
	return world.MakeID(int(class), int(allocator), int(index), int(generation))
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
