package doom3

import (
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
)

// The string of what is in view, as the paper has it: a bit for each of 4096 entities, in pieces of
// 32 of which only those are sent that differ. Where there are more entities it is longer.
const (
	piece      = 32
	leastWords = 4096 / piece
	mostWords  = 1 << 13 // as many handles as a client knows

	chanceChanged = 2000  // of 1<<16, that a piece differs
	chanceBased   = 64500 // that there is a string to differ from
	chanceLonger  = 100
	baseBits      = 8
)

// sentViews are the strings of the latest packets, at the server.
type sentViews struct {
	ring    [keep][]uint32
	handles []int32
	base    uint32 // the newest packet that is known to have arrived
	based   bool   // there is one
	floor   uint32 // what was sent before this one is not to be relied on
}

// put writes what is in view, for a packet.
func (v *sentViews) put(enc codec.PacketEncoder, s replica.SenderState, packet uint32) {
	v.handles = s.InView(v.handles[:0])
	now := slices.Grow(v.ring[packet%keep][:0], leastWords)
	for len(now) < leastWords {
		now = append(now, 0)
	}
	for _, h := range v.handles {
		for int(h)/piece >= len(now) {
			now = append(now, 0)
		}
		now[h/piece] |= 1 << (h % piece)
	}
	v.ring[packet%keep] = now
	enc.Flag(len(now) > leastWords, chanceLonger)
	if len(now) > leastWords {
		codec.PutNumber(enc, uint32(len(now)))
	}
	var before []uint32
	based := v.based && packet-v.base < window
	if enc.Flag(based, chanceBased); based {
		enc.Bits(packet-v.base, baseBits)
		before = v.ring[v.base%keep]
	}
	for i, w := range now {
		was := uint32(0)
		if i < len(before) {
			was = before[i]
		}
		enc.Flag(w != was, chanceChanged)
		if w != was {
			enc.Bits(w, piece)
		}
	}
}

// landed makes the string of a packet that arrived the base.
func (v *sentViews) landed(packet uint32) {
	if int32(packet-v.floor) >= 0 && (!v.based || int32(packet-v.base) > 0) {
		v.base, v.based = packet, true
	}
}

// rejected gives up the base: what came is not known.
func (v *sentViews) rejected(packet uint32) {
	if int32(packet-v.floor) >= 0 {
		v.based, v.floor = false, packet+1
	}
}

// gotViews are the strings of the latest packets, at a client.
type gotViews struct {
	ring [keep]gotView
	now  []uint32 // of the packet that is read
}

type gotView struct {
	there  bool
	packet uint32
	words  []uint32
}

// get reads what is in view.
func (v *gotViews) get(dec codec.PacketDecoder, p *replica.Arrived) error {
	n := uint32(leastWords)
	if dec.Flag(chanceLonger) {
		n = codec.GetNumber(dec)
	}
	var before []uint32
	if dec.Flag(chanceBased) {
		from := p.Packet - dec.Bits(baseBits)
		g := &v.ring[from%keep]
		if dec.Err() != nil || from == p.Packet {
			return replica.ErrPacket
		}
		if !g.there || g.packet != from {
			return replica.ErrBase
		}
		before = g.words
	}
	if dec.Err() != nil || n > mostWords {
		return replica.ErrPacket
	}
	v.now = v.now[:0]
	for i := range int(n) {
		w := uint32(0)
		if i < len(before) {
			w = before[i]
		}
		if dec.Flag(chanceChanged) {
			w = dec.Bits(piece)
		}
		v.now = append(v.now, w)
	}
	if dec.Err() != nil {
		return replica.ErrPacket
	}
	p.InView = v.now
	return nil
}

// keep keeps the string of a packet that could be used.
func (v *gotViews) keep(p *replica.Arrived) {
	g := &v.ring[p.Packet%keep]
	g.there, g.packet, g.words = true, p.Packet, append(g.words[:0], p.InView...)
}
