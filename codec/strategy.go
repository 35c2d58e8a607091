package codec

import (
	"errors"
	"math/bits"
)

// A Strategy is a way to turn entities into packets. The package's own is
// made by Model.Strategy; codec/raw, codec/quake3 and codec/doom3 hold others
// for comparison. All see the same entities and histories, and all make
// packets that can be decoded alone.
type Strategy interface {
	Name() string
	NewEncoder() PacketEncoder
	NewDecoder() PacketDecoder
}

// PacketEncoder fills packets with entities, one packet after another.
type PacketEncoder interface {
	// Begin starts a packet that may take all of buf.
	Begin(buf []byte)
	// Put adds an entity: whether it differs from its base and, if so, how. It
	// reports false, and leaves the packet as it was, if the packet is full.
	Put(class int, h *History, now []int32) bool
	// Refer makes an entity, which must have been put into this packet, the
	// reference of those put after it. h and now must stay as they are until
	// the packet is finished.
	Refer(class int, h *History, now []int32)
	// Bits adds what goes along with entities, such as which they are: the
	// lowest n bits of v, at most 32. Whether it fits is known by Full.
	Bits(v uint32, n uint)
	// Flag adds one bit that is expected to be set with a chance of one in
	// 1<<16. A coder that knows nothing of chances spends a bit on it.
	Flag(bit bool, one uint32)
	// Full reports whether more was added by Bits and Flag than fits.
	Full() bool
	// Mark remembers the present place, and Rewind takes back what was added
	// since, so that an entity goes with what was said about it or not at all.
	Mark()
	Rewind()
	// Spent is how many bits have been added so far, for a ledger.
	Spent() float64
	// Finish ends the packet and returns it.
	Finish() ([]byte, error)
}

// PacketDecoder reads the packets of the matching encoder.
type PacketDecoder interface {
	// Begin starts to read a packet.
	Begin(packet []byte)
	// Get reads the next entity into now and reports whether it differs from
	// its base.
	Get(class int, h *History, now []int32) (changed bool, err error)
	// Refer makes an entity that was read the reference of those read after it.
	Refer(class int, h *History, now []int32)
	// Bits reads what the encoder's Bits added. Errors are those of Err.
	Bits(n uint) uint32
	// Flag reads what the encoder's Flag added, given the same chance.
	Flag(one uint32) bool
	// Err reports what was wrong with the packet so far.
	Err() error
	// Finish checks that the packet ended where its last entity did.
	Finish() error
}

// Strategy is the coding of this package under the model.
func (m *Model) Strategy() Strategy { return modelStrategy{m} }

type modelStrategy struct{ m *Model }

func (s modelStrategy) Name() string              { return "coeval" }
func (s modelStrategy) NewEncoder() PacketEncoder { return NewEncoder(s.m) }
func (s modelStrategy) NewDecoder() PacketDecoder { return NewDecoder(s.m) }

// ErrFull is for callers of Put to say that a packet cannot hold even one
// entity of its kind.
var ErrFull = errors.New("codec: an entity does not fit into a packet")

// PutNumber adds a number of any size to a packet, small ones in fewer bits: how many
// bits it has, and those but the first.
func PutNumber(enc PacketEncoder, v uint32) {
	n := uint(bits.Len32(v))
	enc.Bits(uint32(n), 6)
	if n > 1 {
		enc.Bits(v&(1<<(n-1)-1), n-1)
	}
}

// GetNumber reads what PutNumber wrote.
func GetNumber(dec PacketDecoder) uint32 {
	n := uint(min(dec.Bits(6), 32))
	if n < 2 {
		return uint32(n)
	}
	return 1<<(n-1) | dec.Bits(n-1)
}
