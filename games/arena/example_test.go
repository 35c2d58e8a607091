package arena_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/world"
)

// Four bots play for a minute. What bots do hangs on their seeds and on what they see, so the same
// is played each time.
func Example() {
	settings, err := arena.Settings("duel", arena.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := arena.Game.New(settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := arena.Game.NewInputs()
	bots := map[world.Player]*arena.Bot{}
	for p := world.Player(1); p <= 4; p++ {
		bots[p] = arena.NewBot(uint64(p))
		in.Join(p)
	}
	kills := 0
	for w.Tick() < 3600 {
		for p := world.Player(1); p <= 4; p++ {
			if err := world.Give(in, p, bots[p].Think(w, p)); err != nil {
				fmt.Println(err)
			}
		}
		if err := w.Host().Step(in); err != nil {
			fmt.Println(err)
		}
		in.Reset()
		for range world.Events[arena.Killed](w) {
			kills++
		}
	}
	fmt.Println("more than ten kills:", kills > 10)
	fmt.Println("on", world.StateOf[arena.Match](w).Level().Title)
	// Output:
	// more than ten kills: true
	// on The Well
}

// A map is text. Mistakes in it are named by line and column.
func ExampleParse() {
	m, err := arena.Parse([]byte(`name  tiny
title Two Rooms
map
#########
#s.h+..s#
#...+...#
#########
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Title, "has", len(m.Rooms), "rooms and", len(m.Doors), "door")

	_, err = arena.Parse([]byte("name broken\nmap\n#########\n#s.h?..s#\n#########\n"))
	fmt.Println(err)
	// Output:
	// Two Rooms has 2 rooms and 1 door
	// 4:5: '?' stands for nothing; look at the legend in docs/arena.md
}

// A region of sight, for whoever draws shadows.
func ExampleEye() {
	w, err := arena.Game.New(world.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var scene arena.Scene
	var eye arena.Eye
	if scene.Look(w) {
		at := scene.Map.Spawns[0].Pos
		region := eye.See(&scene, at, arena.ViewReach)
		fmt.Println("a polygon of more than 20 corners:", len(region) > 20)
	}
	// Output: a polygon of more than 20 corners: true
}
