//go:build !js

package tools

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/bandwidthlab"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// gameplay is a title as experiments see it.
func gameplay(t *game.Title, level string) *lab.Gameplay {
	return &lab.Gameplay{
		Game: t.Game, Replica: replica.Options{Tables: t.Tables, Classes: t.Policies(), NoRelay: t.NoRelay},
		Interest: views(t), Settings: func(players int, seed uint64) world.Settings {
			name := level
			if name == "" {
				name = t.Levels.Sized(players)
			}
			s, _ := endless(t, game.Level{Name: name, Seed: seed, Secret: seed + 1}) // it was looked up before
			return s
		},
		Bot: func(seed uint64) lab.Bot {
			b := t.NewBot(seed)
			return func(w *world.World, p world.Player, in *world.Inputs) error {
				tick := world.Tick(0)
				if w != nil {
					tick = w.Tick()
				}
				return b(w, p, tick, in)
			}
		},
	}
}

func views(t *game.Title) clientserver.Interest {
	return clientserver.Interest{Views: func(w *world.World, l clientserver.Level) (clientserver.Views, error) {
		return t.NewViews(w, game.Level(l))
	}}
}

func endless(t *game.Title, l game.Level) (world.Settings, error) {
	s, err := t.Settings(l)
	if err == nil && t.Levels.Endless != nil {
		t.Levels.Endless(&s)
	}
	return s, err
}

// feelGame is a title as lab.Feel sees it.
func feelGame(t *game.Title, level string, players int) (lab.FeelGame, error) {
	if level == "" {
		level = t.Levels.Sized(players)
	}
	if _, err := endless(t, game.Level{Name: level}); err != nil {
		return lab.FeelGame{}, err
	}
	g := lab.FeelGame{
		Game: t.Game, Interest: views(t), Classes: t.Predict(), Clear: t.Shots.Clear,
		Settings: func(l clientserver.Level) (world.Settings, error) {
			return endless(t, game.Level{Name: level, Seed: l.Seed, Secret: l.Secret})
		},
		Life: func(w *world.World, id world.ID) (int, bool) {
			if m, ok := w.Value(id).(game.Mortal); ok {
				return m.Lives()
			}
			return 0, w.Has(id)
		},
		NewBot: func(seed uint64) func(*world.World, world.Player, *world.Inputs) {
			bot := t.NewBot(seed)
			return func(w *world.World, me world.Player, in *world.Inputs) { _ = bot(w, me, w.Tick(), in) }
		},
		Hits: func(w *world.World, yield func(lab.FeelHit) bool) {
			if t.Shots.Hits != nil {
				t.Shots.Hits(w, func(h game.Hit) bool { return yield(lab.FeelHit(h)) })
			}
		},
	}
	if class, width, ok := t.Body(); ok {
		g.Body, g.Width = class.Name(), width
	}
	if t.Shots.Judge != nil {
		g.Rewind = func(w *world.World, past func(world.Player, world.ID) (det.Vec3, bool)) { t.Shots.Judge(w, past) }
	}
	return g, nil
}

// bandwidthGame is a title as bandwidthlab sees it.
func bandwidthGame(t *game.Title, level string, everything bool) *bandwidthlab.Game {
	g := &bandwidthlab.Game{Gameplay: *gameplay(t, level)}
	if everything {
		g.Interest = clientserver.Interest{Rules: &interest.Rules{Sources: []interest.Source{&interest.Everything{}}}}
	}
	class, _, _ := t.Body()
	for _, c := range t.Game.Classes() {
		_, placed := t.Place(c.Number())
		switch {
		case c == class:
			g.Body = c.Name()
			g.Near = append(g.Near, c.Name())
		case placed:
			g.Near = append(g.Near, c.Name())
		default:
			g.Everyone = append(g.Everyone, c.Name())
		}
	}
	return g
}
