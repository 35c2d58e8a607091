package codec_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/codec"
)

// A server that learns: what it sends is gathered, and makes tables that are worth having.
func ExampleLearn() {
	schema := &codec.Schema{Name: "example", Classes: []codec.Class{{
		Name: "hand", Fields: []codec.Field{{Name: "step", Min: 0, Max: 4095}},
	}}}
	plain, err := codec.Default(schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	samples := codec.NewSamples(schema, 1<<20)
	send := func(m *codec.Model) (bytes int) {
		enc := codec.NewEncoder(m)
		for t := int32(0); t < 400; t++ {
			var known codec.History
			known.Add([]int32{t * 7}, 3)
			now := []int32{t*7 + 21}
			enc.Begin(make([]byte, 100))
			enc.Take(samples, 0, &known, now)
			enc.Put(0, &known, now)
			packet, err := enc.Finish()
			if err != nil {
				fmt.Println(err)
			}
			bytes += len(packet)
		}
		return bytes
	}
	before := send(plain)
	learned, err := codec.LoadTables(schema, codec.Learn(samples, codec.LearnOptions{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("fewer bytes:", send(learned) < before)
	// Output: fewer bytes: true
}
