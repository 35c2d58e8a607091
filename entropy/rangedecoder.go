package entropy

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A Decoder takes a stream of an Encoder apart, given the same models in the same order. A corrupt
// stream gives wrong values within the bounds asked for, and sooner or later an error: check Err,
// and use no value without it. It never allocates. Call Reset before use.
type Decoder struct {
	// in the upper 32 bits the stream's distance above the interval's start; below it cnt bits
	// still to come
	dif  uint64
	rng  uint32 // size of the interval, as in the Encoder
	cnt  uint32 // at least wordBits between calls
	unit uint32 // size of one slot, between DecodeFreq and Advance
	pos  int    // bytes taken; passes len(data) while zeros stand in
	bad  bool
	data []byte
}

// Reset starts to decode the stream that is exactly data. The Decoder keeps data, and does not
// change it.
func (d *Decoder) Reset(data []byte) {
	*d = Decoder{rng: 1<<32 - 1, data: data}
	for range 3 {
		d.dif = d.dif<<wordBits | uint64(d.next())
	}
	d.dif <<= wordBits
	d.cnt = wordBits
}

// next takes one word, with zeros for what is missing.
func (d *Decoder) next() uint32 {
	p := d.pos
	d.pos = p + wordBits/8
	if b := d.data; uint(p)+1 < uint(len(b)) {
		return uint32(binary.BigEndian.Uint16(b[p:]))
	} else if p < len(b) {
		return uint32(b[p]) << 8
	}
	return 0
}

// DecodeFreq finds the slot, below 1<<totalBits, that the next symbol owns. The caller finds the
// symbol and its slots and must call Advance with them before anything else.
func (d *Decoder) DecodeFreq(totalBits uint) uint32 {
	d.unit = d.rng >> (totalBits & 31)
	return d.slot(1 << (totalBits & 31))
}

// slot is the slot of size unit in which the stream lies, below n. Slots beyond exist because sizes
// are rounded down; no encoder ends there.
func (d *Decoder) slot(n uint32) uint32 {
	if d.unit == 0 { // only after a symbol of frequency zero
		return 0
	}
	s := uint32(d.dif>>32) / d.unit
	if s >= n {
		d.bad = true
		s = n - 1
	}
	return s
}

// Advance goes past the symbol that owns the slots [cum, cum+freq), among which is the slot found
// by DecodeFreq.
func (d *Decoder) Advance(cum, freq uint32) {
	d.narrow(d.unit*cum, d.unit*freq)
}

// AdvanceBits is Advance for a symbol of EncodeFreqBits: it returns the n raw bits that follow it.
func (d *Decoder) AdvanceBits(cum, freq uint32, n uint) uint32 {
	off := d.unit * cum
	part := d.unit * freq >> (n & 31)
	if part < minPart {
		d.narrow(off, d.unit*freq)
		return uint32(d.DecodeBits(n))
	}
	v := (uint32(d.dif>>32) - off) / part
	if v>>n != 0 {
		d.bad = true
		v = 1<<n - 1
	}
	d.narrow(off+part*v, part)
	return v
}

func (d *Decoder) narrow(off, rng uint32) {
	n := uint32(bits.LeadingZeros32(rng))
	d.rng = rng << (n & 31)
	d.dif = (d.dif - uint64(off)<<32) << (n & 63)
	if d.cnt -= n; int32(d.cnt) < wordBits {
		d.dif |= uint64(d.next()) << ((wordBits - d.cnt) & 63)
		d.cnt += wordBits
	}
}

// DecodeBits is the other side of EncodeBits.
func (d *Decoder) DecodeBits(n uint) uint64 {
	var v uint64
	for n > 0 {
		k := min(n, wordBits)
		n -= k
		d.unit = d.rng >> k
		s := d.slot(1 << k)
		d.narrow(d.unit*s, d.unit)
		v = v<<k | uint64(s)
	}
	return v
}

// DecodeUniform is the other side of EncodeUniform; its result is always below n.
func (d *Decoder) DecodeUniform(n uint64) uint64 {
	shift := uniformShift(n)
	top := uint32((n-1)>>shift) + 1
	d.unit = d.rng / top
	s := d.slot(top)
	d.narrow(d.unit*s, d.unit)
	if shift == 0 {
		return uint64(s)
	}
	v := uint64(s)<<shift | d.DecodeBits(shift)
	if v >= n {
		d.bad = true
		return n - 1
	}
	return v
}

// DecodeChance is the other side of EncodeChance.
func (d *Decoder) DecodeChance(one uint32) bool {
	one = min(max(one, 1), 1<<16-1)
	bound := d.rng >> 16 * one
	if uint32(d.dif>>32) < bound {
		d.narrow(0, bound)
		return true
	}
	d.narrow(bound, d.rng-bound)
	return false
}

// used is the number of bits that the encoder had moved out of its window at this place.
func (d *Decoder) used() int { return d.pos*8 - 32 - int(d.cnt) }

// overrun tells whether more was taken than the stream can hold. Whole words are always sent; the
// rest of the last one may be implied.
func (d *Decoder) overrun() bool { return d.used()/wordBits*(wordBits/8) > len(d.data) }

// Err is not nil once the stream has shown itself to be corrupt or cut short: more was read from it
// than its bytes can hold. It may be asked as often as one likes; a loop whose length comes from
// the stream should ask in each round.
func (d *Decoder) Err() error {
	switch {
	case d.rng == 0:
		return errZeroFreq
	case d.bad:
		return fmt.Errorf("%w: impossible value before byte %d", ErrCorrupt, d.used()/8+1)
	case d.overrun():
		return fmt.Errorf("%w: it ends after %d bytes, but more were expected", ErrCorrupt,
			len(d.data))
	}
	return nil
}

// Finish is Err, and also an error when bytes are left over that the Encoder would not have sent.
// Call it after the last value.
func (d *Decoder) Finish() error {
	if err := d.Err(); err != nil {
		return err
	}
	if most := d.used()/8 + 1; len(d.data) > most {
		return fmt.Errorf("%w: %d bytes left over after %d", ErrCorrupt, len(d.data)-most, most)
	}
	return nil
}
