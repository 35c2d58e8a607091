package crowd_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/world"
)

// A minute of sixty bots on a square that is as large as they need.
func Example() {
	w, err := crowd.Game.New(crowd.SettingsFor(60, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	in := crowd.Game.NewInputs()
	var bots []*crowd.Mind
	for i := range 60 {
		bots = append(bots, crowd.NewBot(uint64(i)))
		in.Join(world.Player(i + 1))
	}
	for range 60 * 60 {
		if err := w.Host().Step(in); err != nil {
			fmt.Println(err)
			return
		}
		in.Reset()
		for i, b := range bots {
			_ = world.Give(in, world.Player(i+1), b.Think(w, world.Player(i+1)))
		}
	}
	p := world.StateOf[crowd.Plaza](w)
	fmt.Printf("a square of %v metres; %d hits, %d gems found\n", p.Side, p.Hits, p.Found)
	// Output: a square of 116 metres; 276 hits, 176 gems found
}
