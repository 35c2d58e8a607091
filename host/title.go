//go:build !js

package host

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

// serverOptions are what a server is made of that the title says.
func serverOptions(t *game.Title, l game.Level, s replica.Strategy) clientserver.Options {
	return clientserver.Options{Title: t, Level: l, Strategy: s}
}

func settingsOf(t *game.Title) clientserver.SettingsFunc {
	return func(l clientserver.Level) (world.Settings, error) { return t.Settings(game.Level(l)) }
}

func replicaOf(t *game.Title, s replica.Strategy) replica.Options {
	return replica.Options{Strategy: s, Tables: t.Tables, Classes: t.Policies(), NoRelay: t.NoRelay}
}
