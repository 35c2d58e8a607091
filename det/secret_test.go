package det

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"golang.org/x/crypto/chacha20"
)

// The rounds are those of ChaCha20: against another implementation with a key of 256 bits, and for
// keys of 128 bits against the vector of draft-strombergson-chacha-test-vectors.
func TestSecretIsChaCha20(t *testing.T) {
	rand := At(3, 3, 3)
	for range 50 {
		var key [32]byte
		var nonce [12]byte
		for i := range 4 {
			binary.LittleEndian.PutUint64(key[8*i:], rand.Uint64())
		}
		binary.LittleEndian.PutUint64(nonce[4:], rand.Uint64())
		c, err := chacha20.NewUnauthenticatedCipher(key[:], nonce[:])
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, 64)
		c.XORKeyStream(want, want)
		s := [16]uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}
		for i := range 8 {
			s[4+i] = binary.LittleEndian.Uint32(key[4*i:])
		}
		for i := range 3 {
			s[13+i] = binary.LittleEndian.Uint32(nonce[4*i:])
		}
		chachaBlock(&s)
		var got []byte
		for _, x := range s {
			got = binary.LittleEndian.AppendUint32(got, x)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%x, want %x", got, want)
		}
	}
	var got []byte
	for _, x := range chacha(0, 0, 0, 0) {
		got = binary.LittleEndian.AppendUint64(got, x)
	}
	if s := hex.EncodeToString(got[:16]); s != "89670952608364fd00b2f90936f031c8" {
		t.Errorf("a key of zeros gives %s", s)
	}
}

// A stream with a key can be entered anywhere, copied, and does not share numbers with others.
func TestKeyed(t *testing.T) {
	r := Keyed(1, 2, 3)
	again := r
	seen := map[uint64]bool{}
	for i := range uint64(100) {
		v := r.Uint64()
		if v != again.Nth(i) || v != again.Uint64() || seen[v] {
			t.Fatalf("number %d is %x", i, v)
		}
		seen[v] = true
	}
	for _, o := range []Rand{Keyed(2, 2, 3), Keyed(1, 3, 2), Keyed(1, 2, 4), At(1, 2, 3)} {
		for range 100 {
			if seen[o.Uint64()] {
				t.Fatal("two streams share a number")
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		k := Keyed(5, 6, 7)
		k.Normal()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkKeyed(b *testing.B) {
	r := Keyed(1, 2, 3)
	b.ReportAllocs()
	for b.Loop() {
		r.Uint64()
	}
}
