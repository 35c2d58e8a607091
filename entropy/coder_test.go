package entropy

import (
	"bytes"
	"errors"
	"fmt"
	mathbits "math/bits"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"pgregory.net/rapid"
)

// sparse is a message as differences make them: mostly zeros, some small numbers.
func sparse(n int, seed uint64) []byte {
	r := det.At(seed, 0, 0)
	b := make([]byte, n)
	for i := range b {
		if r.Chance(0.2) {
			b[i] = byte(r.Uint64() >> r.IntN(64))
		}
	}
	return b
}

func trained() *Huffman {
	var counts [256]uint32
	for _, b := range sparse(10000, 1) {
		counts[b]++
	}
	return NewHuffman(&counts)
}

// coders has one of each kind, and of ZeroRuns some sizes.
func coders() map[string]Coder {
	all := map[string]Coder{
		"huffman": trained(), "adaptive huffman": new(AdaptiveHuffman), "adaptive": Adaptive{},
		"runs": ZeroRuns{}}
	for _, k := range []int{1, 2, 5, 8, 13, 16} {
		all[fmt.Sprint("runs of ", k)] = ZeroRuns{Word: k}
	}
	return all
}

var drawMessage = rapid.OneOf(
	rapid.SliceOf(rapid.Byte()),
	rapid.SliceOf(rapid.OneOf(rapid.Just(byte(0)), rapid.ByteRange(0, 3))),
	rapid.Custom(func(t *rapid.T) []byte {
		return bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 4).Draw(t, "unit"),
			rapid.IntRange(0, 600).Draw(t, "times"))
	}),
	rapid.Custom(func(t *rapid.T) []byte {
		return sparse(rapid.IntRange(0, 3000).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"))
	}),
)

func TestCodersRoundTrip(t *testing.T) {
	for name, c := range coders() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				msg := drawMessage.Draw(t, "message")
				head := []byte("head")
				out := c.Encode(bytes.Clone(head), msg)
				if !bytes.HasPrefix(out, head) {
					t.Fatal("Encode overwrote what was there")
				}
				back, err := c.Decode(bytes.Clone(head), out[len(head):], len(msg))
				if err != nil || !bytes.Equal(back, append(head, msg...)) {
					t.Fatalf("%x came back as %x: %v", msg, back, err)
				}
				if len(msg) > 0 {
					if _, err := c.Decode(nil, out[len(head):], len(msg)-1); !errors.Is(err,
						ErrCorrupt) {
						t.Fatalf("a limit of one byte less: %v", err)
					}
				}
				if name == "adaptive" {
					return // more bytes may change the last symbols, and then belong to them
				}
				if _, err := c.Decode(nil, append(out[len(head):], 1, 1, 1),
					len(msg)); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("bytes left over: %v", err)
				}
			})
		})
	}
}

// Cut at any place, a message must be refused. Only the last bytes of a range coder's may be
// missed, since zeros beyond the end can make a message too.
func TestCodersNoticeCuts(t *testing.T) {
	msg := sparse(300, 2)
	for name, c := range coders() {
		whole := c.Encode(nil, msg)
		for n := range len(whole) {
			back, err := c.Decode([]byte("x"), whole[:n], 1000)
			if err == nil && (name != "adaptive" || n < len(whole)-8) {
				t.Errorf("%s: %d of %d bytes passed as whole", name, n, len(whole))
			}
			if err != nil && string(back) != "x" {
				t.Errorf("%s: dst was changed by an error", name)
			}
		}
	}
}

// Each must be worth its name on the messages it is for.
func TestCodersCompress(t *testing.T) {
	msg := sparse(1000, 3)
	size := map[string]int{}
	for name, c := range coders() {
		size[name] = len(c.Encode(nil, msg))
	}
	t.Logf("1000 bytes become %v", size)
	if !(size["adaptive"] < size["adaptive huffman"] && size["adaptive huffman"] < size["runs"] &&
		size["runs"] < 700 &&
		size["huffman"] < size["runs"] && size["adaptive"] < 320) {
		t.Errorf("sizes %v", size)
	}
}

