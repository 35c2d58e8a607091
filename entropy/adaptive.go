package entropy

import (
	"encoding/binary"
	"fmt"
)

// Adaptive is the range coder with models that learn from the message itself, as a Coder. Each bit
// of a byte is predicted from those above it and from whether the byte before was zero. It takes
// longer than the others and gets closest to the entropy. The zero value is ready.
type Adaptive struct{}

// byteModels predicts a byte, by whether the one before was zero.
type byteModels [2][256]Bit

// limitOfBytes lets models of messages of a few hundred bytes keep adapting.
const limitOfBytes = 60

func (m *byteModels) reset() {
	for i := range m {
		for j := range m[i] {
			m[i][j] = Bit{Limit: limitOfBytes}
		}
	}
}

func after(b byte) int {
	if b == 0 {
		return 0
	}
	return 1
}

// Encode appends the coded form of src to dst.
func (Adaptive) Encode(dst, src []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	size := len(src) + len(src)/8 + 16
	for {
		var m byteModels
		m.reset()
		dst, space := room(dst, size)
		var e Encoder
		e.Reset(space)
		last := byte(0)
		for _, b := range src {
			e.EncodeTree(m[after(last)][:], uint64(b), 8)
			last = b
		}
		if out, err := e.Finish(); err == nil {
			return dst[:len(dst)+len(out)]
		}
		size = e.Len() // the models mispredicted; now the size is known
	}
}

// Decode appends to dst what src was made of.
func (Adaptive) Decode(dst, src []byte, limit int) ([]byte, error) {
	n, src, err := cutLength(src, limit)
	if err != nil {
		return dst, err
	}
	// A byte takes at least 8 decisions at the highest chance of 65535 in 65536.
	if most := (uint64(len(src)) + 4) * 8 * 65536 / 8; uint64(n) > most {
		return dst, fmt.Errorf("%w: %d bytes cannot hold %d", ErrCorrupt, len(src), n)
	}
	var m byteModels
	m.reset()
	var d Decoder
	d.Reset(src)
	out := dst
	last := byte(0)
	for range n {
		last = byte(d.DecodeTree(m[after(last)][:], 8))
		if d.overrun() {
			break
		}
		out = append(out, last)
	}
	if err := d.Finish(); err != nil {
		return dst, err
	}
	return out, nil
}
