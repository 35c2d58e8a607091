package main

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

// arenaFeel is the arena as the lab sees it.
func arenaFeel(mapName string) (lab.FeelGame, error) {
	if mapName == "" {
		mapName = "foundry"
	}
	terms := arena.Options{Kills: -1, Time: -time.Second}
	if _, err := arena.Settings(mapName, terms); err != nil {
		return lab.FeelGame{}, err
	}
	flat := func(p det.Vec3) det.Vec2 { return det.Vec2{X: p.X, Y: p.Y} }
	var scene arena.Scene
	return lab.FeelGame{
		Game:     arena.Game,
		Settings: func(clientserver.Level) (world.Settings, error) { return arena.Settings(mapName, terms) },
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
		Classes: map[string]predict.Class{
			"Fighter": {Heading: "Aim", Obstacle: true},
			"Door":    {Obstacle: true},
		},
		Body: "Fighter", Width: 2 * arena.Radius,
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
				c.Verb, c.Text = arena.Nothing, "" // chat is no matter of feel, and its bytes are not either
				_ = world.Give(in, me, c)          // the type is right
			}
		},
		Hits: func(w *world.World, yield func(lab.FeelHit) bool) {
			for e, d := range world.Events[arena.Damaged](w) {
				h := lab.FeelHit{By: d.By, Victim: w.Owner(e.About), Direct: d.Weapon == arena.Rail}
				if f := world.Get[arena.Fighter](w, e.About); f != nil {
					h.Kill = !f.Alive()
				}
				if !yield(h) {
					return
				}
			}
		},
		Clear: func(w *world.World, from, to det.Vec3) bool {
			return !scene.Look(w) || scene.Clear(flat(from), flat(to))
		},
		Rewind: func(w *world.World, past func(world.Player, world.ID) (det.Vec3, bool)) {
			arena.Rewind(w, func(_ *world.World, shooter world.Player, target world.ID) (det.Vec2, bool) {
				p, ok := past(shooter, target)
				return flat(p), ok
			})
		},
	}, nil
}
