package crowd

import (
	_ "embed"

	"github.com/coeval-dev/coeval/replica"
)

// tables are what the codec learned of the game from bots that played it.
//
//go:generate go run github.com/coeval-dev/coeval/cmd/coeval codec play crowd --out crowd.tables
//go:embed crowd.tables
var tables []byte

// Replica says how the game is best sent. Bolts fly by themselves, so that a client is told of each only once. Nothing need be said of avatars: that Vel is the
// rate of Pos is known by their names, and the tables hold the rest.
func Replica() replica.Options {
	return replica.Options{Tables: tables, Classes: map[string]replica.Policy{"Bolt": {Takeover: true}}}
}
