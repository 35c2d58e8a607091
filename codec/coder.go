package codec

import (
	"math/bits"

	"github.com/coeval-dev/coeval/entropy"
)

// coder walks the program of a class once for every entity. The same walk
// encodes, decodes and, in training, counts: only the functions of this file
// know which. Exactly one of enc, dec and count is set.
type coder struct {
	model *Model
	enc   *entropy.Encoder
	dec   *entropy.Decoder
	count *counter
	tape  *Tape // notes what is encoded, if set

	facts    [maxFacts]uint8
	features [maxFeatures]int64
	logs     [maxLogs]int64
	turns    [maxTurns]vector // features of rotations
	guess    [MaxFields]int32 // what the game reckons

	ages    [Depth]int32 // of the last history, from which the next three follow
	agesLen int
	gap     int64            // age of the base
	ratios  [Depth - 1]int64 // gap over the time between images, in 1/256
	ref     reference
	watch   [3]int64 // what the parts of the last rotation missed by, for training
}

// symbol codes one symbol of a distribution.
func (c *coder) symbol(t *table, s int) int {
	switch {
	case c.enc != nil:
		lo := uint32(t.cum[s])
		freq := uint32(t.cum[s+1]) - lo
		c.enc.EncodeFreq(lo, freq, tableBits)
		if c.tape != nil {
			c.tape.note(formFreq, lo, freq, 0, 0)
		}
	case c.dec != nil:
		slot := uint16(c.dec.DecodeFreq(tableBits))
		s = t.find(slot)
		lo := uint32(t.cum[s])
		c.dec.Advance(lo, uint32(t.cum[s+1])-lo)
	default:
		c.count.add(t, s)
	}
	return s
}

// find is the symbol that owns the slot.
func (t *table) find(slot uint16) int {
	s := 0
	for step := tableSize / 2; step > 0; step >>= 1 {
		if t.cum[s+step] <= slot {
			s += step
		}
	}
	return s
}

// raw codes n bits, at most 32, that nothing is known about.
func (c *coder) raw(v uint32, n uint) uint32 {
	if n == 0 {
		return 0
	}
	switch {
	case c.enc != nil:
		c.enc.EncodeBits(uint64(v), n)
		if c.tape != nil {
			c.tape.note(formBits, 0, 0, v, n)
		}
	case c.dec != nil:
		v = uint32(c.dec.DecodeBits(n))
	default:
		c.count.bits += float64(n)
	}
	return v
}

// gamma codes a number of any size, small ones in fewer bits.
func (c *coder) gamma(v uint32) uint32 {
	n := uint(bits.Len32(v))
	n = uint(c.raw(uint32(n), 6))
	if n <= 1 {
		return uint32(n)
	}
	n = min(n, 32)
	top := uint32(1) << (n - 1)
	return top + c.raw(v-top, n-1)
}
