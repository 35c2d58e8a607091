// Package quake2 makes snapshots as Quake II did, to compare with. A program that imports it has
// the strategy replica.Quake2.
//
// There are key frames and delta frames: a frame is a difference from the last one that the client
// has acknowledged, or a whole one if that is too old. The Gamenet thesis tells so of Quake II,
// and package frames does it. The released source keeps 16 frames of a client, and gives up one
// that was acknowledged 13 frames ago or more (SV_WriteFrameToClient). Changed fields take whole
// bytes: package codec/quake.
//
// What differs: the thesis says that key frames are reliable. In the source every frame is
// unreliable, and one that is lost makes the next ones whole until an acknowledgement comes; that
// is done here. What comes into view is a difference from what its class starts with, and not from
// a baseline of its own.
package quake2

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/replica/frames"
)

func init() {
	frames.Register(replica.Quake2, frames.Options{
		Back:  12,
		Codec: func(s *codec.Schema) (codec.Strategy, error) { return quake.New(s) },
	})
}
