package mirrorlab_test

import (
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// arenaGame is the arena as the experiment sees it.
func arenaGame(mapName string) lab.FeelGame {
	return lab.FeelGame{
		Game: arena.Game,
		Settings: func(l clientserver.Level) (world.Settings, error) {
			return arena.Settings(mapName, arena.Options{Seed: l.Seed, Secret: l.Secret, Kills: -1, Time: -time.Second})
		},
		Interest: clientserver.Interest{
			Rules: &interest.Rules{Sources: []interest.Source{&interest.Owned{Weight: 4}, &interest.Always{Weight: 0.5}, &interest.Radius{Enter: arena.ViewReach}}},
			Parts: arena.Traits(),
			Observe: func(w *world.World, p world.Player, o *interest.Observer) {
				for id, f := range world.All[arena.Fighter](w) {
					if w.Owner(id) == p {
						o.Pos, o.Speed = det.Vec3{X: f.Pos.X, Y: f.Pos.Y}, arena.TopSpeed
					}
				}
			},
		},
		Classes: map[string]predict.Class{"Fighter": {Heading: "Aim", Obstacle: true}, "Door": {Obstacle: true}},
		Body:    "Fighter", Width: 2 * arena.Radius,
		Life: func(w *world.World, id world.ID) (int, bool) {
			f := world.Get[arena.Fighter](w, id)
			if f == nil {
				return 0, false
			}
			return int(f.Life), f.Alive()
		},
		NewBot: func(seed uint64) func(*world.World, world.Player, *world.Inputs) {
			bot := arena.NewBot(seed)
			return func(w *world.World, me world.Player, in *world.Inputs) {
				c := bot.Think(w, me)
				c.Verb, c.Text = arena.Nothing, ""
				_ = world.Give(in, me, c) // the type is right
			}
		},
		Hits: func(w *world.World, yield func(lab.FeelHit) bool) {
			for e, d := range world.Events[arena.Damaged](w) {
				if !yield(lab.FeelHit{By: d.By, Victim: w.Owner(e.About)}) {
					return
				}
			}
		},
	}
}
