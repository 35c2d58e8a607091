package query

import (
	"crypto/sha256"
	"encoding/binary"
)

// nonces draws numbers that nobody guesses who does not know the seed.
type nonces struct {
	in   [32 + 8]byte
	left [4]uint64
	n    int
}

func newNonces(seed *[32]byte) (x nonces) {
	copy(x.in[:], seed[:])
	return x
}

func (x *nonces) draw() uint64 {
	if x.n == 0 {
		count := binary.BigEndian.Uint64(x.in[32:]) + 1
		binary.BigEndian.PutUint64(x.in[32:], count)
		sum := sha256.Sum256(x.in[:])
		for i := range x.left {
			x.left[i] = binary.BigEndian.Uint64(sum[8*i:])
		}
		x.n = len(x.left)
	}
	x.n--
	return x.left[x.n]
}
