// Package quake3 makes snapshots as Quake III Arena did, to compare with. A program that imports it
// has the strategy replica.Quake3.
//
// It follows what J.M.P. van Waveren's "The DOOM III network architecture" (2006) says of Quake
// III. A snapshot is a difference from one earlier snapshot that has arrived as a whole. What is
// not in that one is sent in full, also if the client saw it before; what is in it and no longer in
// view is said to be gone, in every snapshot until one that says so has become the base.
//
// What differs: a snapshot may have several packets. Each can be decoded alone and is shown when it
// comes, but only a snapshot of which all packets came becomes a base. What a budget leaves out
// stays in a snapshot as it was in its base.
package quake3

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake3"
	"github.com/coeval-dev/coeval/replica"
)

func init() {
	replica.Register(replica.Quake3, replica.Scheme{
		Codec: func(m *codec.Model) (codec.Strategy, error) {
			return quake3.New(m.Schema(), quake3.Options{})
		},
		Sender: func(s replica.SenderState) replica.SenderBases { return newSender(s) },
		Receiver: func(r replica.ReceiverState) replica.ReceiverBases {
			return &receiver{state: r}
		},
		Repeats: true, Frames: true, Tail: 64,
	})
}

// maxBack is how many snapshots back a base may lie, as in Quake III.
const maxBack = 32

// The header of a packet, as docs/protocol.md has it.
const (
	countBits = 6 // of the count of messages
	ageBits   = 7 // how many packets before a snapshot's first its base's first lies
	window    = 1<<ageBits - 1
	partBits  = 12

	chanceBase    = 64500 // of 1<<16, that there is a base
	chanceCounted = 2500  // that messages were sent since the base
)
