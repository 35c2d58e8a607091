package entropy

import "testing"

const benchBits = 15

// benchTable is a peaked distribution, as those of prediction errors are: the slots before each
// symbol, and symbols drawn from it.
func benchTable() (cum [41]uint32, syms []uint8) {
	for i := range 40 {
		cum[i+1] = min(cum[i]+max(uint32(1<<(benchBits-3))>>(i/2), 1), 1<<benchBits-39+uint32(i))
	}
	cum[40] = 1 << benchBits
	x := uint32(7)
	for range 1024 {
		x = x*1664525 + 1013904223
		syms = append(syms, symbolAt(&cum, x>>17))
	}
	return cum, syms
}

func symbolAt(cum *[41]uint32, slot uint32) (s uint8) {
	for slot >= cum[s+1] {
		s++
	}
	return s
}

func BenchmarkEncodeSymbol(b *testing.B) {
	cum, syms := benchTable()
	buf := make([]byte, 2048)
	var e Encoder
	b.ReportAllocs()
	for i := 0; i < b.N; {
		e.Reset(buf)
		for _, s := range syms {
			e.EncodeFreq(cum[s], cum[s+1]-cum[s], benchBits)
		}
		i += len(syms)
	}
}

func BenchmarkDecodeSymbol(b *testing.B) {
	cum, syms := benchTable()
	var e Encoder
	e.Reset(make([]byte, 2048))
	for _, s := range syms {
		e.EncodeFreq(cum[s], cum[s+1]-cum[s], benchBits)
	}
	data, err := e.Finish()
	if err != nil {
		b.Fatal(err)
	}
	var d Decoder
	b.ReportAllocs()
	for i := 0; i < b.N; {
		d.Reset(data)
		for range syms {
			s := symbolAt(&cum, d.DecodeFreq(benchBits))
			d.Advance(cum[s], cum[s+1]-cum[s])
		}
		i += len(syms)
	}
}

func BenchmarkEncodeBit(b *testing.B) {
	_, syms := benchTable()
	buf := make([]byte, 2048)
	var e Encoder
	var m [64]Bit
	b.ReportAllocs()
	for i := 0; i < b.N; {
		e.Reset(buf)
		for _, s := range syms {
			e.EncodeBit(&m[s>>1&63], s < 4)
		}
		i += len(syms)
	}
}

func BenchmarkDecodeBit(b *testing.B) {
	data := make([]byte, 2048)
	for i := range data {
		data[i] = byte(i * i)
	}
	var d Decoder
	var m [64]Bit
	b.ReportAllocs()
	for i := 0; i < b.N; {
		d.Reset(data)
		for j := range 1024 {
			d.DecodeBit(&m[j&63])
		}
		i += 1024
	}
}

func BenchmarkEncodeUniform(b *testing.B) {
	buf := make([]byte, 4096)
	var e Encoder
	b.ReportAllocs()
	for i := 0; i < b.N; {
		e.Reset(buf)
		for j := range 1000 {
			e.EncodeUniform(uint64(j), 1000)
		}
		i += 1000
	}
}

func BenchmarkEncodeBits(b *testing.B) {
	buf := make([]byte, 4096)
	var e Encoder
	b.ReportAllocs()
	for i := 0; i < b.N; {
		e.Reset(buf)
		for j := range 1000 {
			e.EncodeBits(uint64(j), 10)
		}
		i += 1000
	}
}

func BenchmarkMarkLenRewind(b *testing.B) {
	var e Encoder
	e.Reset(make([]byte, 64))
	e.EncodeBits(12345, 23)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		m := e.Mark()
		n += e.Len()
		e.Rewind(m)
	}
}

func BenchmarkCoders(b *testing.B) {
	msg := sparse(1000, 3)
	for name, c := range coders() {
		out := c.Encode(nil, msg)
		buf := make([]byte, 0, 4096)
		b.Run(name+"/encode", func(b *testing.B) {
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			for b.Loop() {
				c.Encode(buf, msg)
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Decode(buf, out, len(msg)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
