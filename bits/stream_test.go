package bits

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The order of bits is part of the protocol: these bytes may never change.
func TestBitOrder(t *testing.T) {
	w := NewWriter(make([]byte, 16))
	w.WriteBits(1, 1)
	w.WriteBits(0b0110, 4)
	w.WriteBits(0x3ff, 10)
	w.WriteBool(true)
	w.WriteBits(0x0123456789abcdef, 64)
	w.WriteUvarint(0x2a)
	w.WriteVarint(-1)
	w.Align()
	want := []byte{0b111_0110_1, 0b1_1111111, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
		0b10_1010_01, // two digits: 1 0; then 0x2a in eight bits, six of them here
		0b0_0001_0_00}
	if got := w.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("got  %08b\nwant %08b", got, want)
	}
}

// naive is a bit stream as simple as can be.
type naive []bool

func (n *naive) write(v uint64, width int) {
	for i := range width {
		*n = append(*n, v>>i&1 != 0)
	}
}

func (n naive) bytes() []byte {
	b := make([]byte, (len(n)+7)/8)
	for i, bit := range n {
		if bit {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return b
}

func drawBits(t *rapid.T) (v uint64, width int) {
	width = rapid.IntRange(0, 64).Draw(t, "width")
	v = rapid.Uint64().Draw(t, "value") & (1<<uint(width) - 1)
	return v, width
}

func TestStreamAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 70).Draw(t, "size")
		w := NewWriter(make([]byte, size))
		var model naive
		type value struct {
			v     uint64
			width int
		}
		var values []value
		full := false
		for range rapid.IntRange(0, 40).Draw(t, "count") {
			v, width := drawBits(t)
			w.WriteBits(v, width)
			full = full || len(model)+width > size*8
			if !full {
				model.write(v, width)
				values = append(values, value{v, width})
			}
			if full != (w.Err() != nil) || full && !errors.Is(w.Err(), ErrFull) {
				t.Fatalf("full is %v, the error %v", full, w.Err())
			}
			if rapid.Bool().Draw(t, "look") && !bytes.Equal(w.Bytes(), model.bytes()) {
				t.Fatalf("got %x, want %x", w.Bytes(), model.bytes())
			}
		}
		if !bytes.Equal(w.Bytes(), model.bytes()) || w.Len() != len(model) {
			t.Fatalf("got %x (%d bits), want %x (%d)", w.Bytes(), w.Len(), model.bytes(),
				len(model))
		}
		r := NewReader(w.Bytes())
		for _, x := range values {
			if got := r.ReadBits(x.width); got != x.v {
				t.Fatalf("read %x, want %x (%d bits)", got, x.v, x.width)
			}
		}
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestStreamOfEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := NewWriter(make([]byte, 4096))
		var checks []func(r *Reader)
		for range rapid.IntRange(0, 30).Draw(t, "count") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				v := rapid.Uint64().Draw(t, "uvarint") >> rapid.IntRange(0, 63).Draw(t, "shift")
				w.WriteUvarint(v)
				checks = append(checks, func(r *Reader) {
					if got := r.ReadUvarint(); got != v {
						t.Fatalf("uvarint %d, want %d", got, v)
					}
				})
			case 1:
				v := rapid.Int64().Draw(t, "varint") >> rapid.IntRange(0, 63).Draw(t, "shift")
				w.WriteVarint(v)
				checks = append(checks, func(r *Reader) {
					if got := r.ReadVarint(); got != v {
						t.Fatalf("varint %d, want %d", got, v)
					}
				})
			case 2:
				v := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes")
				w.WriteBytes(v)
				checks = append(checks, func(r *Reader) {
					got := make([]byte, len(v))
					if r.ReadBytes(got); !bytes.Equal(got, v) {
						t.Fatalf("bytes %x, want %x", got, v)
					}
				})
			case 3:
				v := rapid.Bool().Draw(t, "bool")
				w.WriteBool(v)
				checks = append(checks, func(r *Reader) {
					if got := r.ReadBool(); got != v {
						t.Fatalf("bool %v, want %v", got, v)
					}
				})
			case 4:
				w.Align()
				checks = append(checks, func(r *Reader) { r.Align() })
			case 5: // try something and take it back
				m := w.Mark()
				for range rapid.IntRange(0, 80).Draw(t, "tries") {
					w.WriteBits(math.MaxUint64, 64)
				}
				w.Rewind(m)
			}
		}
		if w.Err() != nil {
			t.Fatal(w.Err())
		}
		data := w.Bytes()
		r := NewReader(data)
		for _, c := range checks {
			c(r)
		}
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		// One byte less must not go unnoticed.
		if len(data) > 0 {
			r.Reset(data[:len(data)-1])
			n := 0
			for r.Err() == nil && n < w.Len() {
				n += min(w.Len()-n, 64)
				r.ReadBits(min(w.Len()-r.Len(), 64))
			}
			if !errors.Is(r.Err(), ErrShort) {
				t.Fatalf("cut data gives %v", r.Err())
			}
		}
	})
}

