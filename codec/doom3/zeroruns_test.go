package doom3

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/entropy"
)

// What is shortened as it is written is what entropy.ZeroRuns makes of the whole, and expands to
// the same bits.
func TestShortener(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var z shortener
		z.reset(make([]byte, 4096))
		plain := bits.NewWriter(make([]byte, 4096))
		for range rapid.IntRange(0, 200).Draw(t, "writes") {
			if rapid.Bool().Draw(t, "zeros") {
				n := rapid.IntRange(0, 80).Draw(t, "n")
				z.zeros(n)
				plain.WriteBits(0, n/2)
				plain.WriteBits(0, n-n/2)
				continue
			}
			width := rapid.IntRange(0, 33).Draw(t, "width")
			v := rapid.Uint64Range(0, 1<<width-1).Draw(t, "v")
			z.write(v, width)
			plain.WriteBits(v, width)
		}
		whole := bits.NewWriter(make([]byte, 4096))
		entropy.ZeroRuns{Word: word}.EncodeBits(whole, plain.Bytes(), plain.Len())
		packet, err := z.finish()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(packet, whole.Bytes()) {
			t.Fatalf("%x, not %x", packet, whole.Bytes())
		}
		var x expanded
		x.fill(packet)
		if !x.endsAt(plain.Len()) {
			t.Fatalf("%d bits of %d", x.size, plain.Len())
		}
		if got := x.buf[:len(plain.Bytes())]; !bytes.Equal(got, plain.Bytes()) {
			t.Fatalf("%x came back as %x", plain.Bytes(), got)
		}
	})
}
