package raw_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/raw"
)

// Two tanks, of which one moved, take a bit and 1 + 10 + 10 + 7 bits.
func Example() {
	schema := &codec.Schema{
		Name: "tanks", Classes: []codec.Class{{Name: "tank", Fields: []codec.Field{
			{Name: "x", Max: 1023, Kind: codec.Position, Rate: -1},
			{Name: "y", Max: 1023, Kind: codec.Position, Rate: -1},
			{Name: "health", Max: 100, Rate: -1},
		}}}}
	strategy, err := raw.New(schema)
	if err != nil {
		panic(err)
	}
	var still, moved codec.History // what the receiver holds
	still.Add([]int32{300, 400, 80}, 2)
	moved.Add([]int32{500, 600, 100}, 2)

	enc := strategy.NewEncoder()
	enc.Begin(make([]byte, 1150))
	enc.Put(0, &still, []int32{300, 400, 80})
	enc.Put(0, &moved, []int32{503, 600, 100})
	packet, err := enc.Finish()
	fmt.Println(len(packet), "bytes", err)

	dec := strategy.NewDecoder()
	dec.Begin(packet)
	now := make([]int32, 3)
	for _, h := range []*codec.History{&still, &moved} {
		changed, err := dec.Get(0, h, now)
		fmt.Println(changed, now, err)
	}
	fmt.Println(dec.Finish())
	// Output:
	// 4 bytes <nil>
	// false [300 400 80] <nil>
	// true [503 600 100] <nil>
	// <nil>
}
