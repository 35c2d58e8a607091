package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/interest"
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
	bot      func(seed uint64) botFunc // nil: one that presses everything
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
			bot: func(seed uint64) botFunc {
				b := arena.NewBot(seed)
				return func(w *world.World, p world.Player, _ world.Tick, in *world.Inputs) error {
					return world.Give(in, p, b.Think(w, p))
				}
			}},
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
			}},
	}
	for _, p := range playables() {
		if !strings.Contains(" arena crowd ", " "+p.game.Name()+" ") {
			list = append(list, hosted{game: p.game, about: p.about})
		}
	}
	return list
}

// arenaViews lets the arena find views by its rooms.
type arenaViews struct{ in arena.Interest }

func (v *arenaViews) Follow(w *world.World) error { return v.in.Follow(w) }

func (v *arenaViews) Sight(_ *world.World, p world.Player, o *interest.Observer) (*interest.Index, *interest.Rules) {
	*o = v.in.Observer(p, o.RoundTrip)
	return v.in.Index, v.in.Rules
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
