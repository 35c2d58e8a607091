package det

import (
	"math"
	"math/bits"
	"slices"
	"testing"
)

// chiSquare is how far counts are from their expectation, in standard deviations of what chance
// would do.
func chiSquare(counts []int, want func(i int) float64) float64 {
	sum := 0.0
	for i, c := range counts {
		d := float64(c) - want(i)
		sum += d * d / want(i)
	}
	k := float64(len(counts) - 1)
	return (sum - k) / math.Sqrt(2*k)
}

// limit is so far out that a good generator never gets there in the life of these fixed seeds, and
// a bad one always does.
const limit = 5

// The sequences that a game draws: along each coordinate alone, as counters that differ in a few
// low bits.
var walks = map[string]func(i uint64) uint64{
	"seed":    func(i uint64) uint64 { return Draw(i, 7, 100, 0) },
	"entity":  func(i uint64) uint64 { return Draw(1, i, 100, 0) },
	"tick":    func(i uint64) uint64 { return Draw(1, 7, i, 0) },
	"ordinal": func(i uint64) uint64 { return Draw(1, 7, 100, i) },
	"swapped": func(i uint64) uint64 {
		return Draw(1, i>>8, i&255, 0) ^ bits.RotateLeft64(Draw(1, i&255, i>>8, 0), 17)
	},
}

func TestDrawIsEven(t *testing.T) {
	const n = 1 << 17
	for name, walk := range walks {
		var bit [64]int
		var high, low [256]int
		var pair [256]int // the upper four bits of neighbours
		last := walk(n)
		for i := range uint64(n) {
			v := walk(i)
			for b := range bit {
				bit[b] += int(v >> b & 1)
			}
			high[v>>56]++
			low[v&255]++
			pair[last>>60<<4|v>>60]++
			last = v
		}
		for b, c := range bit {
			if z := math.Abs(float64(c)-n/2) / math.Sqrt(n/4); z > limit {
				t.Errorf("%s: bit %d is set %d times of %d", name, b, c, n)
			}
		}
		even := func(int) float64 { return n / 256 }
		for what, counts := range map[string][]int{
			"high byte": high[:], "low byte": low[:], "pairs": pair[:]} {
			if z := chiSquare(counts, even); math.Abs(z) > limit {
				t.Errorf("%s: %s has chi-square %.1f deviations off", name, what, z)
			}
		}
	}
}

// Flipping any bit of any input must flip each bit of the result half of the time.
func TestDrawAvalanche(t *testing.T) {
	const n = 2000
	r := At(99, 0, 0)
	for in := range 256 {
		var flips [64]int
		for range n {
			key := [4]uint64{
				r.Uint64(), r.Uint64() & 0xFFFF, r.Uint64() & 0xFFFFF, r.Uint64() & 0xFF}
			a := Draw(key[0], key[1], key[2], key[3])
			key[in/64] ^= 1 << (in % 64)
			x := a ^ Draw(key[0], key[1], key[2], key[3])
			for b := range flips {
				flips[b] += int(x >> b & 1)
			}
		}
		for b, c := range flips {
			if z := math.Abs(float64(c)-n/2) / math.Sqrt(n/4); z > limit+0.5 { // 16384 trials
				t.Errorf("input bit %d flips result bit %d in %d of %d", in, b, c, n)
			}
		}
	}
}

// Neighbouring streams must not be shifted or scaled copies of each other.
func TestDrawStreamsAreUnrelated(t *testing.T) {
	const n = 1 << 14
	for _, other := range []Rand{At(1, 8, 100), At(1, 7, 101), At(2, 7, 100), At(1, 100, 7)} {
		one := At(1, 7, 100)
		for lag := range uint64(8) {
			sum, same := 0.0, 0
			for i := range uint64(n) {
				a, b := one.Nth(i), other.Nth(i+lag)
				sum += (float64(a>>11)/(1<<53) - 0.5) * (float64(b>>11)/(1<<53) - 0.5) * 12
				same += bits.OnesCount64(a ^ b)
			}
			if z := math.Abs(sum) / math.Sqrt(n); z > limit {
				t.Errorf("correlation %.1f deviations at lag %d", z, lag)
			}
			if z := math.Abs(float64(same)-32*n) / math.Sqrt(16*n); z > limit {
				t.Errorf("differing bits %.1f deviations off at lag %d", z, lag)
			}
		}
	}
}

