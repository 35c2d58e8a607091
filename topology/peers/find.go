package peers

import (
	"context"
	"fmt"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// Find asks a relay how the match of a code is played: one of relay.Rows is joined by NewRelayed,
// and one of relay.Mesh by New with a Meeting. The options' token is used up; the link stays open.
func Find(
	ctx context.Context, g *world.Game, l link.Link, o conn.ClientOptions, code relay.Code,
) (relay.Mode, error) {
	return relay.Find(ctx, l, o, code, gameText(g))
}

// gameText is what a relay compares to tell whether two play the same.
func gameText(g *world.Game) string { return fmt.Sprintf("%s %016x", g.Name(), g.Hash()) }
