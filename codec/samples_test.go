package codec

import (
	"bytes"
	"testing"
)

// gather plays a recording to receivers with different losses, and takes every so manieth entity.
func gather(t testing.TB, m *Model, r *Recording, bytes, every int) *Samples {
	t.Helper()
	x := NewSamples(r.Schema, bytes)
	e := NewEncoder(m)
	buf := make([]byte, 1<<14)
	var h, rh History
	rng, k := uint64(3), 0
	for _, loss := range []float64{0, 0.2} {
		arrived := make([]bool, len(r.Frames))
		for i := range arrived {
			rng = rng*6364136223846793005 + 1442695040888963407
			arrived[i] = float64(rng>>11)/(1<<53) >= loss
		}
		for n := r.Skip; n < len(r.Frames); n++ {
			known, have := r.Known(n, arrived)
			if have == 0 {
				continue
			}
			e.Begin(buf)
			for i, c := range r.Classes {
				r.History(&h, i, n, known[:have])
				if k++; k%every == 0 {
					e.Take(x, c, &h, r.Image(n, i))
				}
				if !e.Put(c, &h, r.Image(n, i)) {
					t.Fatalf("frame %d does not fit", n)
				}
				if i == r.Refer {
					rh = h
					e.Refer(c, &rh, r.Image(n, i))
				}
			}
		}
	}
	return x
}

// What is learned from a part of what was sent is nearly as good as tables trained on all of it,
// takes a fraction of their bytes, and decodes.
func TestLearn(t *testing.T) {
	r, other := synthetic(1, 600), synthetic(7, 300)
	x := gather(t, untrained(t, r.Schema), r, 16<<20, 1)
	tables := Learn(x, LearnOptions{})
	m, err := LoadTables(r.Schema, tables)
	if err != nil {
		t.Fatal(err)
	}
	self, err := Train(r.Schema, []*Recording{other}, TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other.Schema = r.Schema
	plain := play(t, untrained(t, r.Schema), untrained(t, r.Schema), other, nil)
	best := play(t, self, self, other, nil)
	learned := play(t, m, m, other, nil)
	t.Logf("untrained %.1f, trained on it %.1f (%d bytes), learned elsewhere %.1f (%d bytes)",
		plain, best, len(self.AppendTables(nil)), learned, len(tables))
	if learned > best*1.2 || learned > plain*0.9 {
		t.Errorf("learned tables take %.1f bytes a frame; trained %.1f, untrained %.1f",
			learned, best, plain)
	}
	if len(tables) > len(self.AppendTables(nil))/3 {
		t.Errorf("%d bytes of tables are not compact", len(tables))
	}
}

func TestLearnIsReproducible(t *testing.T) {
	r := synthetic(2, 120)
	var made [2][]byte
	for i := range made {
		made[i] = Learn(gather(t, untrained(t, r.Schema), r, 1<<20, 1), LearnOptions{})
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("the same samples made different tables")
	}
}

// Whatever there is to learn from, there are tables that work: nothing, one thing for ever, and
// noise.
func TestLearnFromNothingOfUse(t *testing.T) {
	for _, what := range []string{"nothing", "constant", "random"} {
		r := synthetic(3, 60)
		rng := uint64(9)
		for n := range r.Frames {
			for i := range r.Classes {
				image := r.Image(n, i)
				for k := range image {
					f := &r.Schema.Classes[r.Classes[i]].Fields[k]
					switch what {
					case "constant":
						image[k] = f.Max
					case "random":
						rng = rng*6364136223846793005 + 1442695040888963407
						image[k] = f.Min + int32(rng>>11%uint64(f.span()))
					}
				}
			}
		}
		x := NewSamples(r.Schema, 1<<20)
		if what != "nothing" {
			x = gather(t, untrained(t, r.Schema), r, 1<<20, 1)
		}
		m, err := LoadTables(r.Schema, Learn(x, LearnOptions{}))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		play(t, m, m, r, nil)
		play(t, m, m, synthetic(3, 60), nil) // what nothing prepared it for
	}
}

// However much comes, the memory is bounded, and samples of long ago give way.
func TestSamplesAreBounded(t *testing.T) {
	r := synthetic(4, 200)
	const most = 256 << 10
	x := gather(t, untrained(t, r.Schema), r, most, 1)
	sum := 0
	for i := range x.shelves {
		sum += 4 * cap(x.shelves[i].rows)
	}
	if sum > most {
		t.Errorf("samples take %d bytes of %d", sum, most)
	}
	y := NewSamples(r.Schema, most)
	for range 3 {
		y.Add(x)
	}
	if y.Len() != x.Len() {
		t.Errorf("%d samples are held of a full store of %d", y.Len(), x.Len())
	}
	if x.Reset(); x.Len() != 0 {
		t.Error("a reset store holds samples")
	}
}

func TestTakeAllocatesNothing(t *testing.T) {
	r := synthetic(5, 60)
	m := untrained(t, r.Schema)
	x := NewSamples(r.Schema, 64<<10)
	e := NewEncoder(m)
	var h History
	known, k := r.Known(40, nil)
	r.History(&h, 3, 40, known[:k])
	e.Begin(make([]byte, 1<<10))
	for range 1000 {
		e.Take(x, r.Classes[3], &h, r.Image(40, 3))
	}
	take := func() { e.Take(x, r.Classes[3], &h, r.Image(40, 3)) }
	if n := testing.AllocsPerRun(100, take); n != 0 {
		t.Errorf("%v allocations for a sample", n)
	}
}

// Tables in the compact form make the packets of the plain ones no larger.
func TestCompact(t *testing.T) {
	r := synthetic(6, 300)
	m := trained(t)
	data, err := m.Compact()
	if err != nil {
		t.Fatal(err)
	}
	c, err := LoadTables(r.Schema, data)
	if err != nil {
		t.Fatal(err)
	}
	if !TablesFit(r.Schema, data) {
		t.Error("compact tables are not taken for tables of their schema")
	}
	plain, compact := play(t, m, m, r, nil), play(t, c, c, r, nil)
	t.Logf("plain %.1f bytes a frame (%d bytes), compact %.1f (%d bytes)", plain,
		len(m.AppendTables(nil)), compact, len(data))
	if compact > plain*1.03 {
		t.Errorf("compact tables take %.1f bytes a frame, plain ones %.1f", compact, plain)
	}
}
