// Package frames is what Quake II, QuakeWorld and Quake III have in common: a snapshot is a
// difference from one earlier snapshot that has arrived as a whole, and a whole one itself where
// there is none that is recent enough. The three differ in how far back that may lie, and in how
// images are coded: packages replica/quake2, replica/quakeworld and replica/quake3 say so to
// Register.
//
// It follows what J.M.P. van Waveren's "The DOOM III network architecture" (2006) says of Quake
// III. What is not in the base is sent in full, also if the client saw it before; what is in it and
// no longer in view is said to be gone, in every snapshot until one that says so has become the
// base.
//
// What differs: a snapshot may have several packets. Each can be decoded alone and is shown when it
// comes, but only a snapshot of which all packets came becomes a base. What a budget leaves out
// stays in a snapshot as it was in its base. A client's own player, for which these games have a
// block of its own in each snapshot, is an entity like any other.
package frames

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
)

// Options are what these games differ in.
type Options struct {
	// Back is how many snapshots back a base may lie, at most MaxBack.
	Back uint32
	// Codec is how images are coded.
	Codec func(s *codec.Schema) (codec.Strategy, error)
}

// MaxBack is the most that Options.Back may be: QuakeWorld's.
const MaxBack = 64

// Register makes a strategy part of the program.
func Register(s replica.Strategy, o Options) {
	replica.Register(s, replica.Scheme{
		Codec:  func(m *codec.Model) (codec.Strategy, error) { return o.Codec(m.Schema()) },
		Sender: func(s replica.SenderState) replica.SenderBases { return newSender(s, o.Back) },
		Receiver: func(r replica.ReceiverState) replica.ReceiverBases {
			return newReceiver(r, o.Back)
		},
		Repeats: true, Frames: true, Tail: 64,
	})
}

// The header of a packet, as docs/protocol.md has it.
const (
	countBits = 6 // of the count of messages
	ageBits   = 7 // how many packets before a snapshot's first its base's first lies
	window    = 1<<ageBits - 1
	partBits  = 12

	chanceBase    = 64500 // of 1<<16, that there is a base
	chanceCounted = 2500  // that messages were sent since the base
)
