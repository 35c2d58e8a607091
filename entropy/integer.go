package entropy

import "math/bits"

// EncodeTree codes an n-bit number from its highest bit down, each bit in the context of those
// above it, which learns any distribution over 1<<n values. tree holds 1<<n models, of which the
// first is not used.
func (e *Encoder) EncodeTree(tree []Bit, v uint64, n uint) {
	node := uint64(1)
	for n > 0 {
		n--
		bit := v >> n & 1
		e.EncodeBit(&tree[node], bit != 0)
		node = node<<1 | bit
	}
}

// DecodeTree is the other side of EncodeTree.
func (d *Decoder) DecodeTree(tree []Bit, n uint) uint64 {
	node := uint64(1)
	for range n {
		node <<= 1
		if d.DecodeBit(&tree[node>>1]) {
			node |= 1
		}
	}
	return node - 1<<n
}

// EncodeUnary codes a number from 0 to len(models), one decision "is it more?" at a time, each with
// its own model. It suits small numbers whose size falls off quickly; the last decision is not
// needed at the limit.
func (e *Encoder) EncodeUnary(models []Bit, v int) {
	for i := range models {
		e.EncodeBit(&models[i], v > i)
		if v <= i {
			return
		}
	}
}

// DecodeUnary is the other side of EncodeUnary.
func (d *Decoder) DecodeUnary(models []Bit) int {
	for i := range models {
		if !d.DecodeBit(&models[i]) {
			return i
		}
	}
	return len(models)
}

// An Integer is an adaptive model of whole numbers of unknown size, mostly small: an exponential
// Golomb code whose every decision is learned. It learns the number of bits, whether the number is
// negative, and the two bits below the leading one; the rest is coded as it is. The zero value is
// ready. It takes about 3 kB.
type Integer struct {
	size   [64]Bit    // one decision for each bit of length
	sign   [3]Bit     // by whether the size is 1, 2 or more
	detail [65][4]Bit // by size: a tree of the two bits below the leading one
}

const detailBits = 2

// EncodeUint codes any number.
func (e *Encoder) EncodeUint(m *Integer, v uint64) {
	n := bits.Len64(v)
	e.EncodeUnary(m.size[:], n)
	if n < 2 {
		return
	}
	rest := uint(n - 1)
	k := min(rest, detailBits)
	rest -= k
	e.EncodeTree(m.detail[n][:], v>>rest&(1<<k-1), k)
	e.EncodeBits(v, rest)
}

// DecodeUint is the other side of EncodeUint.
func (d *Decoder) DecodeUint(m *Integer) uint64 {
	n := d.DecodeUnary(m.size[:])
	if n < 2 {
		return uint64(n)
	}
	rest := uint(n - 1)
	k := min(rest, detailBits)
	rest -= k
	v := 1<<k | d.DecodeTree(m.detail[n][:], k)
	return v<<rest | d.DecodeBits(rest)
}

// EncodeInt codes any number with its sign.
func (e *Encoder) EncodeInt(m *Integer, v int64) {
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	e.EncodeUint(m, u)
	if u != 0 {
		e.EncodeBit(&m.sign[min(bits.Len64(u), len(m.sign))-1], v < 0)
	}
}

// DecodeInt is the other side of EncodeInt.
func (d *Decoder) DecodeInt(m *Integer) int64 {
	u := d.DecodeUint(m)
	if u != 0 && d.DecodeBit(&m.sign[min(bits.Len64(u), len(m.sign))-1]) {
		u = -u
	}
	return int64(u)
}
