//go:build !js

package host

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
)

// serverOptions are what a server is made of that the title says.
func serverOptions(t *game.Title, l game.Level, s replica.Strategy) server.Options {
	return server.Options{Title: t, Level: l, Strategy: s}
}
