package entropy

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A step is one thing coded, with enough to decode and compare it.
type step struct {
	kind int
	a, b uint64
	tail uint64 // number and value of raw bits behind a symbol
}

// models is the adaptive state that both sides keep.
type models struct {
	bit   Bit
	slow  Bit
	tree  [16]Bit
	unary [5]Bit
	num   Integer
}

func (s step) encode(e *Encoder, m *models) {
	switch s.kind {
	case 0:
		e.EncodeFreq(uint32(s.a), uint32(s.b>>8), uint(s.b&255))
	case 1:
		e.EncodeBits(s.a, uint(s.b))
	case 2:
		e.EncodeUniform(s.a, s.b)
	case 3:
		e.EncodeChance(s.a != 0, uint32(s.b))
	case 4:
		e.EncodeBit(&m.bit, s.a != 0)
	case 5:
		e.EncodeTree(m.tree[:], s.a, 4)
	case 6:
		e.EncodeUnary(m.unary[:], int(s.a))
	case 7:
		e.EncodeInt(&m.num, int64(s.a))
	case 8:
		e.EncodeBit(&m.slow, s.a != 0)
	case 9:
		e.EncodeFreqBits(uint32(s.a), uint32(s.b>>8), uint(s.b&255), uint32(s.tail),
			uint(s.tail>>32))
	}
}

// check decodes and says whether the step came back.
func (s step) check(d *Decoder, m *models) bool {
	switch s.kind {
	case 0:
		cum, freq := uint32(s.a), uint32(s.b>>8)
		slot := d.DecodeFreq(uint(s.b & 255))
		d.Advance(cum, freq)
		return slot >= cum && slot < cum+freq
	case 1:
		return d.DecodeBits(uint(s.b)) == s.a
	case 2:
		return d.DecodeUniform(s.b) == s.a
	case 3:
		return d.DecodeChance(uint32(s.b)) == (s.a != 0)
	case 4:
		return d.DecodeBit(&m.bit) == (s.a != 0)
	case 5:
		return d.DecodeTree(m.tree[:], 4) == s.a
	case 6:
		return d.DecodeUnary(m.unary[:]) == int(s.a)
	case 7:
		return d.DecodeInt(&m.num) == int64(s.a)
	case 9:
		cum, freq, n := uint32(s.a), uint32(s.b>>8), uint(s.tail>>32)
		slot := d.DecodeFreq(uint(s.b & 255))
		return slot >= cum && slot < cum+freq && d.AdvanceBits(cum, freq, n) == uint32(s.tail)
	}
	return d.DecodeBit(&m.slow) == (s.a != 0)
}

var drawStep = rapid.Custom(func(t *rapid.T) step {
	s := step{kind: rapid.IntRange(0, 9).Draw(t, "kind")}
	switch s.kind {
	case 0, 9:
		if s.kind == 9 {
			n := rapid.Uint64Range(0, MaxTail).Draw(t, "tail bits")
			s.tail = n<<32 | rapid.Uint64Range(0, 1<<n-1).Draw(t, "tail")
		}
		total := rapid.Uint64Range(0, MaxFreqBits).Draw(t, "total")
		s.a = rapid.Uint64Range(0, 1<<total-1).Draw(t, "cum")
		s.b = rapid.OneOf(rapid.Just(uint64(1)), rapid.Uint64Range(1, 1<<total-s.a)).Draw(t,
			"freq")<<8 | total
	case 1:
		s.b = rapid.Uint64Range(0, 64).Draw(t, "n")
		s.a = rapid.Uint64().Draw(t, "v") & (1<<s.b - 1)
	case 2:
		s.b = rapid.OneOf(rapid.Uint64Range(1, 300), rapid.Uint64Range(1, 1<<32),
			rapid.Just(uint64(1<<32)),
			rapid.Uint64Range(65500, 65600)).Draw(t, "n")
		s.a = rapid.OneOf(rapid.Uint64Range(0, s.b-1), rapid.Just(s.b-1)).Draw(t, "v")
	case 3:
		s.b = rapid.Uint64Range(0, 1<<16).Draw(t, "chance")
		s.a = rapid.Uint64Range(0, 1).Draw(t, "bit")
	case 5:
		s.a = rapid.Uint64Range(0, 15).Draw(t, "v")
	case 6:
		s.a = rapid.Uint64Range(0, 5).Draw(t, "v")
	case 7:
		s.a = rapid.OneOf(rapid.Uint64(), rapid.Just(uint64(1<<63)),
			rapid.Uint64Range(0, 3)).Draw(t, "v")
	default:
		s.a = rapid.Uint64Range(0, 1).Draw(t, "bit")
	}
	return s
})

func TestRangeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOf(drawStep).Draw(t, "steps")
		buf := make([]byte, 20*len(steps)+16)
		var e Encoder
		var em, dm models
		em.slow.Limit, dm.slow.Limit = MaxLimit, MaxLimit
		e.Reset(buf)
		for _, s := range steps {
			s.encode(&e, &em)
		}
		size := e.Len()
		out, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if len(out) != size {
			t.Fatalf("Len said %d, Finish gave %d", size, len(out))
		}
		if again, _ := e.Finish(); !bytes.Equal(again, out) {
			t.Fatal("Finish is not repeatable")
		}
		var d Decoder
		d.Reset(out)
		for i, s := range steps {
			if !s.check(&d, &dm) {
				t.Fatalf("step %d did not come back: %+v", i, s)
			}
			if d.Err() != nil {
				t.Fatalf("step %d: %v", i, d.Err())
			}
		}
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}

// Streams must survive a fence after each: what is behind a mark is as if it had never been, and a
// limit is exact.
func TestRangeRewind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.SliceOfN(drawStep, 0, 40).Draw(t, "keep")
		var want, e Encoder
		var wm models
		want.Reset(make([]byte, 4096))
		for _, s := range keep {
			s.encode(&want, &wm)
		}
		plain, err := want.Finish()
		if err != nil {
			t.Fatal(err)
		}
		var m models
		buf := make([]byte, len(plain))
		e.Reset(buf)
		for _, s := range keep {
			mark, saved := e.Mark(), m
			for _, s := range rapid.SliceOfN(drawStep, 0, 10).Draw(t, "drop") {
				s.encode(&e, &m)
			}
			if rapid.Bool().Draw(t, "finish") {
				_, err := e.Finish()
				if e.Fits() != (e.Len() <= len(buf)) {
					t.Fatalf("Fits says %v with %d bytes of %d", e.Fits(), e.Len(), len(buf))
				}
				if (err != nil) != (e.Len() > len(buf)) || err != nil &&
					!errors.Is(err, ErrOverflow) {
					t.Fatalf("length %d of %d: %v", e.Len(), len(buf), err)
				}
			}
			e.Rewind(mark)
			m = saved
			s.encode(&e, &m)
		}
		got, err := e.Finish()
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%x (%v), without the detour %x", got, err, plain)
		}
		if len(buf) > 0 {
			e.buf = buf[:len(buf)-1]
			if _, err := e.Finish(); !errors.Is(err, ErrOverflow) {
				t.Fatalf("one byte less than needed: %v", err)
			}
		}
	})
}

// Carries must run through long rows of ones that are held back.
func TestRangeCarry(t *testing.T) {
	for rows := range 9 {
		for _, last := range []uint64{0, 1, 2} {
			var e Encoder
			e.Reset(make([]byte, 64))
			e.EncodeUniform(1, 3)
			m := e.Mark()
			// Fill with the largest digits: the interval's start approaches a power of two from
			// below.
			for range rows {
				e.EncodeBits(1<<16-1, 16)
			}
			e.EncodeUniform(last, 3)
			e.EncodeFreq(1<<16-1, 1, 16)
			e.EncodeBits(1<<40-1, 40)
			out, err := e.Finish()
			if err != nil {
				t.Fatal(err)
			}
			var d Decoder
			d.Reset(out)
			ok := d.DecodeUniform(3) == 1
			for range rows {
				ok = ok && d.DecodeBits(16) == 1<<16-1
			}
			ok = ok && d.DecodeUniform(3) == last && d.DecodeFreq(16) == 1<<16-1
			d.Advance(1<<16-1, 1)
			if !ok || d.DecodeBits(40) != 1<<40-1 || d.Finish() != nil {
				t.Fatalf("%d rows, last %d: %x", rows, last, out)
			}
			e.Rewind(m)
		}
	}
}

