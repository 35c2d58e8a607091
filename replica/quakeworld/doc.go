// Package quakeworld makes snapshots as QuakeWorld did, to compare with. A program that imports it
// has the strategy replica.QuakeWorld.
//
// A snapshot is a difference from the one that the client has acknowledged last. By the released
// source a server keeps 64 of them (UPDATE_BACKUP), and sends whole ones when an acknowledgement is
// older than that (SV_EmitPacketEntities). Package frames does it. Changed fields take whole bytes:
// package codec/quake.
//
// What differs: QuakeWorld sends players in a message of their own, whole each time. Here they are
// entities like any other.
package quakeworld

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/replica/frames"
)

func init() {
	frames.Register(replica.QuakeWorld, frames.Options{
		Back:  frames.MaxBack,
		Codec: func(s *codec.Schema) (codec.Strategy, error) { return quake.New(s) },
	})
}
