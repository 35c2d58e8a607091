//go:build !js

package tools

import (
	"fmt"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
)

// All are the tools, for host.Program.
var All = []host.Command{
	benchCommand, labCommand, codecCommand, vetCommand, netsimCommand, crimpCommand,
}

// titleOf finds the title that --game names. Without a name it is the first of the program that
// fits, or the first if none does.
func titleOf(p *host.Program, name string, fits func(*game.Title) bool) (*game.Title, error) {
	if name != "" {
		t, err := p.Title(name)
		if err != nil {
			return nil, cli.UsageError{Err: fmt.Errorf("--game: %w", err)}
		}
		return t, nil
	}
	for _, t := range p.Titles {
		if fits(t) {
			return t, nil
		}
	}
	return p.Titles[0], nil
}

// embodied says whether it is known what a player moves about in.
func embodied(t *game.Title) bool {
	_, _, ok := t.Body()
	return ok
}

// trained says whether the codec has learned of the title, as it should of one that many play at
// once.
func trained(t *game.Title) bool { return t.Tables != nil }
