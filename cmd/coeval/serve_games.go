package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// A hosted is a game that can be played over a network, with all that a server and its clients must know of it. A new game is one entry in hosteds.
type hosted struct {
	game     *world.Game
	about    string
	level    string // the level to begin with
	settings clientserver.SettingsFunc
	replica  func() replica.Options
	interest func() clientserver.Interest
	bot      func(seed uint64) botFunc       // nil: one that presses everything
	predict  func() map[string]predict.Class // nil: as the style says
}

// A botFunc gives a player's command for a tick, by what it sees.
type botFunc func(w *world.World, p world.Player, t world.Tick, in *world.Inputs) error

// hosteds lists the games by name.
func hosteds() []hosted {
	list := []hosted{
		{game: arena.Game, about: "a shooter seen from above; the level is a map: " + strings.Join(arena.MapNames(), ", "), level: arena.DefaultMap,
			settings: func(l clientserver.Level) (world.Settings, error) {
				if len(l.Data) > 0 {
					m, err := arena.Parse(l.Data)
					if err != nil {
						return world.Settings{}, err
					}
					arena.Register(m)
					return arena.Settings(m.Name, arena.Options{Seed: l.Seed, Secret: l.Secret})
				}
				return arena.Settings(l.Name, arena.Options{Seed: l.Seed, Secret: l.Secret})
			},
			interest: func() clientserver.Interest {
				return clientserver.Interest{Views: func(*world.World, clientserver.Level) (clientserver.Views, error) { return &arenaViews{}, nil }}
			},
			bot: arenaBot, predict: session.Predict},
		{game: crowd.Game, about: "a square full of people; the level is for how many it is made", level: "200",
			settings: func(l clientserver.Level) (world.Settings, error) {
				n, err := strconv.Atoi(l.Name)
				if err != nil || n < 1 || n > 10000 {
					return world.Settings{}, fmt.Errorf("%q is not a number of players from 1 to 10000", l.Name)
				}
				return crowd.SettingsFor(n, l.Seed), nil
			},
			replica: crowd.Replica,
			interest: func() clientserver.Interest {
				return clientserver.Interest{Rules: crowd.Rules(), Parts: crowd.Parts(), Index: crowd.Index(), Observe: crowd.Observe}
			},
			bot: func(seed uint64) botFunc {
				b := crowd.NewBot(seed)
				return func(w *world.World, p world.Player, _ world.Tick, in *world.Inputs) error {
					return world.Give(in, p, b.Think(w, p))
				}
			},
			predict: func() map[string]predict.Class { return map[string]predict.Class{"Bolt": {Sparse: true}} }}, // of which clients are told once
	}
	for _, p := range playables() {
		if !strings.Contains(" arena crowd ", " "+p.game.Name()+" ") {
			list = append(list, hosted{game: p.game, about: p.about, predict: p.predict})
		}
	}
	return list
}

// arenaBot makes a player for the arena.
func arenaBot(seed uint64) botFunc {
	b := arena.NewBot(seed)
	return func(w *world.World, p world.Player, _ world.Tick, in *world.Inputs) error {
		return world.Give(in, p, b.Think(w, p))
	}
}

// arenaViews lets the arena find views by its rooms. Who watches sees what one of the players does.
type arenaViews struct {
	in     arena.Interest
	player world.Player // whom they look over the shoulder
}

func (v *arenaViews) Follow(w *world.World) error {
	v.player = arenaStar(w, v.player)
	return v.in.Follow(w)
}

func (v *arenaViews) Sight(_ *world.World, p world.Player, o *interest.Observer) (*interest.Index, *interest.Rules) {
	eyes := p
	if p == world.Nobody {
		eyes = v.player
	}
	*o = v.in.Observer(eyes, o.RoundTrip)
	o.Player = p
	return v.in.Index, v.in.Rules
}

// arenaStar is the player to watch: the one that is watched already, for as long as they live, so that the view does not jump about; then who has killed the most of
// those alive. Where no one is, it is the same as before, and the place where they fell.
func arenaStar(w *world.World, now world.Player) world.Player {
	star, most := now, 0
	for id, f := range world.All[arena.Fighter](w) {
		p := w.Owner(id)
		if p == world.Nobody || !f.Alive() {
			continue
		}
		if p == now {
			return now
		}
		if kills := arenaKills(w, p); star == now || kills > most {
			star, most = p, kills
		}
	}
	return star
}

// arenaKills is what the score board says of a player.
func arenaKills(w *world.World, p world.Player) int {
	for id, s := range world.All[arena.Sheet](w) {
		if w.Owner(id) == p {
			return s.Kills
		}
	}
	return 0
}

func hostedNames() []string {
	var names []string
	for _, h := range hosteds() {
		names = append(names, h.game.Name())
	}
	return names
}

// findHosted finds a game by its name.
func findHosted(name string) (*hosted, error) {
	for _, h := range hosteds() {
		if h.game.Name() == name {
			return &h, nil
		}
	}
	return nil, usageErrorf("there is no game %q; there are %s", name, strings.Join(hostedNames(), ", "))
}

func (h *hosted) replicaOptions() replica.Options {
	if h.replica == nil {
		return replica.Options{}
	}
	return h.replica()
}

// newBot makes a player for a game.
func (h *hosted) newBot(seed uint64) botFunc {
	if h.bot != nil {
		return h.bot(seed)
	}
	schema := h.game.Commands()
	if schema == nil {
		return func(*world.World, world.Player, world.Tick, *world.Inputs) error { return nil }
	}
	image := make([]int32, len(schema.Slots))
	return func(_ *world.World, p world.Player, t world.Tick, in *world.Inputs) error {
		for i := range image {
			s := &schema.Slots[i]
			hold := 4 + det.Draw(seed, uint64(i), 0, 1)%20
			image[i] = s.Min + int32(det.Draw(seed, uint64(i), uint64(t)/hold, 2)%(uint64(uint32(s.Max-s.Min))+1))
		}
		_ = in.GiveImage(p, image) // not every image is a command; then there is none this time
		return nil
	}
}

// viewOf gives the terminal view of a game, or nil.
func viewOf(game string) *playable {
	for _, p := range playables() {
		if p.game.Name() == game {
			return &p
		}
	}
	return nil
}
