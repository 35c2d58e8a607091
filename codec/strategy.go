package codec

import "errors"

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
