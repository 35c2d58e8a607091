package world

import "testing"

// TestDeparted compares what a world tells of those who went with a copy of the tick before.
func TestDeparted(t *testing.T) {
	w := newArena(t, Settings{Seed: 1})
	for _, c := range arena.Classes() {
		if got := w.Host().Remember(c.number); got == c.deep {
			t.Errorf("class %s is remembered: %v", c.name, got)
		}
	}
	gone := 0
	for tick := range 400 {
		before := w.Host().Clone()
		census := map[int]uint64{}
		for i := range arena.Classes() {
			census[i] = w.Host().Census(i)
		}
		run(t, w, uint64(tick), 1)
		missing := map[ID]bool{}
		for id := range before.Entities() {
			if !w.Has(id) {
				missing[id] = true
				if census[id.Class()] == w.Host().Census(id.Class()) {
					t.Fatalf("%v went, and the census is the same", id)
				}
			}
		}
		for i, c := range arena.Classes() {
			for id, was := range w.Host().Departed(i) {
				if !missing[id] || !same(was, before.Host().Memory(id), c.kind.size()) {
					t.Fatalf("%v did not go, or was something else", id)
				}
				delete(missing, id)
				gone++
			}
		}
		for id := range missing {
			if !arena.classes[id.Class()].deep {
				t.Fatalf("nothing is told of %v", id)
			}
		}
	}
	if gone == 0 {
		t.Error("nothing went")
	}
	copied := w.Host().Clone()
	for i := range arena.Classes() {
		for id := range copied.Host().Departed(i) {
			t.Errorf("%v went from a copy", id)
		}
	}
}
