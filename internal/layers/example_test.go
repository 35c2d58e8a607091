package layers_test

import (
	"fmt"
	"testing/fstest"

	"github.com/coeval-dev/coeval/internal/layers"
)

// A module whose packages keep to the map gives no findings; this one gives two.
func Example() {
	tree, err := layers.Load(fstest.MapFS{
		"go.mod":         {Data: []byte("module example.com/game\n")},
		"codec/delta.go": {Data: []byte("package codec\n\nimport _ \"example.com/game/world\"\n")},
		"world/tick.go": {
			Data: []byte("package world\n\nimport \"time\"\n\nvar start = time.Now()\n")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range layers.Current().Check(tree) {
		fmt.Println(f)
	}
	// Output:
	// codec/delta.go:3: codec imports world: codec stands on a lower row
	// world/tick.go:5: time.Now in a pure package: take the time as an argument
}
