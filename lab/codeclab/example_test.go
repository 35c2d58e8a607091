package codeclab_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/lab/codeclab"
)

// Two strategies on a recording, with a fifth of all frames lost.
func Example() {
	layout, err := codeclab.ParseSchema([]byte(tanksSchema))
	if err != nil {
		panic(err)
	}
	recording, err := layout.ReadFrames(bytes.NewReader(tanksFrames(100)))
	if err != nil {
		panic(err)
	}
	contenders, err := codeclab.Contenders([]string{"raw", "doom3"}, codeclab.Tables{})
	if err != nil {
		panic(err)
	}
	w := &codeclab.Workload{Name: "tanks", Recording: recording}
	results, err := codeclab.Compare(context.Background(), w, contenders,
		codeclab.Options{Loss: 0.2, Seed: 1})
	if err != nil {
		panic(err)
	}
	for _, r := range results {
		fmt.Printf("%-5s  %.0f bytes a frame, verified: %v\n", r.Strategy, r.BytesPerFrame,
			r.Verified)
	}
	// Output:
	// raw    237 bytes a frame, verified: true
	// doom3  181 bytes a frame, verified: true
}