// What a stream takes must be what its probabilities say, to the byte.
func TestRangeCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			s := drawStep.Draw(t, "step")
			if s.kind > 3 {
				s = step{kind: 1, a: 5, b: 3}
			}
			return s
		}), 0, 300).Draw(t, "steps")
		want := 0.0
		var e Encoder
		e.Reset(make([]byte, 1<<14))
		for _, s := range steps {
			switch s.kind {
			case 0:
				want += float64(s.b&255) - math.Log2(float64(s.b>>8))
			case 1:
				want += float64(s.b)
			case 2:
				want += math.Log2(float64(s.b))
			case 3:
				c := float64(min(max(s.b, 1), 1<<16-1)) / (1 << 16)
				if s.a == 0 {
					c = 1 - c
				}
				want -= math.Log2(c)
			}
			s.encode(&e, nil)
		}
		// Rounding of the interval costs at most 2/65536 bits a step; finishing less than nine
		// bits.
		slack := float64(len(steps)) * 10 / 65536
		if got := float64(e.Len() * 8); got > want+slack+9 {
			t.Fatalf("%v bits for %v bits of information", got, want)
		}
		// What rounding leaves over belongs to the zeros of EncodeChance, which may then cost less
		// than they should.
		if got := e.Bits(); got > want+slack+0.1 {
			t.Fatalf("Bits says %v, the probabilities %v", got, want)
		}
		if got := e.Bits() - float64(e.Len()*8); got < -9 || got > 17 {
			t.Fatalf("Bits says %v, but there are %d bytes", e.Bits(), e.Len())
		}
	})
}

func TestRangeEmptyAndTiny(t *testing.T) {
	var e Encoder
	e.Reset(nil)
	if out, err := e.Finish(); err != nil || len(out) != 0 {
		t.Fatalf("an empty stream is %x, %v", out, err)
	}
	// A packet in which nothing surprising happens costs nothing or next to it.
	e.Reset(make([]byte, 8))
	for range 100 {
		e.EncodeChance(false, 20)
	}
	if e.Len() > 1 {
		t.Fatalf("100 near-certain decisions take %d bytes", e.Len())
	}
}

func TestRangeZeroFrequency(t *testing.T) {
	var e Encoder
	e.Reset(make([]byte, 100))
	e.EncodeFreq(5, 0, 8)
	for range 100 {
		e.EncodeBits(77, 16)
	}
	if _, err := e.Finish(); !errors.Is(err, errZeroFreq) {
		t.Fatal(err)
	}
	var d Decoder
	d.Reset([]byte{1, 2, 3})
	d.DecodeFreq(8)
	d.Advance(5, 0)
	d.DecodeBits(64)
	d.DecodeFreq(15)
	d.Advance(0, 1)
	d.DecodeUniform(1 << 32)
	if !errors.Is(d.Err(), errZeroFreq) {
		t.Fatal(d.Err())
	}
}

func TestDecoderNoticesCutsAndLeftovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vals := rapid.SliceOfN(rapid.Uint64(), 2, 50).Draw(t, "values")
		var e Encoder
		e.Reset(make([]byte, 1000))
		for _, v := range vals {
			e.EncodeBits(v, 64)
		}
		out, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		read := func(data []byte) error {
			var d Decoder
			d.Reset(data)
			for range vals {
				d.DecodeBits(64)
			}
			return d.Finish()
		}
		cut := rapid.IntRange(0, len(out)-4).Draw(t, "cut")
		if !errors.Is(read(out[:cut]), ErrCorrupt) {
			t.Fatalf("%d of %d bytes passed as whole", cut, len(out))
		}
		if !errors.Is(read(append(bytes.Clone(out), 1, 2)), ErrCorrupt) {
			t.Fatal("bytes left over went unnoticed")
		}
	})
}

func TestModelsLearn(t *testing.T) {
	// One decision in 1000 is a 1; the models must come near the entropy of 0.0114 bits each.
	cost := func(code func(e *Encoder, bit bool)) float64 {
		var e Encoder
		e.Reset(make([]byte, 1<<16))
		x := uint32(1)
		for range 100000 {
			x = x*1664525 + 1013904223
			code(&e, x>>16 < 66)
		}
		return e.Bits() / 100000
	}
	bit := Bit{Limit: MaxLimit}
	if c := cost(func(e *Encoder, b bool) { e.EncodeBit(&bit, b) }); c > 0.0130 {
		t.Errorf("Bit takes %.4f bits a decision", c)
	}
}
