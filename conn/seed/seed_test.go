package seed_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"testing"

	"github.com/coeval-dev/coeval/conn/seed"
)

// TestForget: a reader that has forgotten goes on with other bytes than one that has not, the same
// each time, and its state has nothing of the key before.
func TestForget(t *testing.T) {
	read := func(r *seed.Reader) (b [64]byte) {
		r.Read(b[:])
		return b
	}
	a, b, c := seed.New([32]byte{1}), seed.New([32]byte{1}), seed.New([32]byte{1})
	a.Forget()
	b.Forget()
	first, other := read(a), read(c)
	if first != read(b) || first == other || read(a) == first {
		t.Error("not a stream of its own")
	}
	var key, next [32]byte
	c = seed.New([32]byte{1})
	c.Read(key[:])
	copy(next[:], other[32:])
	if d := seed.New(key); first != read(d) || first == read(seed.New(next)) {
		t.Error("the key is not what was read last")
	}
}

// TestStream compares with AES-256 of the block of zeros under the key of zeros, which NIST's
// known answer tests have.
func TestStream(t *testing.T) {
	want, _ := hex.DecodeString("dc95c078a2408989ad48a21492842087")
	got := make([]byte, len(want))
	if _, err := io.ReadFull(seed.New([32]byte{}), got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, want %x (%v)", got, want, err)
	}
}

// TestPieces: how the bytes are asked for does not change them.
func TestPieces(t *testing.T) {
	whole := make([]byte, 1000)
	seed.New([32]byte{7}).Read(whole)
	r := seed.New([32]byte{7})
	for n := 0; len(whole) >= n+8; n++ {
		piece := bytes.Repeat([]byte{0xff}, n) // what was there before does not count
		r.Read(piece)
		if !bytes.Equal(piece, whole[:n]) {
			t.Fatalf("%d bytes differ", n)
		}
		whole = whole[n:]
		if got, want := r.Uint64(), binary.BigEndian.Uint64(whole); got != want {
			t.Fatalf("after %d bytes %x, want %x", n, got, want)
		}
		whole = whole[8:]
	}
}

func TestUnit(t *testing.T) {
	r := seed.New([32]byte{9})
	sum := 0.0
	for range 10_000 {
		v := r.Unit()
		if v < 0 || v >= 1 {
			t.Fatalf("%v is not in [0, 1)", v)
		}
		sum += v
	}
	if mean := sum / 10_000; mean < 0.49 || mean > 0.51 {
		t.Errorf("a mean of %v", mean)
	}
}

func TestAllocs(t *testing.T) {
	r := seed.New([32]byte{9})
	if n := testing.AllocsPerRun(100, func() { r.Uint64() }); n != 0 {
		t.Errorf("%v allocations for a number", n)
	}
}
