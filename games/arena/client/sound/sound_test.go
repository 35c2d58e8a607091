package sound

import (
	"math"
	"testing"
)

// power is the mean square of samples.
func power(x []float32) (p float64) {
	for _, v := range x {
		p += float64(v) * float64(v)
	}
	return p / float64(max(1, len(x)))
}

func TestEveryNoiseIsHeard(t *testing.T) {
	for s := range Sounds {
		x := Samples(s)
		if p := math.Sqrt(power(x)); p < 0.01 || p > 0.7 {
			t.Errorf("sound %d has a level of %.3f", s, p)
		}
		for i, v := range x {
			if v != v || v > 1 || v < -1 {
				t.Fatalf("sound %d: sample %d is %v", s, i, v)
			}
		}
		if a, b := x[0], x[len(x)-1]; math.Abs(float64(a)) > 0.02 || math.Abs(float64(b)) > 0.02 {
			t.Errorf("sound %d clicks: it begins with %.3f and ends with %.3f", s, a, b)
		}
		if again := Samples(s); power(again) != power(x) {
			t.Errorf("sound %d is another each time", s)
		}
	}
}

func TestSidesAndDistance(t *testing.T) {
	if p := At(-8, 0, 1, 20); p.Pan > -0.5 || p.Pan < -1 {
		t.Errorf("from the left: %+v", p)
	}
	if p := At(8, 0, 1, 20); p.Pan < 0.5 || p.Pan > 1 {
		t.Errorf("from the right: %+v", p)
	}
	if near, far := At(0, 1, 1, 20), At(0, 15, 1, 20); near.Volume < 4*far.Volume || near.Pan != 0 {
		t.Errorf("near is %+v, far %+v", near, far)
	}
	if p := At(0, 20, 1, 20); p.Volume != 0 {
		t.Error("heard beyond its reach")
	}
	if p := Here(0.5).Detune(0.1); p != (Source{0.5, 0, 1.1}) {
		t.Errorf("%+v", p)
	}
}
