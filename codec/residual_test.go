package codec

import (
	"testing"

	"pgregory.net/rapid"
)

// universalTables are distributions as Default makes them.
func universalTables() *errorTables {
	r := new(errorTables)
	for b := range bins {
		for p := range int(binInfo[b].parts) {
			r[int(binInfo[b].table)+p] = makeTable(expectedErrors(b, p), residualSymbols)
		}
	}
	return r
}

// Any residual comes back, whatever was expected of it.
func TestResidualRoundTrip(t *testing.T) {
	type item struct {
		bin  int
		frac int64
		r    int64
	}
	model := universalTables()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item {
			size := rapid.IntRange(0, 32).Draw(t, "size")
			return item{
				rapid.IntRange(0, bins-1).Draw(t, "bin"),
				rapid.Int64Range(-128, 127).Draw(t, "frac"),
				rapid.Int64Range(-1<<size+1, 1<<size-1).Draw(t, "r"),
			}
		}), 1, 50).Draw(t, "items")
		e := NewEncoder(&Model{})
		e.Begin(make([]byte, 4096))
		for _, i := range items {
			if got := e.c.residual(model, i.bin, i.frac, i.r); got != i.r {
				t.Fatalf("encoding %+v gives %d", i, got)
			}
		}
		packet, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		d := NewDecoder(&Model{})
		d.Begin(packet)
		for _, i := range items {
			if got := d.c.residual(model, i.bin, i.frac, 0); got != i.r {
				t.Fatalf("%+v comes back as %d", i, got)
			}
		}
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}

// The quick division must be a division.
func TestBinOf(t *testing.T) {
	for x := int64(-2000); x < 2000; x++ {
		want := min(max((x-minLog)/binWidth, 0), bins-1)
		if got := binOf(x << weightBits); int64(got) != want {
			t.Fatalf("%d falls into bin %d, not %d", x, got, want)
		}
	}
}
