package interest_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A player stands still. A runner passes by: it enters the view at 50 units, or a little earlier,
// as it can come that much nearer before the player's snapshot arrives; it leaves at 60. A cannon
// is heard from far away, and the player's own hat is in view wherever it is.
func Example() {
	rules := &interest.Rules{Sources: []interest.Source{
		&interest.Owned{},
		&interest.Radius{Enter: 50, Leave: 60},
		&interest.Sound{},
	}}
	ix := interest.NewIndex(interest.Options{Cell: 50})
	runner, cannon, hat := world.MakeID(0, 0, 1, 1), world.MakeID(0, 0, 2, 1),
		world.MakeID(0, 0, 3, 1)
	ix.Set(cannon, interest.Traits{Pos: det.Vec3{X: 900}, Sound: 1000})
	ix.Set(hat, interest.Traits{Pos: det.Vec3{Y: 300}, Owner: 1})

	finder := interest.NewFinder() // one for each worker
	var view interest.View         // one for each client
	me := interest.Observer{Player: 1, RoundTrip: 100 * time.Millisecond}
	for _, x := range []float64{-70, -51, 0, 55, 70} {
		ix.Set(runner, interest.Traits{Pos: det.Vec3{X: x}, Speed: 10})
		changed := finder.Update(&view, ix, rules, me)
		fmt.Println("runner at", x, "changed:", changed, "entered:", view.Entered(), "left:",
			view.Left())
	}
	for _, e := range view.Entries() {
		fmt.Printf("%v has priority %.2f; heard: %v\n", e.ID, e.Priority, e.By(2))
	}
	// Output:
	// runner at -70 changed: true entered: [0.2.1 0.3.1] left: []
	// runner at -51 changed: true entered: [0.1.1] left: []
	// runner at 0 changed: true entered: [] left: []
	// runner at 55 changed: true entered: [] left: []
	// runner at 70 changed: true entered: [] left: [0.1.1]
	// 0.2.1 has priority 0.26; heard: true
	// 0.3.1 has priority 1.00; heard: false
}

type Bird struct{ Pos det.Vec2 }

func (b *Bird) Sync(s *bits.Sync) { s.Vec2(&b.Pos, 0, 1000, 1.0/16) }

func (b *Bird) Step(w *world.World, me world.ID) {
	b.Pos.X += float64(60 * w.Seconds())
	if b.Pos.X > 110 {
		w.Remove(me)
	}
}

// A Follower takes from a world what an index needs. The game says once, for each class, what its
// entities are like.
func ExampleFollower() {
	birds := world.Define("birds", world.Class[Bird](), world.OnStart(func(w *world.World) {
		world.Spawn(w, Bird{Pos: det.Vec2{X: 45, Y: 100}})
		world.Spawn(w, Bird{Pos: det.Vec2{X: 109, Y: 100}})
	}))
	w, err := birds.New(world.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}

	ix := interest.NewIndex(interest.Options{})
	follower := interest.NewFollower(ix,
		interest.Describe(func(w *world.World, id world.ID, b *Bird) interest.Traits {
			return interest.Traits{Pos: det.Vec3{X: b.Pos.X, Y: b.Pos.Y}, Speed: 60}
		}))
	rules := &interest.Rules{Sources: []interest.Source{&interest.Radius{Enter: 50}}}
	finder, view := interest.NewFinder(), interest.View{}
	for range 8 {
		follower.Follow(w)
		if finder.Update(&view, ix, rules, interest.Observer{Pos: det.Vec3{X: 100, Y: 100}}) {
			fmt.Println("tick", w.Tick(), "shown", len(view.Entries()), "entered", view.Entered(),
				"removed", view.Removed())
		}
		if err := w.Host().Step(nil); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// tick 0 shown 1 entered [0.1.1] removed []
	// tick 1 shown 1 entered [] removed []
	// tick 2 shown 0 entered [] removed [0.1.1]
	// tick 5 shown 1 entered [0.0.1] removed []
	// tick 6 shown 1 entered [] removed []
	// tick 7 shown 1 entered [] removed []
}

// Rooms is a source of a game's own: potentially visible sets. Which rooms can be seen from which
// is known when the map is made; a door may change it.
type Rooms struct {
	of      func(p det.Vec3) int
	visible [][]bool // from room, to room
	members [][]world.ID
	changed uint64
}

// Find shows what stands in rooms that can be seen.
func (r *Rooms) Find(q *interest.Query) {
	for room, visible := range r.visible[r.of(q.Observer().Pos)] {
		if visible {
			for _, id := range r.members[room] {
				q.Add(id, 1)
			}
		}
	}
}

// Quiet holds while no one changes rooms and no door moves.
func (r *Rooms) Quiet(q *interest.Query) bool { return r.changed <= q.Since() }

// What is near is shown only if it is in a room that can be seen. When the door to the second room
// opens, who is in there comes into view.
func ExampleSource() {
	ix := interest.NewIndex(interest.Options{})
	cat, dog := world.MakeID(0, 0, 1, 1), world.MakeID(0, 0, 2, 1)
	ix.Set(cat, interest.Traits{Pos: det.Vec3{X: 5}})
	ix.Set(dog, interest.Traits{Pos: det.Vec3{X: 15}})

	rooms := &Rooms{
		of:      func(p det.Vec3) int { return int(p.X / 10) },
		visible: [][]bool{{true, false}, {false, true}},
		members: [][]world.ID{{cat}, {dog}},
	}
	rules := &interest.Rules{Sources: []interest.Source{
		&interest.Where{Of: &interest.Radius{Enter: 30}, In: rooms},
	}}
	finder, view := interest.NewFinder(), interest.View{}
	me := interest.Observer{Pos: det.Vec3{X: 2}}
	fmt.Println(finder.Update(&view, ix, rules, me), view.Entered())
	fmt.Println(finder.Update(&view, ix, rules, me), view.Entered())

	rooms.visible[0][1], rooms.visible[1][0] = true, true // the door opens
	rooms.changed = ix.Touch()
	fmt.Println(finder.Update(&view, ix, rules, me), view.Entered())
	// Output:
	// true [0.1.1]
	// false []
	// true [0.2.1]
}