func TestZeroRunsAreDOOMs(t *testing.T) {
	// 001 | eight zero words | 100, highest word first here: words of 3 bits from the lowest bit
	// up.
	var w bits.Writer
	w.Reset(make([]byte, 16))
	w.WriteBits(1, 3)
	w.WriteBits(0, 24)
	w.WriteBits(4, 3)
	src, n := w.Bytes(), w.Len()
	var out bits.Writer
	out.Reset(make([]byte, 16))
	ZeroRuns{}.EncodeBits(&out, src, n)
	r := bits.NewReader(out.Bytes())
	if out.Len() != 12 || r.ReadBits(3) != 1 || r.ReadBits(3) != 0 || r.ReadBits(3) != 7 ||
		r.ReadBits(3) != 4 {
		t.Errorf("%d bits: %x", out.Len(), out.Bytes())
	}
	// Four to one at best.
	out.Reset(make([]byte, 600))
	ZeroRuns{}.EncodeBits(&out, make([]byte, 2400), 2400*8)
	if out.Len() != 2400*8/4 {
		t.Errorf("zeros take %d bits", out.Len())
	}
}

func TestZeroRunsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		words []uint64
		bits  int
	}{
		"a run beyond the end": {[]uint64{0, 3}, 9},
		"bits beyond the end":  {[]uint64{1, 4}, 5},
		"a run without length": {[]uint64{1, 0}, 30},
	} {
		var w bits.Writer
		w.Reset(make([]byte, 8))
		for _, v := range c.words {
			w.WriteBits(v, 3)
		}
		if err := (ZeroRuns{}).DecodeBits(bits.NewReader(w.Bytes()), make([]byte, 8),
			c.bits); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestZeroRunsOfAnyNumberOfBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := ZeroRuns{Word: rapid.IntRange(0, MaxWord).Draw(t, "word")}
		src := drawMessage.Draw(t, "message")
		n := rapid.IntRange(0, len(src)*8).Draw(t, "bits")
		var w bits.Writer
		w.Reset(make([]byte, len(src)*2+16))
		w.WriteBits(5, 3) // not at the start of a byte
		z.EncodeBits(&w, src, n)
		w.WriteBits(5, 3)
		if w.Err() != nil {
			t.Fatal(w.Err())
		}
		r := bits.NewReader(w.Bytes())
		dst := bytes.Repeat([]byte{0xFF}, (n+7)/8)
		if r.ReadBits(3) != 5 || z.DecodeBits(r, dst, n) != nil || r.ReadBits(3) != 5 ||
			r.Finish() != nil {
			t.Fatal(r.Err())
		}
		want := bytes.Clone(src[:(n+7)/8])
		if n&7 != 0 {
			want[n/8] &= 1<<(n&7) - 1
		}
		if !bytes.Equal(dst, want) {
			t.Fatalf("%x, not %x", dst, want)
		}
	})
}

func TestHuffmanTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counts [256]uint32
		for i := range counts {
			counts[i] = rapid.OneOf(rapid.Just(uint32(0)), rapid.Uint32(),
				rapid.Uint32Range(0, 9)).Draw(t, "count")
		}
		h := NewHuffman(&counts)
		again, err := ParseHuffman(h.AppendBinary(nil))
		if err != nil || *again != *h {
			t.Fatalf("table did not come back: %v", err)
		}
		// More frequent bytes never have longer codes.
		for a := range counts {
			for b := range counts {
				if max(counts[a], 1) > max(counts[b], 1) && h.length[a] > h.length[b] {
					t.Fatalf("%d times takes %d bits, %d times %d", counts[a], h.length[a],
						counts[b], h.length[b])
				}
			}
		}
	})
}

// The best lengths are known for counts that are powers of two: their logarithms.
func TestHuffmanIsOptimal(t *testing.T) {
	var counts [256]uint32
	i := 0
	for _, g := range []struct{ n, weight int }{{32, 1}, {112, 2}, {64, 4}, {32, 8}, {16, 16}} {
		for range g.n {
			counts[i] = uint32(g.weight)
			i++
		}
	}
	h := NewHuffman(&counts)
	for s, c := range counts {
		if got, want := h.Len(byte(s)), 10-mathbits.TrailingZeros32(c); got != want {
			t.Errorf("%d in 1024 takes %d bits, not %d", c, got, want)
		}
	}
	// Fibonacci weights ask for codes of 255 bits; the limit must hold, and cost little.
	a, b := uint32(1), uint32(1)
	for i := range counts {
		counts[i] = a
		if i < 40 {
			a, b = b, a+b
		}
	}
	for s := range counts {
		if l := NewHuffman(&counts).Len(byte(s)); l < 1 || l > maxCode {
			t.Fatalf("byte %d takes %d bits", s, l)
		}
	}
}