func TestWriterErrorsStick(t *testing.T) {
	tests := []struct {
		name  string
		write func(w *Writer)
		want  error
	}{
		{"full", func(w *Writer) { w.WriteBits(0, 33) }, ErrFull},
		{"bytes do not fit", func(w *Writer) { w.WriteBytes(make([]byte, 5)) }, ErrFull},
		{"too wide", func(w *Writer) { w.WriteBits(0, 65) }, ErrUse},
		{"negative", func(w *Writer) { w.WriteBits(0, -1) }, ErrUse},
		{"value above width", func(w *Writer) { w.WriteBits(8, 3) }, ErrValue},
		{"mark from ahead", func(w *Writer) { w.Rewind(Mark{at: 99}) }, ErrFull},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWriter(make([]byte, 5))
			w.WriteBits(0xab, 8)
			tt.write(w)
			w.WriteBits(1, 1)
			if !errors.Is(w.Err(), tt.want) {
				t.Errorf("error %v, want %v", w.Err(), tt.want)
			}
			if got := w.Bytes(); len(got) != 1 || got[0] != 0xab || w.Room() != 0 {
				t.Errorf("bytes %x, room %d", got, w.Room())
			}
		})
	}
	var zero Writer
	if zero.WriteBool(true); !errors.Is(zero.Err(), ErrFull) || len(zero.Bytes()) != 0 {
		t.Error("the zero writer has room")
	}
}

func TestReaderRefuses(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		read func(r *Reader)
		want error
	}{
		{"short", []byte{1, 2}, func(r *Reader) { r.ReadBits(17) }, ErrShort},
		{"empty", nil, func(r *Reader) { r.ReadBool() }, ErrShort},
		{"short bytes", []byte{1, 2}, func(r *Reader) { r.ReadBytes(make([]byte, 3)) }, ErrShort},
		{"too wide", make([]byte, 20), func(r *Reader) { r.ReadBits(65) }, ErrUse},
		{"negative", make([]byte, 20), func(r *Reader) { r.ReadBits(-1) }, ErrUse},
		{"varint too long", bytes.Repeat([]byte{255}, 12), func(r *Reader) { r.ReadUvarint() },
			ErrValue},
		{"varint padded", []byte{0b00101_01, 0, 0}, func(r *Reader) { r.ReadUvarint() }, ErrValue},
		{"varint cut", []byte{0b0000_0111}, func(r *Reader) { r.ReadUvarint() }, ErrShort},
		{"varint cut in its ones", []byte{255}, func(r *Reader) { r.ReadUvarint() }, ErrShort},
		{"padding", []byte{3}, func(r *Reader) { r.ReadBool(); r.Align() }, ErrValue},
		{"trailing", []byte{0, 0}, func(r *Reader) { r.ReadBits(8) }, ErrTrailing},
		{"trailing bits", []byte{0x80}, func(r *Reader) { r.ReadBits(4) }, ErrValue},
		{"fine", []byte{0x08}, func(r *Reader) { r.ReadBits(4) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(tt.data)
			tt.read(r)
			if tt.want != nil && r.Err() != nil {
				if r.ReadBits(1) != 0 || r.Left() != 0 || r.ReadUvarint() != 0 {
					t.Error("something was read after an error")
				}
			}
			if err := r.Finish(); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}
