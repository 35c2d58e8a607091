package rooms_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/interest/rooms"
	"github.com/coeval-dev/coeval/world"
)

// Three rooms lie side by side, each ten units wide. From the first one looks through an opening
// into the second; a door leads on to the third. Behind it a dog barks: it is heard before it is
// seen.
func Example() {
	plan, err := rooms.NewPlan(rooms.Layout{
		Rooms: 3,
		Portals: []rooms.Portal{
			{A: 0, B: 1, P: det.Vec2{X: 10, Y: 4}, Q: det.Vec2{X: 10, Y: 6}},
			{A: 1, B: 2, P: det.Vec2{X: 20, Y: 4}, Q: det.Vec2{X: 20, Y: 6}, Door: 1},
		},
		Locate: func(p det.Vec2) int { return int(det.Floor(p.X / 10)) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("with doors open the first room sees the third:", plan.Sees(0, 2))

	ix := interest.NewIndex(interest.Options{})
	r := rooms.New(plan, ix, rooms.Options{})
	rules := &interest.Rules{Sources: []interest.Source{
		&rooms.Sight{In: r},
		&rooms.Hearing{In: r, Muffle: 20},
	}}
	cat, dog := world.MakeID(0, 0, 1, 1), world.MakeID(0, 0, 2, 1)
	set := func(id world.ID, t interest.Traits) {
		ix.Set(id, t)
		r.Set(id)
	}
	set(cat, interest.Traits{Pos: det.Vec3{X: 15, Y: 5}})
	set(dog, interest.Traits{Pos: det.Vec3{X: 28, Y: 5}})

	finder, view := interest.NewFinder(), interest.View{}
	look := func(what string) {
		finder.Update(&view, ix, rules, interest.Observer{Pos: det.Vec3{X: 5, Y: 5}})
		fmt.Print(what, ":")
		for _, e := range view.Entries() {
			fmt.Printf(" %v seen %v heard %v;", e.ID, e.By(0), e.By(1))
		}
		fmt.Println()
	}
	look("the door is shut")
	set(dog, interest.Traits{Pos: det.Vec3{X: 28, Y: 5}, Sound: 50})
	look("the dog barks")
	r.SetDoor(1, true)
	r.Refresh()
	look("the door opens")
	// Output:
	// with doors open the first room sees the third: true
	// the door is shut: 0.1.1 seen true heard false;
	// the dog barks: 0.1.1 seen true heard false; 0.2.1 seen false heard true;
	// the door opens: 0.1.1 seen true heard false; 0.2.1 seen true heard true;
}
