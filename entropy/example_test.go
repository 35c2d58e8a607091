package entropy_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/entropy"
)

// A stream mixes what is learned, what is known beforehand, and what is merely bounded.
func Example() {
	// Of 1024 units in a recording so many walked; others ran, fought and slept.
	const walked, all = 717, 10
	var e entropy.Encoder
	var visible entropy.Bit
	e.Reset(make([]byte, 64))
	for unit := range 100 {
		e.EncodeBit(&visible, unit < 95) // learned on the way
		e.EncodeFreq(0, walked, all)     // half a bit
	}
	e.EncodeUniform(76, 100) // log2(100) = 6.64 bits
	packet, err := e.Finish()
	fmt.Println(len(packet), "bytes", err)

	var d entropy.Decoder
	var seen entropy.Bit
	d.Reset(packet)
	count := 0
	for range 100 {
		if d.DecodeBit(&seen) {
			count++
		}
		if d.DecodeFreq(all) < walked {
			d.Advance(0, walked)
		}
	}
	fmt.Println(count, "visible,", d.DecodeUniform(100), "percent,", d.Finish())
	// Output:
	// 12 bytes <nil>
	// 95 visible, 76 percent, <nil>
}

// A packet is filled until the next entity does not fit.
func ExampleEncoder_Rewind() {
	var e entropy.Encoder
	e.Reset(make([]byte, 10))
	sent := 0
	for _, size := range []uint{20, 30, 60, 20} { // bits
		before := e.Mark()
		e.EncodeBits(1, size)
		if e.Len() > 10 {
			e.Rewind(before)
			continue
		}
		sent++
	}
	packet, err := e.Finish()
	fmt.Println(sent, "entities in", len(packet), "bytes", err)
	// Output:
	// 3 entities in 9 bytes <nil>
}

func ExampleZeroRuns() {
	difference := make([]byte, 60)
	difference[7] = 5
	var c entropy.Coder = entropy.ZeroRuns{Word: 3}
	packet := c.Encode(nil, difference)
	back, err := c.Decode(nil, packet, 1000)
	fmt.Println(len(difference), "bytes in", len(packet), "and back to", len(back), err)
	// Output:
	// 60 bytes in 18 and back to 60 <nil>
}
