package entropy

import (
	"bytes"
	"testing"
)

// FuzzDecoder drives every kind of decoding by the first bytes over a stream made of the rest.
// Whatever comes in, values stay within their bounds, and an error comes once more was read than
// there is.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []byte{0x12, 0x34, 0x56, 0x78})
	f.Add([]byte{1, 1, 1, 1, 1, 1, 1, 1, 1}, []byte{})
	f.Add([]byte{2, 12, 22, 32}, bytes.Repeat([]byte{0xFF}, 40))
	f.Fuzz(func(t *testing.T, script, data []byte) {
		var d Decoder
		var m models
		d.Reset(data)
		failed := false
		for _, op := range script {
			n := uint(op / 10)
			switch op % 10 {
			case 0:
				total := n % (MaxFreqBits + 1)
				if slot := d.DecodeFreq(total); slot >= 1<<total {
					t.Fatalf("slot %d of 1<<%d", slot, total)
				} else {
					d.Advance(slot, 1)
				}
			case 1:
				if v := d.DecodeBits(n); n < 64 && v>>n != 0 {
					t.Fatalf("%d in %d bits", v, n)
				}
			case 2:
				limit := uint64(0x1_0000_0000)>>n | 1
				if v := d.DecodeUniform(limit); v >= limit {
					t.Fatalf("%d of %d", v, limit)
				}
			case 3:
				d.DecodeChance(uint32(n) << 12)
			case 4, 5, 6:
				d.DecodeBit(&m.bit)
			case 7:
				if v := d.DecodeTree(m.tree[:], 4); v > 15 {
					t.Fatalf("%d in a tree", v)
				}
			case 8:
				if v := d.DecodeUnary(m.unary[:]); v > len(m.unary) {
					t.Fatalf("%d in unary", v)
				}
			case 9:
				d.DecodeInt(&m.num)
			}
			if failed && d.Err() == nil {
				t.Fatal("an error was forgotten")
			}
			failed = d.Err() != nil
		}
		for range len(data) + 8 {
			d.DecodeBits(8)
		}
		if d.Err() == nil {
			t.Fatal("read beyond the end without an error")
		}
	})
}

// FuzzCoders holds that no message breaks a Coder, and that what decodes also survives being coded
// again.
func FuzzCoders(f *testing.F) {
	all := coders()
	msg := sparse(50, 9)
	for _, c := range all {
		f.Add(c.Encode(nil, msg))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 12
		for name, c := range all {
			out, err := c.Decode(nil, data, limit)
			if err != nil {
				continue
			}
			if len(out) > limit {
				t.Fatalf("%s: %d bytes", name, len(out))
			}
			back, err := c.Decode(nil, c.Encode(nil, out), limit)
			if err != nil || !bytes.Equal(back, out) {
				t.Fatalf("%s: %x came back as %x: %v", name, out, back, err)
			}
		}
		for name, c := range all {
			back, err := c.Decode(nil, c.Encode(nil, data), len(data))
			if err != nil || !bytes.Equal(back, data) {
				t.Fatalf("%s: %x came back as %x: %v", name, data, back, err)
			}
		}
	})
}

// FuzzParseHuffman holds that what passes as a code can code and decode every byte.
func FuzzParseHuffman(f *testing.F) {
	f.Add(trained().AppendBinary(nil))
	f.Add(bytes.Repeat([]byte{0x88}, 128))
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseHuffman(data)
		if err != nil {
			return
		}
		if !bytes.Equal(h.AppendBinary(nil), data) {
			t.Fatal("not its only form")
		}
		if back, err := h.Decode(nil, h.Encode(nil, every), 256); err != nil ||
			!bytes.Equal(back, every) {
			t.Fatalf("%x: %v", back, err)
		}
	})
}
