package interest

import (
	"testing"

	"pgregory.net/rapid"
)

// A table does what a map does, under insertion and removal that keep running into each other.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got table
		want := map[uint64]uint32{}
		key := rapid.Uint64Range(1, 40)
		stride := rapid.SampledFrom([]uint64{1, 1 << 24, 1 << 42, 0x9e3779b97f4a7c15}).Draw(t,
			"stride")
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			k := key.Draw(t, "key") * stride
			switch rapid.IntRange(0, 9).Draw(t, "do") {
			case 0, 1, 2, 3, 4:
				v := rapid.Uint32().Draw(t, "value")
				got.put(k, v)
				want[k] = v
			case 9:
				if rapid.Bool().Draw(t, "clear") {
					got.clear()
					clear(want)
				}
			default:
				got.remove(k)
				delete(want, k)
			}
			if got.count != len(want) {
				t.Fatalf("count %d, want %d", got.count, len(want))
			}
			for n := uint64(1); n <= 40; n++ {
				v, ok := got.get(n * stride)
				w, there := want[n*stride]
				if v != w && ok || ok != there {
					t.Fatalf("key %#x is %d %v, want %d %v", n*stride, v, ok, w, there)
				}
			}
		}
	})
}

// When rounds run out numbers of long ago do not come back.
func TestMarksRounds(t *testing.T) {
	var m slotMap
	m.begin(2)
	m.set(0, 7)
	m.round = 1<<32 - 1
	m.begin(2)
	if _, ok := m.get(0); ok || m.round == 0 {
		t.Fatal("a mark of the first round looks new")
	}
	m.set(1, 9)
	if at, ok := m.get(1); !ok || at != 9 {
		t.Fatal("a mark is lost")
	}
}
