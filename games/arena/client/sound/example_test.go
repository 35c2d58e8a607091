package sound_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/games/arena/client/sound"
)

func ExampleAt() {
	from := sound.At(6, 0, 1, 30) // six units to the right, heard up to thirty
	fmt.Printf("volume %.2f, to the right by %.1f\n", from.Volume, from.Pan)
	// Output: volume 0.64, to the right by 0.6
}