// Number of distinct values: a mixer that loses information repeats itself too soon.
func TestDrawRarelyRepeats(t *testing.T) {
	const n = 1 << 18
	vs := make([]uint64, 0, n)
	for e := range uint64(512) {
		for tick := range uint64(512) {
			vs = append(vs, Draw(3, e, tick, 0)>>24)
		}
	}
	slices.Sort(vs)
	same := 0
	for i := range vs[1:] {
		if vs[i] == vs[i+1] {
			same++
		}
	}
	// n²/2 pairs over 2^40 values.
	want := float64(n) * float64(n) / 2 / (1 << 40)
	if float64(same) > want+limit*math.Sqrt(want)+1 {
		t.Errorf("%d of %d values repeat, by chance %.2f should", same, n, want)
	}
}

func TestRandInOrderIsNth(t *testing.T) {
	r, s := At(1, 2, 3), At(1, 2, 3)
	for i := range uint64(100) {
		if v := r.Uint64(); v != s.Nth(i) || v != Draw(1, 2, 3, i) {
			t.Fatalf("draw %d", i)
		}
	}
}

func TestRandShapes(t *testing.T) {
	const n = 1 << 16
	r := At(4, 5, 6)
	var die, sphere, circle [12]int
	var sum, square, fourth float64
	for range n {
		die[r.IntN(len(die))]++
		u := r.Unit3()
		if math.Abs(u.Len()-1) > 1e-14 {
			t.Fatalf("%v is not a direction", u)
		}
		sphere[Int32((u.X+1)*6)]++ // equal slices of a sphere have equal area, along any axis
		circle[Int32((float64(r.Unit2().Angle())+Pi)*(12/(2*Pi)))%12]++
		x := r.Normal()
		sum, square, fourth = sum+x, square+x*x, fourth+x*x*x*x
		if f := r.Float64(); f < 0 || f >= 1 {
			t.Fatalf("Float64 gives %v", f)
		}
		if f := r.Range(-3, 5); f < -3 || f > 5 {
			t.Fatalf("Range gives %v", f)
		}
	}
	even := func(int) float64 { return n / 12.0 }
	for what, counts := range map[string][]int{
		"die": die[:], "sphere": sphere[:], "circle": circle[:]} {
		if z := chiSquare(counts, even); math.Abs(z) > limit {
			t.Errorf("%s: %v", what, counts)
		}
	}
	if m := sum / n; math.Abs(m) > limit/math.Sqrt(n) {
		t.Errorf("mean %v", m)
	}
	if m := square / n; math.Abs(m-1) > limit*math.Sqrt(2.0/n) {
		t.Errorf("variance %v", m)
	}
	if m := fourth / n; math.Abs(m-3) > limit*math.Sqrt(96.0/n) {
		t.Errorf("fourth moment %v", m)
	}
	if r.IntN(0) != 0 || r.IntN(-5) != 0 || r.Uint64N(1) != 0 || r.Chance(0) || !r.Chance(1) {
		t.Error("bounds")
	}
}

// A range just above half of all numbers would favour the lower ones if nothing were rejected.
func TestUint64NIsUnbiased(t *testing.T) {
	const n = 30000
	r := At(8, 8, 8)
	bound := uint64(3) << 62
	low := 0
	for range n {
		if r.Uint64N(bound) < bound/3 {
			low++
		}
	}
	if z := math.Abs(float64(low)-n/3) / math.Sqrt(n*2/9); z > limit {
		t.Errorf("the lower third has %d of %d", low, n)
	}
}

func TestShuffle(t *testing.T) {
	// All 24 orders of four things, equally often.
	const n = 24000
	counts := map[[4]int]int{}
	r := At(10, 0, 0)
	for range n {
		p := [4]int{0, 1, 2, 3}
		r.Shuffle(4, func(i, j int) { p[i], p[j] = p[j], p[i] })
		counts[p]++
	}
	var all []int
	for _, c := range counts {
		all = append(all, c)
	}
	if len(all) != 24 || math.Abs(chiSquare(all, func(int) float64 { return n / 24 })) > limit {
		t.Errorf("%v", counts)
	}
}
