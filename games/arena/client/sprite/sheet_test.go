package sprite

import "testing"

// TestPixels looks at every shape: each must be there, and have light where it is to be seen.
func TestPixels(t *testing.T) {
	for s := range Shapes {
		pix := Pixels(s)
		if len(pix) != 4*Cell*Cell {
			t.Fatalf("shape %d has %d bytes", s, len(pix))
		}
		var cover, light int
		for i := 0; i < len(pix); i += 4 {
			cover += int(pix[i+3])
			light += int(pix[i]) * int(pix[i+3])
		}
		if cover < 255*Cell*Cell/50 {
			t.Errorf("shape %d is all but empty", s)
		}
		dark := s == Scorch || s == Shadow || s == Tile || s == Grate
		if (light == 0) != dark {
			t.Errorf("shape %d is black, or should be: %d", s, light)
		}
	}
}

func BenchmarkPixels(b *testing.B) {
	for b.Loop() {
		for s := range Shapes {
			Pixels(s)
		}
	}
}
