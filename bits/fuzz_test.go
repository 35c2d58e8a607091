package bits

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"testing"
)

// FuzzReader lets the first bytes say what to read from the rest. Whatever they say, the reader
// stays within the data, and what it read without error is what a writer wrote.
func FuzzReader(f *testing.F) {
	f.Add([]byte{3, 1, 64, 66}, []byte{0xff, 0x80, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{66, 67, 68, 69, 70, 71}, bytes.Repeat([]byte{0x35}, 30))
	f.Add([]byte{255, 0, 66}, []byte{0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, ops, data []byte) {
		r := NewReader(data)
		w := NewWriter(make([]byte, len(data)))
		for _, op := range ops {
			m := w.Mark()
			at := r.Len()
			switch {
			case op <= 64:
				w.WriteBits(r.ReadBits(int(op)), int(op))
			case op == 66:
				w.WriteUvarint(r.ReadUvarint())
			case op == 67:
				w.WriteVarint(r.ReadVarint())
			case op == 68:
				r.Align()
				w.Align()
			case op == 69:
				w.WriteBool(r.ReadBool())
			case op < 128:
				b := make([]byte, op-70)
				r.ReadBytes(b)
				w.WriteBytes(b)
			default:
				r.ReadBits(int(op))
			}
			if r.Len() > 8*len(data) || r.Left() < 0 {
				t.Fatalf("at bit %d of %d", r.Len(), 8*len(data))
			}
			if r.Err() != nil {
				if r.ReadBits(int(op)&63) != 0 {
					t.Fatal("something was read after an error")
				}
				w.Rewind(m)
				break
			}
			if w.Err() != nil || w.Len() != r.Len() {
				t.Fatalf("read %d bits from %d on, wrote %d, error %v", r.Len()-at, at, w.Len()-at,
					w.Err())
			}
		}
		got := w.Bytes()
		if n := w.Len() / 8; !bytes.Equal(got[:n], data[:n]) {
			t.Fatalf("read %x, wrote %x", data[:n], got[:n])
		}
	})
}

// seedEverything is the bits of a few values.
func seedEverything(f *testing.F) (seeds [][]byte) {
	var s Sync
	for _, v := range []*everything{
		{},
		{Burning: true, Spreading: true, Name: "name", Blob: []byte{1},
			Parts: []part{{Hot: true}, {Label: "label"}}},
		{Signed: -1 << 40, Unsigned: 1 << 63, Flag: true, Exact: -1.5, Exact32: 3},
	} {
		w := NewWriter(make([]byte, 1024))
		s.StartWrite(w)
		v.Sync(&s)
		if s.Err() != nil {
			f.Fatal(s.Err())
		}
		seeds = append(seeds, w.Bytes())
	}
	return seeds
}

// FuzzSyncRead reads a structure with every quantiser from any data. What is accepted has exactly
// one form: written again it is the same data, quantised it stays the same, and its image fits the
// schema and leads back to it.
func FuzzSyncRead(f *testing.F) {
	for _, seed := range seedEverything(f) {
		f.Add(seed)
	}
	l := everythingLayout
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Sync
		r := NewReader(data)
		v := new(everything)
		s.StartRead(r)
		v.Sync(&s)
		if len(v.Parts) > 3 || len(v.Name) > 13 || len(v.Blob) > 5 {
			t.Fatal("a limit was passed")
		}
		if s.Err() != nil || r.Finish() != nil {
			return
		}
		w := NewWriter(make([]byte, len(data)))
		s.StartWrite(w)
		v.Sync(&s)
		if s.Err() != nil || !bytes.Equal(w.Bytes(), data) {
			t.Fatalf("read  %x\nwrote %x\nerror %v", data, w.Bytes(), s.Err())
		}
		q := clone(v)
		if err := l.Quantise(&s, q); err != nil || !same(q, v) {
			t.Fatalf("%+v becomes %+v, error %v", v, q, err)
		}
		image := make([]int32, l.Len())
		if err := l.Pack(&s, v, image); err != nil {
			t.Fatal(err)
		}
		if err := l.Schema().Check(image); err != nil {
			t.Fatal(err)
		}
		back := new(everything)
		if err := l.Unpack(&s, back, image); err != nil || !same(back, v) {
			t.Fatalf("%+v becomes %+v, error %v", v, back, err)
		}
	})
}

// FuzzUnpack takes any numbers for an image. What is accepted leads to an image that leads to the
// same value.
func FuzzUnpack(f *testing.F) {
	l := everythingLayout
	var s Sync
	image := make([]int32, l.Len())
	for _, v := range []*everything{
		{}, {Burning: true, Spreading: true, Parts: make([]part, 3), Name: "a name"}} {
		if err := l.Pack(&s, v, image); err != nil {
			f.Fatal(err)
		}
		var seed []byte
		for _, k := range image {
			seed = binary.LittleEndian.AppendUint32(seed, uint32(k))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Sync
		image := make([]int32, l.Len())
		for i := range image {
			if len(data) >= 4 {
				image[i] = int32(binary.LittleEndian.Uint32(data))
				data = data[4:]
			}
		}
		v := new(everything)
		if l.Unpack(&s, v, image) != nil {
			return
		}
		again, back := make([]int32, l.Len()), new(everything)
		if err := l.Pack(&s, v, again); err != nil {
			t.Fatal(err)
		}
		for i, sl := range l.Schema().Slots {
			if !sl.Optional && image[i] != again[i] {
				t.Fatalf("%s is %d and then %d", sl.Name, image[i], again[i])
			}
		}
		if err := l.Unpack(&s, back, again); err != nil || !same(back, v) {
			t.Fatalf("%+v becomes %+v, error %v", v, back, err)
		}
	})
}

// FuzzSyncDecode reads the same structure through a coder.
func FuzzSyncDecode(f *testing.F) {
	for _, seed := range seedEverything(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Sync
		in := newRadix()
		in.value.SetBytes(data)
		v := new(everything)
		s.StartDecode(in)
		v.Sync(&s)
		if s.Err() != nil || in.value.Sign() != 0 {
			return
		}
		out := newRadix()
		s.StartEncode(out)
		v.Sync(&s)
		if s.Err() != nil || out.value.Cmp(new(big.Int).SetBytes(data)) != 0 {
			t.Fatalf("decoded %x\nencoded %x\nerror %v", data, out.value.Bytes(), s.Err())
		}
	})
}
