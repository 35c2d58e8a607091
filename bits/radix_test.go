package bits

import (
	"errors"
	"math/big"
	"math/bits"
	"testing"
)

// radix is arithmetic packing as simple as can be: the numbers are the digits of one large number,
// each with a base of its own. It takes the least bits there can be, rounded up once.
type radix struct {
	value, weight *big.Int
	err           error
}

func newRadix() *radix { return &radix{value: new(big.Int), weight: big.NewInt(1)} }

func (r *radix) EncodeUniform(v, n uint64) {
	if n < 1 || n > 1<<32 || v >= n {
		r.err = errors.New("not a number of the range")
	}
	x := new(big.Int).SetUint64(v)
	r.value.Add(r.value, x.Mul(x, r.weight))
	r.weight.Mul(r.weight, new(big.Int).SetUint64(n))
}

func (r *radix) DecodeUniform(n uint64) uint64 {
	if n < 1 || n > 1<<32 {
		r.err = errors.New("not a range")
	}
	v := new(big.Int)
	r.value.DivMod(r.value, new(big.Int).SetUint64(n), v)
	return v.Uint64()
}

func (r *radix) Err() error { return r.err }

// bits is how many bits the numbers took.
func (r *radix) bits() int { return new(big.Int).Sub(r.weight, big.NewInt(1)).BitLen() }

// fives has ten numbers of range 5.
type fives [10]int

func (f *fives) Sync(s *Sync) {
	for i := range f {
		s.Int(&f[i], -2, 2)
	}
}

// Ten numbers of range 5 are one of 9765625, which 24 bits hold; packed to whole bits each they
// take 30.
func TestUniformWastesNothing(t *testing.T) {
	v := fives{-2, -1, 0, 1, 2, 2, 1, 0, -1, -2}
	var s Sync
	w := NewWriter(make([]byte, 16))
	s.StartWrite(w)
	v.Sync(&s)
	r := newRadix()
	s.StartEncode(r)
	v.Sync(&s)
	if w.Len() != 30 || r.bits() != 24 || r.err != nil {
		t.Errorf("packed to %d bits, coded to %d (%v)", w.Len(), r.bits(), r.err)
	}
	var got fives
	s.StartDecode(r)
	got.Sync(&s)
	if got != v || s.Err() != nil || r.value.Sign() != 0 {
		t.Errorf("decoded to %v, error %v", got, s.Err())
	}
}

// Ranges of more than 32 bits waste nothing to speak of either.
func TestUniformWide(t *testing.T) {
	for _, most := range []uint64{
		0, 1, 1<<32 - 2, 1<<32 - 1, 1 << 32, 3 << 32, 1<<40 + 5, 1<<63 + 12345, 1<<64 - 1} {
		for _, v := range []uint64{0, most / 3, most / 2, most - most>>20, most} {
			r := newRadix()
			encodeUniform(r, v, most)
			if got := decodeUniform(r, most); got != v || r.err != nil {
				t.Errorf("%d of %d becomes %d (%v)", v, most, got, r.err)
			}
			least := new(big.Int).SetUint64(most).BitLen()
			if got := r.bits(); got > least+1 {
				t.Errorf("%d of %d takes %d bits, not %d", v, most, got, least)
			}
		}
	}
}

// A number with a digit more than it needs is refused, as in plain streams.
func TestUniformDigitsHaveOneForm(t *testing.T) {
	for digits, want := range map[uint64]error{1: nil, 2: ErrValue} {
		r := newRadix()
		r.EncodeUniform(digits-1, 16)
		r.EncodeUniform(5, 1<<(4*digits))
		var s Sync
		var v uint64
		s.StartDecode(r)
		s.Uvarint(&v)
		if !errors.Is(s.Err(), want) || v != 5 {
			t.Errorf("%d digits give %d, error %v", digits, v, s.Err())
		}
	}
}

// stream packs uniform numbers to whole bits, for tests that count allocations.
type stream struct {
	w Writer
	r Reader
}

func (s *stream) EncodeUniform(v, n uint64)     { s.w.WriteBits(v, width(n)) }
func (s *stream) DecodeUniform(n uint64) uint64 { return min(s.r.ReadBits(width(n)), n-1) }
func (s *stream) Err() error                    { return s.r.Err() }

func width(n uint64) int { return bits.Len64(n - 1) }
