package sprite

import "testing"

// TestSheet looks at every shape: each must be there, within its cell, and be blended as
// premultiplied colour.
func TestSheet(t *testing.T) {
	sheet, where := Sheet()
	for s := range Shapes {
		r := where[s]
		if !r.In(sheet.Bounds()) || r.Dx() != Cell || r.Dy() != Cell {
			t.Fatalf("shape %d is at %v, outside of %v", s, r, sheet.Bounds())
		}
		var cover, light int
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				c := sheet.RGBAAt(x, y)
				if c.R > c.A {
					t.Fatalf("shape %d: pixel %v is brighter than it covers", s, c)
				}
				cover += int(c.A)
				light += int(c.R)
			}
		}
		if cover < 255*Cell*Cell/50 {
			t.Errorf("shape %d is all but empty", s)
		}
		if light == 0 && s != Scorch && s != Shadow {
			t.Errorf("shape %d is black", s)
		}
		for o := range s {
			if where[o].Overlaps(r) {
				t.Errorf("shapes %d and %d share a place", o, s)
			}
		}
	}
}

func BenchmarkSheet(b *testing.B) {
	for range b.N {
		Sheet()
	}
}
