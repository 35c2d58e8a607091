package quake3_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake3"
	"github.com/coeval-dev/coeval/entropy"
	"github.com/coeval-dev/coeval/lab/codeclab"
)

// TestRecordedCode makes the built-in Huffman code again from the recordings that it is said to
// come from.
func TestRecordedCode(t *testing.T) {
	var counts [256]uint32
	for _, name := range []string{"cubes", "arena"} {
		layout, err := codeclab.OpenSchema("../../lab/workloads/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		r, err := layout.OpenFrames("../../lab/workloads/" + name + "_train.zst")
		if err != nil {
			t.Fatal(err)
		}
		count(r, &counts)
	}
	h := entropy.NewHuffman(&counts)
	var lengths strings.Builder
	for b := range 256 {
		fmt.Fprintf(&lengths, "%x", h.Len(byte(b)))
	}
	if got := quake3.RecordedLengths; got != lengths.String() {
		t.Errorf("the built-in code has the lengths\n%s\nthe recordings give\n%s", got,
			lengths.String())
	}
}

func count(r *codec.Recording, counts *[256]uint32) {
	buf := make([]byte, 1<<16)
	m := message{
		huffman: entropy.NewHuffman(&[256]uint32{}), w: bits.NewWriter(nil), counts: counts}
	for frame := r.Skip; frame < len(r.Frames); frame++ {
		known, _ := r.Known(frame, nil)
		m.w.Reset(buf)
		for e, c := range r.Classes {
			m.entity(r.Schema.Classes[c].Fields, r.Image(known[0], e), r.Image(frame, e))
		}
	}
}
