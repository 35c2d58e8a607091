package raw_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/doom3"
	"github.com/coeval-dev/coeval/codec/quake"
	"github.com/coeval-dev/coeval/codec/quake3"
	"github.com/coeval-dev/coeval/codec/raw"
)

// The strategies that start from packed fields keep the same promises, which are tested here for
// all of them. What only one of them does is tested beside it.
var strategies = map[string]func(*codec.Schema) (codec.Strategy, error){
	"raw":   func(s *codec.Schema) (codec.Strategy, error) { return raw.New(s) },
	"quake": func(s *codec.Schema) (codec.Strategy, error) { return quake.New(s) },
	"doom3": func(s *codec.Schema) (codec.Strategy, error) { return doom3.New(s) },
	"doom3exact": func(s *codec.Schema) (codec.Strategy, error) {
		return doom3.NewExact(s)
	},
	"quake3": func(s *codec.Schema) (codec.Strategy, error) {
		return quake3.New(s, quake3.Options{})
	},
}

// entity is what is put into a packet.
type entity struct {
	class   int
	history codec.History
	now     []int32
}

func (e *entity) changed(s *codec.Schema) bool {
	if e.history.Len > 0 {
		return !slices.Equal(e.now, e.history.Images[0])
	}
	for i, f := range s.Classes[e.class].Fields {
		if e.now[i] != min(max(0, f.Min), f.Max) {
			return true
		}
	}
	return false
}

var drawField = rapid.Custom(func(t *rapid.T) codec.Field {
	a, b := rapid.Int32().Draw(t, "a"), rapid.Int32().Draw(t, "b")
	kind := rapid.SampledFrom([]codec.Kind{codec.Discrete, codec.Number, codec.Velocity,
		codec.Position, codec.Angle}).Draw(t, "kind")
	if rapid.Bool().Draw(t, "usual") {
		a, b = 0, 1<<rapid.IntRange(0, 20).Draw(t, "bits")-1
	}
	if rapid.IntRange(0, 9).Draw(t, "widest") == 0 {
		a, b = -1<<31, 1<<31-1
	}
	return codec.Field{Name: "f", Min: min(a, b), Max: max(a, b), Kind: kind, Rate: -1}
})

func drawSchema(t *rapid.T) *codec.Schema {
	s := &codec.Schema{Name: "drawn"}
	for range rapid.IntRange(1, 3).Draw(t, "classes") {
		s.Classes = append(s.Classes,
			codec.Class{
				Name: "c", Fields: rapid.SliceOfN(drawField, 1, codec.MaxFields).Draw(t, "fields")})
	}
	return s
}

func drawEntity(t *rapid.T, s *codec.Schema) entity {
	e := entity{class: rapid.IntRange(0, len(s.Classes)-1).Draw(t, "class")}
	fields := s.Classes[e.class].Fields
	value := func(f codec.Field) int32 {
		switch rapid.IntRange(0, 3).Draw(t, "where") {
		case 0:
			return min(max(0, f.Min), f.Max)
		case 1:
			return min(max(rapid.Int32Range(-5000, 5000).Draw(t, "small"), f.Min), f.Max)
		}
		return rapid.Int32Range(f.Min, f.Max).Draw(t, "value")
	}
	base := make([]int32, len(fields))
	for i, f := range fields {
		base[i] = value(f)
	}
	e.now = slices.Clone(base)
	if known := rapid.IntRange(0, 9).Draw(t, "known") > 0; known {
		e.history.Add(base, 2)
		for range rapid.IntRange(0, len(fields)).Draw(t, "changes") {
			i := rapid.IntRange(0, len(fields)-1).Draw(t, "field")
			e.now[i] = value(fields[i])
		}
	}
	return e
}

// pack fills packets of at most size bytes, and says how many entities are in each.
func pack(t *rapid.T, enc codec.PacketEncoder, entities []entity, size int) (packets [][]byte,
	counts []int) {
	for len(entities) > 0 {
		buf := bytes.Repeat([]byte{0xA5}, size+1)
		enc.Begin(buf[:size:size])
		n := 0
		for n < len(entities) && enc.Put(entities[n].class, &entities[n].history, entities[n].now) {
			n++
		}
		packet, err := enc.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if len(packet) > size || buf[size] != 0xA5 {
			t.Fatalf("a packet of %d bytes in room for %d", len(packet), size)
		}
		if n == 0 {
			t.Fatal("an entity does not fit into a packet")
		}
		packets, counts, entities = append(packets, packet), append(counts, n), entities[n:]
	}
	return packets, counts
}

