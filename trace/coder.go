package trace

import "github.com/coeval-dev/coeval/entropy"

// A coder writes and reads inputs by the same calls: what it is given when it writes it gives back
// when it reads. So the two sides of the format are one function, and cannot come apart.
type coder struct {
	reading bool
	enc     entropy.Encoder
	dec     entropy.Decoder
	bad     bool // what was read makes no sense
}

func (c *coder) failed() bool { return c.bad || c.reading && c.dec.Err() != nil }

func (c *coder) bit(m *entropy.Bit, v bool) bool {
	if c.reading {
		return c.dec.DecodeBit(m)
	}
	c.enc.EncodeBit(m, v)
	return v
}

func (c *coder) uint(m *entropy.Integer, v uint64) uint64 {
	if c.reading {
		return c.dec.DecodeUint(m)
	}
	c.enc.EncodeUint(m, v)
	return v
}

func (c *coder) int(m *entropy.Integer, v int64) int64 {
	if c.reading {
		return c.dec.DecodeInt(m)
	}
	c.enc.EncodeInt(m, v)
	return v
}

func (c *coder) tree(m []entropy.Bit, v uint64, n uint) uint64 {
	if c.reading {
		return c.dec.DecodeTree(m, n)
	}
	c.enc.EncodeTree(m, v, n)
	return v
}

func (c *coder) raw(v uint64, n uint) uint64 {
	if c.reading {
		return c.dec.DecodeBits(n)
	}
	c.enc.EncodeBits(v, n)
	return v
}
