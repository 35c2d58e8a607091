package codec

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

var fuzzModel = sync.OnceValue(func() *Model {
	r := synthetic(1, 120)
	m, err := Train(r.Schema, []*Recording{r}, TrainOptions{Loss: []float64{0.2}})
	if err != nil {
		panic(err)
	}
	return m
})

// Any bytes may come in the place of a packet: what is read stays within its range, and reading
// ends.
func FuzzDecode(f *testing.F) {
	r := synthetic(1, 60)
	e := NewEncoder(fuzzModel())
	var h, rh History
	for n := 20; n < 60; n += 13 {
		known, k := r.Known(n, nil)
		e.Begin(make([]byte, 1<<14))
		for i, c := range r.Classes {
			r.History(&h, i, n, known[:k])
			e.Put(c, &h, r.Image(n, i))
			if i == r.Refer {
				rh = h
				e.Refer(c, &rh, r.Image(n, i))
			}
		}
		packet, err := e.Finish()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet, uint8(n))
	}
	f.Add([]byte{}, uint8(10))
	f.Fuzz(func(t *testing.T, packet []byte, frame uint8) {
		n := max(int(frame)%len(r.Frames), r.Skip)
		d := NewDecoder(fuzzModel())
		d.Begin(packet)
		known, k := r.Known(n, nil)
		now := make([]int32, MaxFields)
		ref := make([]int32, MaxFields)
		for i, c := range r.Classes {
			r.History(&h, i, n, known[:k])
			fields := r.Schema.Classes[c].Fields
			d.Get(c, &h, now[:len(fields)])
			for j := range fields {
				if now[j] < fields[j].Min || now[j] > fields[j].Max {
					t.Fatalf("entity %d, field %s: %d is out of range", i, fields[j].Name, now[j])
				}
			}
			if i == r.Refer {
				rh = h
				d.Refer(c, &rh, ref[:copy(ref, now[:len(fields)])])
			}
		}
		d.Finish()
	})
}

// A tables file may be anything: it is refused with an error, or it makes a model that works.
func FuzzLoadTables(f *testing.F) {
	// One small class, because a file that takes a while to read is tried less often.
	r := synthetic(1, 20)
	r.Schema = &Schema{
		Name: "small", Classes: []Class{{Name: "crate", Fields: r.Schema.Classes[2].Fields[3:]}}}
	r.Schema.Classes[0].Fields = append([]Field(nil), r.Schema.Classes[0].Fields...)
	r.Schema.Classes[0].Fields[0].Kind = Number
	f.Add(untrained(f, r.Schema).AppendTables(nil))
	f.Add([]byte(tablesMagic))
	compact, err := untrained(f, r.Schema).Compact()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(compact)
	f.Add(Learn(NewSamples(r.Schema, 1<<16), LearnOptions{}))
	now := [][]int32{{1, 2, 3, 4, 1}, {5, 5, 5, 5, 0}, {1000, -3000, 3000, 8000, 1}}
	f.Fuzz(func(t *testing.T, data []byte) {
		// The checksum would keep nearly everything out: mend it, so that what lies behind is
		// tried.
		m, err := LoadTables(r.Schema, reseal(r.Schema, data))
		if err != nil {
			if !errors.Is(err, ErrTables) {
				t.Fatal(err)
			}
			return
		}
		var h History
		h.Add(now[0], 2)
		h.Add(now[1], 4)
		e, d := NewEncoder(m), NewDecoder(m)
		e.Begin(make([]byte, 1000))
		for _, im := range now {
			e.Put(0, &h, im)
		}
		packet, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		d.Begin(packet)
		for _, im := range now {
			got := make([]int32, len(im))
			if _, err := d.Get(0, &h, got); err != nil || !slices.Equal(got, im) {
				t.Fatalf("%v comes back as %v: %v", im, got, err)
			}
		}
	})
}
