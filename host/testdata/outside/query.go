package tanks

import (
	"fmt"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// queries are what this game's servers tell those who have not joined.
var queries = []game.Query{{Name: "tanks", Answer: count}}

func count(w *world.World, to []byte) []byte {
	n := 0
	for range world.All[Tank](w) {
		n++
	}
	return fmt.Append(to, n, " tanks")
}
