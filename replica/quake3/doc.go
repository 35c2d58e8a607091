// Package quake3 makes snapshots as Quake III Arena did, to compare with. A program that imports it
// has the strategy replica.Quake3.
//
// A snapshot is a difference from one of the last 32 that has arrived as a whole, as package frames
// has it after J.M.P. van Waveren's "The DOOM III network architecture" (2006). The changed fields
// are Huffman coded: package codec/quake3.
package quake3

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake3"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/replica/frames"
)

func init() {
	frames.Register(replica.Quake3, frames.Options{
		Back: 32,
		Codec: func(s *codec.Schema) (codec.Strategy, error) {
			return quake3.New(s, quake3.Options{})
		},
	})
}