func TestHuffmanRefuses(t *testing.T) {
	good := trained().AppendBinary(nil)
	bad := map[string]func(b []byte) []byte{
		"short":      func(b []byte) []byte { return b[:127] },
		"long":       func(b []byte) []byte { return append(b, 0) },
		"empty":      func(b []byte) []byte { return nil },
		"zero":       func(b []byte) []byte { b[5] = 0; return b },
		"ambiguous":  func(b []byte) []byte { return bytes.Repeat([]byte{0x11}, 128) },
		"incomplete": func(b []byte) []byte { return bytes.Repeat([]byte{0xFF}, 128) },
	}
	for name, change := range bad {
		if _, err := ParseHuffman(change(bytes.Clone(good))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// After every byte the tree must be a Huffman tree: weights fall, siblings are side by side, each
// inner node weighs what its children do.
func TestAdaptiveHuffmanStaysATree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h AdaptiveHuffman
		var w bits.Writer
		w.Reset(make([]byte, 1<<16))
		var counts [256]uint32
		for _, b := range drawMessage.Draw(t, "message") {
			h.WriteByteTo(&w, b)
			counts[b]++
			for i := range h.n {
				if i > 0 && h.weight[i] > h.weight[i-1] {
					t.Fatalf("node %d weighs more than the one before", i)
				}
				c := h.child[i]
				switch {
				case c == unseen:
					if h.weight[i] != 0 || i != h.n-1 {
						t.Fatal("the leaf for what is not yet seen is lost")
					}
				case c&leafBit != 0:
					if s := c & 255; int(h.leaf[s]) != i || h.weight[i] != counts[s] {
						t.Fatalf("byte %d has weight %d, was seen %d times", s, h.weight[i],
							counts[s])
					}
				default:
					if int(h.parent[c]) != i || int(h.parent[c+1]) != i ||
						h.weight[i] != h.weight[c]+h.weight[c+1] {
						t.Fatalf("node %d does not match its children", i)
					}
				}
			}
		}
		if w.Err() != nil {
			t.Fatal(w.Err())
		}
	})
}

// Single bytes of both Huffman codes may stand between other things in a stream of bits, and a cut
// is noticed there too.
func TestHuffmanAmongBits(t *testing.T) {
	type code interface {
		WriteByteTo(w *bits.Writer, b byte)
		ReadByteFrom(r *bits.Reader) byte
	}
	h := trained()
	for name, fresh := range map[string]func() code{
		"static":   func() code { return h },
		"adaptive": func() code { return new(AdaptiveHuffman) },
	} {
		rapid.Check(t, func(t *rapid.T) {
			msg := drawMessage.Draw(t, "message")
			var w bits.Writer
			w.Reset(make([]byte, len(msg)*4+64))
			out := fresh()
			for i, b := range msg {
				out.WriteByteTo(&w, b)
				w.WriteBits(uint64(i&7), 3)
			}
			if w.Err() != nil {
				t.Fatal(w.Err())
			}
			r := bits.NewReader(w.Bytes())
			in := fresh()
			for i, b := range msg {
				if got := in.ReadByteFrom(r); got != b || r.ReadBits(3) != uint64(i&7) {
					t.Fatalf("%s: byte %d is %#x, not %#x: %v", name, i, got, b, r.Err())
				}
			}
			if err := r.Finish(); err != nil {
				t.Fatal(err)
			}
			if len(msg) == 0 {
				return
			}
			r = bits.NewReader(w.Bytes()[:len(w.Bytes())-1])
			in = fresh()
			for range msg {
				in.ReadByteFrom(r)
				r.ReadBits(3)
			}
			if !errors.Is(r.Err(), bits.ErrShort) {
				t.Fatalf("%s: a cut passed: %v", name, r.Err())
			}
		})
	}
}
