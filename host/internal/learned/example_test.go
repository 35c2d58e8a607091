//go:build !js

package learned_test

import (
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/coeval-dev/coeval/host/internal/learned"
)

// What one run of a program keeps is there for the next.
func Example() {
	dir, err := os.MkdirTemp("", "learned")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	folder, err := learned.Open(dir, func(err error) { fmt.Println(err) })
	if err != nil {
		fmt.Println(err)
		return
	}
	hash := sha256.Sum256([]byte("tables"))
	folder.Keep(hash, []byte("tables"))
	fmt.Printf("%s\n", folder.Load(hash))
	// Output: tables
}
