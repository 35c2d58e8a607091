package kept_test

import (
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// Player is somebody whose wins are kept.
type Player struct {
	kept.Mark `world:"server"`
	Wins      int
}

func (p *Player) Sync(s *bits.Sync) { s.Int(&p.Wins, 0, 1000) }

func (p *Player) Kept(k *kept.Fields) {
	k.Account()
	k.Keep(&p.Wins)
}

var wins = world.Define("wins", world.Class[Player](), kept.Declare(),
	world.OnJoin(func(w *world.World, p world.Player) {
		id := world.Spawn(w, Player{})
		w.SetOwner(id, p)
		_ = kept.Load(w, id)
	}),
	world.OnLeave(func(w *world.World, p world.Player) {
		id, _ := world.Owned[Player](w, p)
		w.Remove(id)
	}))

// Two matches, with one store.
func Example() {
	store, ctx := new(kept.Memory), context.Background()
	for match := range 2 {
		w, err := wins.New(world.Settings{})
		if err != nil {
			fmt.Println(err)
			return
		}
		desk, err := kept.NewDesk(wins, kept.Options{World: uint64(match + 1)})
		if err != nil || desk.Open(ctx, store) != nil {
			fmt.Println("it cannot be kept", err)
			return
		}
		for tick := range 20 {
			in := wins.NewInputs()
			switch tick {
			case 0:
				in.Join(1)
			case 15:
				_, p := world.Owned[Player](w, 1)
				fmt.Println("match", match+1, "begins with", p.Wins, "wins")
				p.Wins++
			case 18:
				in.Leave(1)
			}
			if err := desk.Tell(in); err != nil {
				fmt.Println(err)
			}
			if err := w.Host().Step(in); err != nil {
				fmt.Println(err)
			}
			desk.Tick(w)
			desk.Meet(w, func(yield func(world.Player, string) bool) { yield(1, "ann") })
			if err := desk.Work(ctx, store); err != nil {
				fmt.Println(err)
			}
		}
	}
	// Output:
	// match 1 begins with 0 wins
	// match 2 begins with 1 wins
}
