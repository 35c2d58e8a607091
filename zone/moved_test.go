package zone

import (
	"testing"

	"pgregory.net/rapid"
)

// TestMovedForgets fills the memory of who left, beyond what it holds.
func TestMovedForgets(t *testing.T) {
	var m moved
	m.reset()
	for i := range uint64(3 * maxMoved) {
		m.left(i%(maxMoved+10), ID(1+i%7))
		if i%5 == 0 {
			m.came(i % 100)
		}
		if len(m.to) > maxMoved || len(m.ring) > 2*maxMoved {
			t.Fatalf("%d entities, %d places", len(m.to), len(m.ring))
		}
	}
	if _, ok := m.where((3*maxMoved - 1) % (maxMoved + 10)); !ok {
		t.Error("the one that left last was forgotten")
	}
}

// TestImageRepeats saves and loads zones that did anything, and has both go on alike.
func TestImageRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newState(1, &opaque{data: []byte("body")})
		entities := rapid.Uint64Range(1, 20)
		for range rapid.IntRange(0, 40).Draw(t, "ticks") {
			f := frame{tick: a.tick + 1}
			st := a.streams.open(ID(rapid.IntRange(2, 4).Draw(t, "peer")))
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				i := &item{kind: itemKind(rapid.IntRange(1, 2).Draw(t, "kind")),
					entity: entities.Draw(t, "entity"), tick: a.tick, data: []byte("x")}
				i.origin = origin{st.peer, 1, st.accepted + 1 + uint64(len(f.taken))}
				f.taken = append(f.taken, taken{from: st.peer,
					number: st.accepted + 1 + uint64(len(f.taken)), item: i})
			}
			for range rapid.IntRange(0, 3).Draw(t, "departures") {
				a.moved.left(entities.Draw(t, "left"), st.peer)
			}
			if err := a.execute(&f); err != nil {
				t.Fatal(err)
			}
			st.passed(rapid.Uint64Range(0, st.out.end()).Draw(t, "passed"))
		}
		b := newState(1, &opaque{})
		image := seal(a.save(nil), 9)
		if seq, err := load(b, image); seq != 9 || err != nil {
			t.Fatal(seq, err)
		}
		if again := seal(b.save(nil), 9); string(again) != string(image) {
			t.Fatalf("%x was loaded, and is saved as %x", image, again)
		}
	})
}
