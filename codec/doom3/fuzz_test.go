package doom3_test

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/doom3"
)

// FuzzDecode gives a decoder anything for a packet. What it takes must be images that the schema
// allows, which survive being sent again.
func FuzzDecode(f *testing.F) {
	schema := &codec.Schema{Name: "fuzzed", Classes: []codec.Class{
		{Name: "tank", Fields: []codec.Field{
			{Name: "x", Max: 1<<17 - 1, Kind: codec.Position, Rate: 2},
			{Name: "height", Min: -1 << 31, Max: 1<<31 - 1, Kind: codec.Number, Rate: -1},
			{Name: "speed", Max: 4095, Kind: codec.Velocity, Rate: -1},
			{Name: "health", Min: -10, Max: 100, Rate: -1},
			{Name: "always", Min: 7, Max: 7, Rate: -1},
			{Name: "seed", Min: -1 << 31, Max: 1<<31 - 1, Rate: -1},
		}},
		{Name: "item",
			Fields: []codec.Field{
				{Name: "taken", Max: 1, Rate: -1}, {Name: "kind", Max: 4, Rate: -1}}},
	}}
	bases := [][]int32{{5000, -3, 2048, 100, 7, 0}, {0, 2}}
	plain, err := doom3.New(schema)
	if err != nil {
		f.Fatal(err)
	}
	exact, err := doom3.NewExact(schema)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, packet []byte, entities uint8) {
		strategy := plain
		if entities >= 128 { // the other half of what there is to try
			strategy, entities = exact, entities-128
		}
		dec, enc := strategy.NewDecoder(), strategy.NewEncoder()
		dec.Begin(packet)
		enc.Begin(make([]byte, 1<<14))
		var h codec.History
		var images [][]int32
		for i := range int(entities) {
			class := i % 2
			h.Reset()
			if i%5 != 4 {
				h.Add(bases[class], 3)
			}
			now := make([]int32, len(bases[class]))
			if _, err := dec.Get(class, &h, now); err != nil {
				return
			}
			for j, field := range schema.Classes[class].Fields {
				if now[j] < field.Min || now[j] > field.Max {
					t.Fatalf("entity %d, field %s is %d", i, field.Name, now[j])
				}
			}
			if !enc.Put(class, &h, now) {
				t.Fatal("full")
			}
			images = append(images, now)
		}
		if dec.Finish() != nil {
			return
		}
		again, err := enc.Finish()
		if err != nil {
			t.Fatal(err)
		}
		dec.Begin(again)
		for i, want := range images {
			h.Reset()
			if i%5 != 4 {
				h.Add(bases[i%2], 3)
			}
			now := make([]int32, len(want))
			if _, err := dec.Get(i%2, &h, now); err != nil || !slices.Equal(now, want) {
				t.Fatalf("entity %d: %v came back as %v: %v", i, want, now, err)
			}
		}
		if err := dec.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}
