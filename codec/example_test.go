package codec_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/codec"
)

// A thing has moved on as it did before, so sending where it is now takes a
// single byte, and the same again if a packet in between was lost.
func Example() {
	schema := &codec.Schema{Name: "example", Classes: []codec.Class{{
		Name: "puck",
		Fields: []codec.Field{
			{Name: "x", Min: 0, Max: 65535, Kind: codec.Position, Rate: -1},
			{Name: "y", Min: 0, Max: 65535, Kind: codec.Position, Rate: -1},
			{Name: "owner", Min: 0, Max: 7, Rate: -1},
		},
	}}}
	model, err := codec.Default(schema)
	if err != nil {
		fmt.Println(err)
		return
	}

	// What the receiver is known to hold: its images of three and four ticks ago.
	var known codec.History
	known.Add([]int32{1000, 5000, 2}, 3)
	known.Add([]int32{990, 5040, 2}, 4)

	enc := codec.NewEncoder(model)
	enc.Begin(make([]byte, 100))
	enc.Put(0, &known, []int32{1030, 4880, 2})
	packet, err := enc.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}

	dec := codec.NewDecoder(model)
	dec.Begin(packet)
	now := make([]int32, 3)
	changed, err := dec.Get(0, &known, now)
	fmt.Println(len(packet), "byte:", now, changed, err)
	// Output:
	// 1 byte: [1030 4880 2] true <nil>
}
