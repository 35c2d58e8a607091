package quake3_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake3"
)

// One tank of 31 moved, and only along x, the first of its fields.
func Example() {
	schema := &codec.Schema{
		Name: "tanks", Classes: []codec.Class{{Name: "tank", Fields: []codec.Field{
			{Name: "x", Max: 1023, Kind: codec.Position, Rate: -1},
			{Name: "y", Max: 1023, Kind: codec.Position, Rate: -1},
			{Name: "turret", Max: 359, Kind: codec.Angle, Rate: -1},
			{Name: "health", Max: 100, Rate: -1},
		}}}}
	strategy, err := quake3.New(schema, quake3.Options{})
	if err != nil {
		panic(err)
	}
	base := []int32{500, 600, 90, 100} // what the receiver holds of each
	var h codec.History
	h.Add(base, 2)

	enc := strategy.NewEncoder()
	enc.Begin(make([]byte, 1150))
	enc.Put(0, &h, []int32{503, 600, 90, 100})
	for range 30 {
		enc.Put(0, &h, base)
	}
	packet, err := enc.Finish()
	fmt.Println(len(packet), "bytes", err)

	dec := strategy.NewDecoder()
	dec.Begin(packet)
	now := make([]int32, 4)
	changed, err := dec.Get(0, &h, now)
	fmt.Println(changed, now, err)
	// Output:
	// 7 bytes <nil>
	// true [503 600 90 100] <nil>
}
