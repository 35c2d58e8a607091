package bits_test

import (
	"fmt"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/entropy"
)

// A hand of ten dice with five faces.
type Hand [10]int

func (h *Hand) Sync(s *bits.Sync) {
	for i := range h {
		s.Int(&h[i], 1, 5)
	}
}

// Packed to whole bits, ten numbers of range 5 take 3 bits each. A range coder takes log2(5) each,
// 23.2 bits together.
func ExampleSync_StartEncode() {
	hand := Hand{1, 5, 2, 4, 3, 3, 5, 5, 1, 2}

	var s bits.Sync
	w := bits.NewWriter(make([]byte, 100))
	s.StartWrite(w)
	hand.Sync(&s)

	var e entropy.Encoder
	e.Reset(make([]byte, 100))
	s.StartEncode(&e)
	hand.Sync(&s)
	coded, err := e.Finish()
	fmt.Println(w.Len(), "bits packed,", 8*len(coded), "bits coded,", err)

	var got Hand
	var d entropy.Decoder
	d.Reset(coded)
	s.StartDecode(&d)
	got.Sync(&s)
	fmt.Println(got == hand, s.Err())
	// Output:
	// 30 bits packed, 24 bits coded, <nil>
	// true <nil>
}

// The example's hand is not a lucky one: on average the coder takes less than 24.1 bits, and never
// more than four bytes.
func TestCoderWastesNoWholeBit(t *testing.T) {
	var s bits.Sync
	var e entropy.Encoder
	buf := make([]byte, 100)
	total, hands := 0, 0
	for n := 0; n < 9765625; n += 997 {
		var hand, got Hand
		for i, x := 0, n; i < len(hand); i, x = i+1, x/5 {
			hand[i] = x%5 + 1
		}
		e.Reset(buf)
		s.StartEncode(&e)
		hand.Sync(&s)
		coded, err := e.Finish()
		if err != nil || len(coded) > 4 {
			t.Fatalf("%v takes %d bytes, error %v", hand, len(coded), err)
		}
		var d entropy.Decoder
		d.Reset(coded)
		s.StartDecode(&d)
		if got.Sync(&s); got != hand || s.Err() != nil {
			t.Fatalf("%v becomes %v, error %v", hand, got, s.Err())
		}
		total += 8 * len(coded)
		hands++
	}
	if mean := float64(total) / float64(hands); mean > 24.1 {
		t.Errorf("%.2f bits on average", mean)
	}
}
