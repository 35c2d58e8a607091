package sound_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/games/arena/client/sound"
)

func ExampleMixer() {
	m := sound.NewMixer()
	m.Play(sound.Burst, sound.At(6, 0, 1, 30)) // six units to the right, heard up to thirty
	frame := make([]byte, sound.Rate/60*8)     // a sixtieth of a second, left and right
	n, err := m.Read(frame)
	fmt.Println(n, "bytes,", err)
	// Output: 6400 bytes, <nil>
}
