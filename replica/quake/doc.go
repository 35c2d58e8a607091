// Package quake makes snapshots as Quake did, to compare with. A program that imports it has the
// strategy replica.Quake.
//
// Every entity has a baseline: the image that it had when it came into the world. A client is told
// it once, reliably, before anything else of the entity. From then on unreliable updates hold all
// that is visible and differs from its baseline, as a difference from that; nothing is
// acknowledged, and nothing depends on what came before. J.M.P. van Waveren's "The DOOM III network
// architecture" (2006) tells of Quake no more than that it sends lists of entities to render; the
// rest is in the released source: SV_CreateBaseline, svc_spawnbaseline and
// SV_WriteEntitiesToClient. Changed fields take whole bytes: package codec/quake.
//
// What differs: in Quake an update names also what is as its baseline, and what an update does not
// name is not shown. A packet here may hold a part of the view, so that something is there, or
// gone, is said until the connection knows that it was heard. What is spawned while a game runs has
// a baseline of zeros in Quake, and one of its own here.
package quake

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake"
	"github.com/coeval-dev/coeval/replica"
)

func init() {
	replica.Register(replica.Quake, replica.Scheme{
		Codec:  func(m *codec.Model) (codec.Strategy, error) { return quake.New(m.Schema()) },
		Sender: func(s replica.SenderState) replica.SenderBases { return &sender{state: s} },
		Receiver: func(r replica.ReceiverState) replica.ReceiverBases {
			return &receiver{state: r}
		},
		Repeats: true, Frames: true, Lasting: true, Tail: 64,
	})
}

// countBits is how much of the count of messages a packet carries: enough for
// all that can be under way.
const countBits = 10
