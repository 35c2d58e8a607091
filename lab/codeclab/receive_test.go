package codeclab

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/codec"
)

// Whatever is lost, a frame is encoded from frames that arrived, that are old enough to be
// acknowledged and that the receiver still has.
func TestKnownFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.IntRange(2, 1500).Draw(t, "frames")
		r := &codec.Recording{BaseAge: rapid.IntRange(1, maxBaseAge).Draw(t, "age")}
		loss := rapid.SampledFrom([]float64{0, 0.2, 0.9, 0.999}).Draw(t, "loss")
		arrived := arrivals(frames, loss, rapid.Uint64().Draw(t, "seed"))
		frame := rapid.IntRange(1, frames-1).Draw(t, "frame")
		known, n := knownFrames(r, frame, arrived)
		if n < 1 {
			t.Fatal("nothing is known")
		}
		for i, f := range known[:n] {
			switch {
			case f < 0 || f >= frame || !arrived[f]:
				t.Fatalf("frame %d cannot be known at %d", f, frame)
			case f != 0 && frame-f < r.BaseAge:
				t.Fatalf("frame %d is too new at %d with age %d", f, frame, r.BaseAge)
			case f != 0 && frame-f >= window:
				t.Fatalf("frame %d is forgotten at %d", f, frame)
			case i > 0 && f >= known[i-1]:
				t.Fatalf("%v are not in order", known[:n])
			}
		}
		for f := frame - r.BaseAge; f > max(known[0], frame-window); f-- {
			if arrived[f] {
				t.Fatalf("the base is %d, though %d arrived", known[0], f)
			}
		}
	})
}

func TestArrivals(t *testing.T) {
	for _, loss := range []float64{0, 0.2, 0.5} {
		lost := 0
		const frames = 20000
		for _, a := range arrivals(frames, loss, 7) {
			if !a {
				lost++
			}
		}
		if share := float64(lost) / frames; share < loss-0.02 || share > loss+0.02 ||
			(loss == 0 && lost > 0) {
			t.Errorf("loss %v loses %v", loss, share)
		}
	}
	if !arrivals(3, 0.999, 1)[0] {
		t.Error("the first frame is what the map starts with")
	}
}
