package codec

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// A packet of entities that are replayed is the packet of the same entities as
// they are put, to the bit, also where it is full.
func TestReplayIsPut(t *testing.T) {
	models := []*Model{untrained(t, synthetic(1, 1).Schema), trained(t)}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(models).Draw(t, "model")
		a, b, scratch := NewEncoder(m), NewEncoder(m), NewEncoder(m)
		size := rapid.IntRange(8, 600).Draw(t, "size")
		a.Begin(make([]byte, size))
		b.Begin(make([]byte, size))
		var tape Tape
		for range rapid.IntRange(1, 12).Draw(t, "entities") {
			class := rapid.IntRange(0, len(m.schema.Classes)-1).Draw(t, "class")
			c := &m.schema.Classes[class]
			var h History
			var last []int32
			age := rapid.Int32Range(0, 60).Draw(t, "age")
			for range rapid.IntRange(1, Depth).Draw(t, "known") {
				last = anyImage(t, c, last)
				h.Add(last, age)
				age += rapid.Int32Range(1, 60).Draw(t, "older")
			}
			now := anyImage(t, c, h.Images[0])
			// It was recorded in another packet that was in the same context.
			scratch.Begin(make([]byte, 4000))
			scratch.c.facts[factBefore] = b.Context()
			scratch.Note(&tape)
			if !scratch.Put(class, &h, now) {
				t.Fatal("no room where there is plenty")
			}
			put, replayed := a.Put(class, &h, now), b.Replay(&tape)
			if put != replayed || a.Context() != b.Context() {
				t.Fatalf("put %v in context %d, replayed %v in context %d", put, a.Context(),
					replayed, b.Context())
			}
		}
		x, err := a.Finish()
		y, err2 := b.Finish()
		if err != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Fatalf("%x %v and %x %v", x, err, y, err2)
		}
	})
}

func BenchmarkReplay(b *testing.B) {
	r := synthetic(3, 40)
	m, err := Default(r.Schema)
	if err != nil {
		b.Fatal(err)
	}
	e := NewEncoder(m)
	known, n := r.Known(30, nil)
	var h History
	r.History(&h, 0, 30, known[:n])
	var tape Tape
	e.Begin(make([]byte, 1150))
	e.Note(&tape)
	if !e.Put(r.Classes[0], &h, r.Image(30, 0)) {
		b.Fatal("no room")
	}
	buf := make([]byte, 1150)
	b.Run("put", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			e.Begin(buf)
			e.Put(r.Classes[0], &h, r.Image(30, 0))
		}
	})
	b.Run("replay", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			e.Begin(buf)
			e.Replay(&tape)
		}
	})
}
