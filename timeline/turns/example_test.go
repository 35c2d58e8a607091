package turns_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// two is a match of two players as one of them sees it: the commands of player 2 come late.
type two struct {
	coder        *turns.Coder
	mine, theirs *turns.Stream
}

func (s *two) Turn(t world.Tick, in *world.Inputs) (known bool) {
	known = true
	for i, st := range []*turns.Stream{s.mine, s.theirs} {
		p := world.Player(i + 1)
		if t == 1 {
			in.Join(p)
		}
		image := make([]int32, s.coder.Len())
		if st.Holds(uint64(t)) {
			copy(image, st.Image(uint64(t)))
		} else {
			st.Guess(image)
			known = false
		}
		_ = in.GiveImage(p, image)
	}
	return known
}

// A copy shows ticks before everything in them is known. When it turns out that something was
// guessed wrong, it computes them again.
func ExampleCopy() {
	coder := turns.NewCoder(rules)
	s := &two{coder, turns.NewStream(coder, 1), turns.NewStream(coder, 1)}
	w, err := rules.New(world.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := turns.NewCopy(w, s, turns.Options{Depth: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Player 1 commands nothing, and nothing is known of player 2.
	for t := uint64(1); t <= 4; t++ {
		_, _ = s.mine.Put(t, nil)
		_, _ = c.Advance()
	}
	fmt.Println("shown", c.Shown(), "known", c.Known())
	went, _ := c.Advance()
	fmt.Println("one tick more:", went)

	// Player 2 has fired in tick 2.
	in := rules.NewInputs()
	_ = world.Give(in, 2, walk{X: 3, Fire: true})
	before, image := make([]int32, coder.Len()), make([]int32, coder.Len())
	coder.Start(before)
	in.Image(2, image)
	item, _ := coder.Append(nil, before, image)
	_, _ = s.theirs.Put(1, nil)
	_, _ = s.theirs.Put(2, item)
	c.Learn(1)
	_ = c.Repair()
	fmt.Println("shown", c.Shown(), "known", c.Known(), "computed again", c.Stats().Again)
	_, b := world.Owned[body](c.World(), 2)
	fmt.Println("shots", b.Shots)
	// Output:
	// shown 4 known 0
	// one tick more: false
	// shown 4 known 2 computed again 3
	// shots 1
}
