package convert_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/convert"
	"github.com/coeval-dev/coeval/world"
)

type oldShip struct{ Hull int }

func (s *oldShip) Sync(b *bits.Sync) { b.Int(&s.Hull, 0, 100) }

type newShip struct {
	Armour int
	Cargo  int
}

func (s *newShip) Sync(b *bits.Sync) { b.Int(&s.Armour, 0, 500); b.Int(&s.Cargo, 0, 9) }

// Convert says that what is Armour now was called Hull.
func (s *newShip) Convert(r *convert.Rules) { r.Renamed("Hull", &s.Armour) }

func Example() {
	was := world.Define("fleet", world.Class[oldShip](world.ClassOptions{Name: "Ship"}),
		world.OnStart(func(w *world.World) { world.Spawn(w, oldShip{Hull: 80}) }))
	is := world.Define("fleet", world.Class[newShip](world.ClassOptions{Name: "Ship"}))

	w, err := was.New(world.Settings{})
	if err != nil {
		panic(err)
	}
	declared, saved := was.Declared(), w.Host().Save(nil) // what a folder keeps

	w, report, err := convert.World(is, declared, saved, convert.Options{})
	if err != nil {
		panic(err)
	}
	for _, ship := range world.All[newShip](w) {
		fmt.Printf("%+v\n", *ship)
	}
	fmt.Print(report)
	// Output:
	// {Armour:80 Cargo:0}
	// Ship.Armour was called Hull
	// Ship.Armour was int 0..100 and is int 0..500
	// Ship.Cargo was gained: int 0..9
}
