package lab_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/lab"
)

// Two strategies on a recording, with a fifth of all frames lost.
func Example() {
	layout, err := lab.ParseSchema([]byte(tanksSchema))
	if err != nil {
		panic(err)
	}
	recording, err := layout.ReadFrames(bytes.NewReader(tanksFrames(100)))
	if err != nil {
		panic(err)
	}
	contenders, err := lab.Contenders([]string{"raw", "doom3"}, lab.Tables{})
	if err != nil {
		panic(err)
	}
	w := &lab.Workload{Name: "tanks", Recording: recording}
	results, err := lab.Codec(context.Background(), w, contenders, lab.CodecOptions{Loss: 0.2, Seed: 1})
	if err != nil {
		panic(err)
	}
	for _, r := range results {
		fmt.Printf("%-5s  %.0f bytes a frame, verified: %v\n", r.Strategy, r.BytesPerFrame, r.Verified)
	}
	// Output:
	// raw    237 bytes a frame, verified: true
	// doom3  181 bytes a frame, verified: true
}
