package session_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/session"
)

func ExamplePractice() {
	p, err := session.NewPractice(session.PracticeOptions{Seed: 1, Bots: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for frame := range 60 { // a second, at sixty frames
		p.Frame(time.Duration(frame)*time.Second/60,
			func(*arena.Fighter) arena.Command { return arena.Command{X: arena.Push} })
	}
	fmt.Println("tick", p.View().World.Tick())
	// Output: tick 60
}
