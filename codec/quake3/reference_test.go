package quake3_test

import (
	mathbits "math/bits"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/entropy"
)

// A message is a second implementation, as plain as can be: one call for one thing that the
// original writes. It says what packets must look like, and counts the bytes that the Huffman code
// is made from.
type message struct {
	huffman *entropy.Huffman
	w       *bits.Writer
	counts  *[256]uint32 // nil where nobody wants to know
}

// number writes the bits that make no whole byte, then the bytes.
func (m *message) number(v uint32, width int) {
	for ; width%8 != 0; width-- {
		m.w.WriteBits(uint64(v&1), 1)
		v >>= 1
	}
	for ; width > 0; width -= 8 {
		if m.counts != nil {
			m.counts[v&255]++
		}
		m.huffman.WriteByteTo(m.w, byte(v))
		v >>= 8
	}
}

func (m *message) entity(fields []codec.Field, base, now []int32) {
	last := 0
	for i := range fields {
		if base[i] != now[i] {
			last = i + 1
		}
	}
	if last == 0 {
		m.number(0, 1)
		return
	}
	m.number(1, 1)
	m.number(uint32(last), 8)
	for i, f := range fields[:last] {
		if base[i] == now[i] {
			m.number(0, 1)
			continue
		}
		m.number(1, 1)
		zero := int64(0)
		if f.Kind == codec.Velocity {
			zero = (int64(f.Min) + int64(f.Max) + 1) / 2
		}
		zero = max(int64(f.Min), min(zero, int64(f.Max)))
		if int64(now[i]) == zero {
			m.number(0, 1)
			continue
		}
		m.number(1, 1)
		width := mathbits.Len64(uint64(int64(f.Max) - int64(f.Min)))
		if f.Kind != codec.Discrete && width == 32 {
			if d := int64(now[i]) - zero; d >= -4096 && d < 4096 {
				m.number(0, 1)
				m.number(uint32(d+4096), 13)
				continue
			}
			m.number(1, 1)
		}
		m.number(uint32(int64(now[i])-int64(f.Min)), width)
	}
}
