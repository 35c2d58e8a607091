package membership

import (
	"crypto/sha256"
	"encoding/binary"
)

// random draws from the seed: SHA-256 over a counter. It is not conn/seed's stream, for the pauses
// of members follow from it, and with them the figures of simulated runs.
type random struct {
	seed  [32]byte
	count uint64
	left  []byte
}

// Read makes it an io.Reader. It never fails.
func (r *random) Read(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if len(r.left) == 0 {
			r.count++
			block := sha256.Sum256(
				binary.BigEndian.AppendUint64(append([]byte("coeval membership 1"), r.seed[:]...),
					r.count))
			r.left = block[:]
		}
		k := copy(b, r.left)
		b, r.left = b[k:], r.left[k:]
	}
	return n, nil
}

func (r *random) Uint64() uint64 {
	var b [8]byte
	r.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}
