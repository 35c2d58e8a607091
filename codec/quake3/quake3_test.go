package quake3_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake3"
	"github.com/coeval-dev/coeval/entropy"
)

// Packets are bit for bit those of the plain implementation, whatever the Huffman code.
func TestPacketsAreAsDescribed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counts [256]uint32
		for i := range counts {
			counts[i] = rapid.Uint32Range(0, 1000).Draw(t, "count")
		}
		h := entropy.NewHuffman(&counts)
		class := codec.Class{Name: "c"}
		for range rapid.IntRange(1, 30).Draw(t, "fields") {
			lo := rapid.Int32().Draw(t, "min")
			class.Fields = append(class.Fields, codec.Field{
				Name: "f",
				Min:  lo,
				Max:  rapid.Int32Range(lo, 1<<31-1).Draw(t, "max"),
				Kind: rapid.SampledFrom([]codec.Kind{codec.Discrete, codec.Number, codec.Velocity,
					codec.Position}).Draw(t, "kind"),
				Rate: -1,
			})
		}
		strategy, err := quake3.New(&codec.Schema{Name: "s", Classes: []codec.Class{class}},
			quake3.Options{Huffman: h})
		if err != nil {
			t.Fatal(err)
		}
		enc := strategy.NewEncoder()
		enc.Begin(make([]byte, 1<<14))
		m := message{huffman: h, w: bits.NewWriter(make([]byte, 1<<14))}
		for range rapid.IntRange(1, 10).Draw(t, "entities") {
			base, now := make([]int32, len(class.Fields)), make([]int32, len(class.Fields))
			for i, f := range class.Fields {
				value := rapid.OneOf(rapid.Int32Range(f.Min, f.Max),
					rapid.Just(max(f.Min, min(0, f.Max))))
				base[i] = value.Draw(t, "base")
				now[i] = rapid.OneOf(rapid.Just(base[i]), value).Draw(t, "now")
			}
			var known codec.History
			known.Add(base, 1)
			if !enc.Put(0, &known, now) {
				t.Fatal("full")
			}
			m.entity(class.Fields, base, now)
		}
		packet, err := enc.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(packet, m.w.Bytes()) {
			t.Fatalf("%x, not %x", packet, m.w.Bytes())
		}
	})
}
