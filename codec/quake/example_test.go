package quake_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/quake"
)

// A tank moved: a byte of flags, and two for where it is now.
func Example() {
	schema := &codec.Schema{
		Name: "tanks", Classes: []codec.Class{{Name: "tank", Fields: []codec.Field{
			{Name: "x", Max: 1023, Kind: codec.Position, Rate: -1},
			{Name: "y", Max: 1023, Kind: codec.Position, Rate: -1},
			{Name: "turret", Max: 359, Kind: codec.Angle, Rate: -1},
			{Name: "health", Max: 100, Rate: -1},
		}}}}
	strategy, err := quake.New(schema)
	if err != nil {
		panic(err)
	}
	var h codec.History
	h.Add([]int32{500, 600, 90, 100}, 2) // what the receiver holds
	enc := strategy.NewEncoder()
	enc.Begin(make([]byte, 1150))
	enc.Put(0, &h, []int32{503, 600, 90, 100})
	packet, err := enc.Finish()
	fmt.Printf("% x %v\n", packet, err)

	dec := strategy.NewDecoder()
	dec.Begin(packet)
	now := make([]int32, 4)
	changed, err := dec.Get(0, &h, now)
	fmt.Println(changed, now, err)
	// Output:
	// 01 f7 01 <nil>
	// true [503 600 90 100] <nil>
}
