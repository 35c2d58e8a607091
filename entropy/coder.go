package entropy

import (
	"encoding/binary"
	"fmt"
	mathbits "math/bits"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// A Coder makes bytes shorter and brings them back: the one interface of everything here that works
// on whole messages. ZeroRuns, Huffman, AdaptiveHuffman and Adaptive are Coders. Messages are
// independent of each other, so any of them may get lost. Decoding gives exactly what was encoded,
// for any message.
type Coder interface {
	// Encode appends the coded form of src to dst.
	Encode(dst, src []byte) []byte
	// Decode appends to dst what src was made of. A message that is corrupt, or longer than limit
	// bytes, is an error, and dst comes back as it was.
	Decode(dst, src []byte, limit int) ([]byte, error)
}

// Each coded message starts with the length of the original as a varint, since the last byte of
// coded bits may hold more symbols than meant.

// cutLength takes the length off src.
func cutLength(src []byte, limit int) (n int, rest []byte, err error) {
	v, k := binary.Uvarint(src)
	switch {
	case k <= 0 || k != uvarintLen(v):
		return 0, nil, fmt.Errorf("%w: no length at its start", ErrCorrupt)
	case limit < 0 || v > uint64(limit):
		return 0, nil,
			fmt.Errorf("%w: its length of %d is above the limit of %d", ErrCorrupt, v, limit)
	}
	return int(v), src[k:], nil
}

func uvarintLen(v uint64) int { return (mathbits.Len64(v|1) + 6) / 7 }

// room makes space for size more bytes after dst, and returns both.
func room(dst []byte, size int) (grown, space []byte) {
	dst = slices.Grow(dst, size)
	return dst, dst[len(dst) : len(dst)+size]
}

// finish checks that a bit Reader came to the end of its message in order.
func finish(r *bits.Reader) error {
	if err := r.Finish(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// The range coder also serves package bits, whose fields then waste no part of a bit.
var (
	_ bits.UniformEncoder = (*Encoder)(nil)
	_ bits.UniformDecoder = (*Decoder)(nil)
)
