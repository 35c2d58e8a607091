package codec

import "testing"

// BenchmarkPut codes whole frames; coeval bench codec does the same with the recordings of real
// workloads.
func BenchmarkPut(b *testing.B) {
	r := synthetic(1, 60)
	m := trained(b)
	e, d := NewEncoder(m), NewDecoder(m)
	buf := make([]byte, 1<<14)
	known, k := r.Known(40, nil)
	histories := make([]History, len(r.Classes))
	for i := range histories {
		r.History(&histories[i], i, 40, known[:k])
	}
	encode := func() []byte {
		e.Begin(buf)
		for i, c := range r.Classes {
			e.Put(c, &histories[i], r.Image(40, i))
			if i == r.Refer {
				e.Refer(c, &histories[i], r.Image(40, i))
			}
		}
		packet, _ := e.Finish()
		return packet
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encode()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(r.Classes)), "ns/entity")
	})
	b.Run("decode", func(b *testing.B) {
		packet := append([]byte(nil), encode()...)
		now := make([]int32, MaxFields)
		b.ReportAllocs()
		for b.Loop() {
			d.Begin(packet)
			for i, c := range r.Classes {
				d.Get(c, &histories[i], now[:len(r.Schema.Classes[c].Fields)])
				if i == r.Refer {
					d.Refer(c, &histories[i], r.Image(40, i))
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(r.Classes)), "ns/entity")
	})
}
