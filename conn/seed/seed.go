package seed

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// Reader is an endless stream of random bytes. It belongs to one goroutine.
type Reader struct {
	stream cipher.Stream
	word   [8]byte // here, so that handing it to the cipher does not allocate
}

// New makes the stream of a seed.
func New(seed [32]byte) *Reader {
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		panic("seed: " + err.Error()) // 32 bytes are always a key
	}
	return &Reader{stream: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
}

// Read fills b. It never fails.
func (r *Reader) Read(b []byte) (int, error) {
	clear(b)
	r.stream.XORKeyStream(b, b)
	return len(b), nil
}

// Forget makes the reader go on with a key that it draws from itself, so that whoever learns its
// state later cannot compute what it gave before.
func (r *Reader) Forget() {
	var key [32]byte
	r.Read(key[:])
	*r = *New(key)
}

// Uint64 is uniform among all numbers of 64 bits.
func (r *Reader) Uint64() uint64 {
	r.Read(r.word[:])
	return binary.BigEndian.Uint64(r.word[:])
}

// Unit is uniform in [0, 1).
func (r *Reader) Unit() float64 { return float64(r.Uint64()>>11) / (1 << 53) }
