package mirror

import (
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/world"
)

// arenaTitle is the arena in which everyone is shown everything, and mirrors compare all of it.
var arenaTitle = &game.Title{Game: arena.Game, Levels: arena.Title.Levels, Shots: arena.Title.Shots}

func testGame(testing.TB) *world.Game { return arena.Game }

// neutralImage is a command at rest.
func neutralImage(g *world.Game) []int32 {
	s := g.Commands()
	image := make([]int32, len(s.Slots))
	for i := range s.Slots {
		image[i] = s.Slots[i].Absent
	}
	return image
}
