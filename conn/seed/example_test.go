package seed_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/conn/seed"
)

// A simulation fixes the seed, and so every draw.
func Example() {
	r := seed.New([32]byte{1, 2, 3})
	var nonce [4]byte
	r.Read(nonce[:])
	fmt.Printf("%x\n", nonce)
	fmt.Println(r.Uint64())
	fmt.Printf("%.6f\n", r.Unit())
	// Output:
	// f4e2eba3
	// 17057599787010417299
	// 0.020977
}
