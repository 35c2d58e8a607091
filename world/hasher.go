package world

import mathbits "math/bits"

// A hasher makes 64 bits of a sequence of words. It multiplies and folds, as wyhash does, which no
// machine does differently and which costs about a nanosecond for 16 bytes. It finds accidents, not
// forgers.
type hasher struct{ h uint64 }

const (
	hashA = 0x9E3779B97F4A7C15 // the golden ratio
	hashB = 0xC90FDAA22168C235 // pi
)

func newHasher(seed uint64) hasher { return hasher{fold(seed^hashA, hashB)} }

func fold(a, b uint64) uint64 {
	hi, lo := mathbits.Mul64(a, b)
	return hi ^ lo
}

func (h *hasher) word(v uint64) { h.h = fold(h.h^v, hashA) + v }

// pair takes two words for the price of one.
func (h *hasher) pair(v, w uint64) {
	h.h = fold(v^h.h^hashB, w^mathbits.RotateLeft64(h.h, 29)^hashA) + w
}

func (h *hasher) numbers(image []int32) {
	for ; len(image) >= 4; image = image[4:] {
		h.pair(uint64(uint32(image[0]))|uint64(uint32(image[1]))<<32,
			uint64(uint32(image[2]))|uint64(uint32(image[3]))<<32)
	}
	for _, v := range image {
		h.word(uint64(uint32(v)))
	}
}

func (h *hasher) text(s string) {
	h.word(uint64(len(s)))
	for len(s) > 0 {
		var v uint64
		n := min(len(s), 8)
		for i := range n {
			v |= uint64(s[i]) << (8 * i)
		}
		h.word(v)
		s = s[n:]
	}
}

func (h *hasher) sum() uint64 { return fold(h.h^hashB, hashA) }
