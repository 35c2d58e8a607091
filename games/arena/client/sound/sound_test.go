package sound

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
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

// listen takes two seconds of what is mixed: the power left and right.
func listen(m *Mixer) (left, right float64) {
	b := make([]byte, 8*480)
	var l, r []float32
	for range 200 {
		n, err := m.Read(b)
		if n != len(b) || err != nil {
			panic("the stream has ended")
		}
		for i := 0; i < n; i += 8 {
			l = append(l, math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
			r = append(r, math.Float32frombits(binary.LittleEndian.Uint32(b[i+4:])))
		}
	}
	return power(l), power(r)
}

func TestSidesAndDistance(t *testing.T) {
	m := NewMixer()
	hear := func(dx, dy float64) (float64, float64) {
		m.Play(Burst, At(dx, dy, 1, 20))
		return listen(m)
	}
	if l, r := hear(-8, 0); l < 2*r {
		t.Errorf("from the left: %g left, %g right", l, r)
	}
	if l, r := hear(8, 0); r < 2*l {
		t.Errorf("from the right: %g left, %g right", l, r)
	}
	near, _ := hear(0, 1)
	far, _ := hear(0, 15)
	if near < 4*far {
		t.Errorf("near is %g, far %g", near, far)
	}
	if l, r := hear(0, 20); l+r != 0 {
		t.Error("heard beyond its reach")
	}
	if l, r := listen(m); l+r != 0 {
		t.Error("something goes on sounding")
	}
	m.SetVolume(0)
	if l, r := hear(0, 1); l+r != 0 {
		t.Error("heard although it is muted")
	}
}

// TestAnything plays whatever comes: what is read is always sound, and there is never too much of
// it.
func TestAnything(t *testing.T) {
	m := NewMixer()
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			p := At(rapid.Float64Range(-30, 30).Draw(t, "dx"),
				rapid.Float64Range(-30, 30).Draw(t, "dy"),
				rapid.Float64Range(0, 2).Draw(t, "volume"), 25)
			m.Play(Sound(rapid.IntRange(0, int(Sounds)+2).Draw(t, "sound")),
				p.Detune(rapid.Float64Range(-2, 2).Draw(t, "detune")))
		}
		if len(m.playing) > most {
			t.Fatalf("%d at once", len(m.playing))
		}
		b := make([]byte, rapid.IntRange(0, 4000).Draw(t, "bytes"))
		n, err := m.Read(b)
		if err != nil || n != len(b)/8*8 {
			t.Fatal(n, err)
		}
		for i := 0; i < n; i += 4 {
			if v := math.Float32frombits(binary.LittleEndian.Uint32(b[i:])); !(v >= -1 && v <= 1) {
				t.Fatalf("sample %v", v)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	m := NewMixer()
	buf := make([]byte, 8*800) // a frame
	m.sum = make([]float32, 1600)
	b.ReportAllocs()
	for b.Loop() {
		for len(m.playing) < 8 {
			m.Play(Burst, Here(1))
		}
		if _, err := m.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}
