package raw_test

import (
	"testing"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
)

// scene is a schema like that of a shooter, and entities of which each field changed with a chance
// of one third.
func scene() (*codec.Schema, []entity) {
	c := codec.Class{Name: "player"}
	for _, width := range []int{
		17, 17, 14, 12, 12, 12, 16, 16, 16, 8, 8, 8, 8, 5, 16, 8, 8, 12, 8, 12} {
		c.Fields = append(c.Fields, codec.Field{Name: "f", Max: 1<<width - 1, Rate: -1})
	}
	r := det.At(1, 0, 0)
	entities := make([]entity, 64)
	for i := range entities {
		e := &entities[i]
		base := make([]int32, len(c.Fields))
		e.now = make([]int32, len(c.Fields))
		for j, f := range c.Fields {
			base[j] = int32(r.IntN(int(f.Max) + 1))
			e.now[j] = base[j]
			if r.Chance(1. / 3) {
				e.now[j] = int32(r.IntN(int(f.Max) + 1))
			}
		}
		e.history.Add(base, 2)
	}
	return &codec.Schema{Name: "scene", Classes: []codec.Class{c}}, entities
}

func encode(tb testing.TB, enc codec.PacketEncoder, buf []byte, entities []entity) []byte {
	enc.Begin(buf)
	for i := range entities {
		e := &entities[i]
		if !enc.Put(e.class, &e.history, e.now) {
			tb.Fatal("full")
		}
	}
	packet, err := enc.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return packet
}

func decode(tb testing.TB, dec codec.PacketDecoder, packet []byte, now []int32, entities []entity) {
	dec.Begin(packet)
	for i := range entities {
		e := &entities[i]
		if _, err := dec.Get(e.class, &e.history, now); err != nil {
			tb.Fatal(err)
		}
	}
	if err := dec.Finish(); err != nil {
		tb.Fatal(err)
	}
}

func perEntity(b *testing.B, entities []entity) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entities)), "ns/entity")
}

func BenchmarkEncode(b *testing.B) {
	s, entities := scene()
	buf := make([]byte, 1<<14)
	for name, make := range strategies {
		b.Run(name, func(b *testing.B) {
			strategy, err := make(s)
			if err != nil {
				b.Fatal(err)
			}
			enc := strategy.NewEncoder()
			b.ReportAllocs()
			for b.Loop() {
				encode(b, enc, buf, entities)
			}
			perEntity(b, entities)
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	s, entities := scene()
	buf, now := make([]byte, 1<<14), make([]int32, codec.MaxFields)
	for name, make := range strategies {
		b.Run(name, func(b *testing.B) {
			strategy, err := make(s)
			if err != nil {
				b.Fatal(err)
			}
			packet := encode(b, strategy.NewEncoder(), buf, entities)
			dec := strategy.NewDecoder()
			b.ReportAllocs()
			for b.Loop() {
				decode(b, dec, packet, now[:len(entities[0].now)], entities)
			}
			perEntity(b, entities)
		})
	}
}

func TestNoAllocations(t *testing.T) {
	s, entities := scene()
	buf, now := make([]byte, 1<<14), make([]int32, codec.MaxFields)
	for name, make := range strategies {
		strategy, err := make(s)
		if err != nil {
			t.Fatal(err)
		}
		enc, dec := strategy.NewEncoder(), strategy.NewDecoder()
		if n := testing.AllocsPerRun(20, func() {
			decode(t, dec, encode(t, enc, buf, entities), now[:len(entities[0].now)], entities)
		}); n != 0 {
			t.Errorf("%s: %v allocations for each packet", name, n)
		}
	}
}
