package crowd

import (
	_ "embed"
	"fmt"
	"strconv"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// tables are what the codec learned of the game from bots that played it.
//
//go:generate go run github.com/coeval-dev/coeval/cmd/coeval codec play crowd --out crowd.tables
//go:embed crowd.tables
var tables []byte

// Title is the crowd as programs run it. The level is for how many players the square is made.
var Title = &game.Title{
	Game:  Game,
	About: "a square full of people; the level is for how many it is made",
	Levels: game.Levels{
		Names: []string{"200"}, For: strconv.Itoa,
		Settings: func(l game.Level) (world.Settings, error) {
			n, err := strconv.Atoi(l.Name)
			if err != nil || n < 1 || n > 10000 {
				return world.Settings{},
					fmt.Errorf("%q is not a number of players from 1 to 10000", l.Name)
			}
			return SettingsFor(n, l.Seed), nil
		},
	},
	Sight: game.Sight{
		Rules: func() (players, spectators *interest.Rules) { return Rules(), nil },
		Index: Index(),
	},
	Knobs: []game.Knob{reachKnob},
	Bot: game.Bots(func(seed uint64) func(*world.World, world.Player) Walk {
		return NewBot(seed).Think
	}),
	Screen: game.Screen{
		Draw: Draw, Scores: scores,
		Hint: "arrows or WASD walk, the pointer or the last way aims, space shoots",
	},
	Control: game.NewControls(func() func(*game.Input) Walk { return new(pad).walk }),
	Tables:  tables,
}
