package game_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// Tank is what players drive.
type Tank struct {
	Pos    det.Vec2
	Turret det.Angle
	Dust   float64 `world:"server"`
}

// Sync names the fields.
func (t *Tank) Sync(s *bits.Sync) {
	s.Vec2(&t.Pos, 0, 500, 1.0/64)
	s.Angle(&t.Turret, 10)
}

// Hints say how it is treated.
func (t *Tank) Hints(h *game.Hints) {
	h.Heading(&t.Turret)
	h.Body(1.5)
}

// Drive is a player's command.
type Drive struct{ X, Y int8 }

// Sync names the fields.
func (d *Drive) Sync(s *bits.Sync) {
	s.Int8(&d.X, -1, 1)
	s.Int8(&d.Y, -1, 1)
}

// A title is the rules, and what they do not say.
func Example() {
	title := &game.Title{
		Game:  world.Define("tanks", world.Class[Tank](), world.Commands[Drive]()),
		About: "tanks in the dust",
		Sight: game.Sight{Reach: 60},
		Bot: game.Bots(func(seed uint64) func(*world.World, world.Player) Drive {
			return func(*world.World, world.Player) Drive { return Drive{X: 1} }
		}),
	}
	if err := title.Check(); err != nil {
		fmt.Println(err)
		return
	}
	body, width, _ := title.Body()
	fmt.Println("players move about in a", body.Name(), width, "wide")
	fmt.Println("its heading is", title.Predict()["Tank"].Heading)
	// Output:
	// players move about in a Tank 1.5 wide
	// its heading is Turret
}

// A Jeep makes two mistakes.
type Jeep struct {
	Tank
}

// Hints point to what other machines do not have, and to a copy.
func (j *Jeep) Hints(h *game.Hints) {
	pos := j.Pos
	h.Place(&pos)
	h.Margin(&j.Dust, 1)
}

// Mistakes are reported together, before anything is played.
func ExampleTitle_Check() {
	title := &game.Title{Game: world.Define("jeeps", world.Class[Jeep]()), Players: -2}
	fmt.Println(title.Check())
	// Output:
	// title "jeeps": class Jeep: h.Place: a *det.Vec2 that is no field of Jeep; a hint runs on a zero value of the class, take pointers to its own fields
	// class Jeep: h.Margin: field Tank.Dust of Jeep is not synced; choose one that its Sync method names
	// there are -2 Players; give the number of those who play along, or 0
}