// Whatever is put into packets comes out of each of them, and of no part of it.
func TestRoundTrip(t *testing.T) {
	for name, make := range strategies {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSchema(t)
				strategy, err := make(s)
				if err != nil {
					t.Fatal(err)
				}
				var entities []entity
				for range rapid.IntRange(1, 30).Draw(t, "entities") {
					entities = append(entities, drawEntity(t, s))
				}
				const largest = codec.MaxFields*63/8 + 16
				packets, counts := pack(t, strategy.NewEncoder(), entities,
					rapid.IntRange(largest, 1150).Draw(t, "size"))
				dec := strategy.NewDecoder()
				at := 0
				for i, p := range packets {
					mine := entities[at : at+counts[i]]
					if err := unpack(t, s, dec, p, mine); err != nil {
						t.Fatal(err)
					}
					if err := unpack(nil, s, dec, p[:rapid.IntRange(0, len(p)-1).Draw(t, "cut")],
						mine); err == nil {
						t.Fatal("a packet that was cut passed")
					}
					if err := unpack(nil, s, dec, append(slices.Clone(p), 0), mine); err == nil {
						t.Fatal("a packet that was lengthened passed")
					}
					at += counts[i]
				}
			})
		})
	}
}

// unpack reads a packet and, where t is not nil, holds it against what was put.
func unpack(t *rapid.T, s *codec.Schema, dec codec.PacketDecoder, packet []byte,
	want []entity) error {
	dec.Begin(slices.Clone(packet))
	for i := range want {
		e := &want[i]
		now := make([]int32, len(e.now))
		changed, err := dec.Get(e.class, &e.history, now)
		if err != nil {
			return err
		}
		if t != nil && (changed != e.changed(s) || !slices.Equal(now, e.now)) {
			t.Fatalf("entity %d: %v is not %v, changed %v", i, now, e.now, changed)
		}
	}
	return dec.Finish()
}

// An entity that does not fit leaves no trace.
func TestPutLeavesAFullPacket(t *testing.T) {
	for name, make := range strategies {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSchema(t)
				strategy, err := make(s)
				if err != nil {
					t.Fatal(err)
				}
				buf := [2][2048]byte{}
				size := rapid.IntRange(0, 200).Draw(t, "size")
				enc, plain := strategy.NewEncoder(), strategy.NewEncoder()
				enc.Begin(buf[0][:size])
				plain.Begin(buf[1][:])
				refused := 0
				for range rapid.IntRange(1, 40).Draw(t, "entities") {
					e := drawEntity(t, s)
					if !enc.Put(e.class, &e.history, e.now) {
						refused++
						continue
					}
					if !plain.Put(e.class, &e.history, e.now) {
						t.Fatal("it fits where there is less room only")
					}
				}
				got, err := enc.Finish()
				if err != nil {
					t.Fatal(err)
				}
				want, err := plain.Finish()
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("after %d refusals the packet is\n%x, not\n%x", refused, got, want)
				}
			})
		})
	}
}

// A value that its field cannot hold must not reach the receiver as another one.
func TestValueOutOfRange(t *testing.T) {
	s := &codec.Schema{Name: "s", Classes: []codec.Class{{Name: "tank", Fields: []codec.Field{
		{Name: "turret", Min: 0, Max: 9, Rate: -1}, {Name: "health", Min: -100, Max: 100, Rate: -1},
	}}}}
	for name, make := range strategies {
		strategy, err := make(s)
		if err != nil {
			t.Fatal(err)
		}
		enc := strategy.NewEncoder()
		for _, v := range []int32{101, -101, 1 << 30, -1 << 31} {
			var h codec.History
			h.Add([]int32{0, 0}, 1)
			enc.Begin(make2048())
			if !enc.Put(0, &h, []int32{1, v}) {
				t.Errorf("%s: refused as if the packet were full", name)
			}
			if _, err := enc.Finish(); err == nil ||
				!bytes.Contains([]byte(err.Error()), []byte("class tank, field health")) {
				t.Errorf("%s: %d gives %v", name, v, err)
			}
			enc.Begin(make2048())
			enc.Put(0, &h, []int32{1, 100})
			if _, err := enc.Finish(); err != nil {
				t.Errorf("%s: the next packet fails too: %v", name, err)
			}
		}
		if _, err := make(&codec.Schema{}); err == nil {
			t.Errorf("%s: takes an empty schema", name)
		}
	}
}

func make2048() []byte { return make([]byte, 2048) }
