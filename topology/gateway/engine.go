package gateway

import (
	"errors"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// An engine is a gateway as its server for clients sees it: the world is what zones show, and
// commands go to them as they come.
type engine struct{ *Gateway }

// Traits: zones have to be given commands before they compute a tick, the world goes on when the
// gateway ends, and what zones show may be taken back when one of them goes on elsewhere.
func (e *engine) Traits() server.Traits {
	return server.Traits{Eager: true, Outlives: true, Leading: true}
}

// Begin does nothing: where the world is, zones say.
func (e *engine) Begin(*world.World, server.Level) error { return nil }

func (e *engine) World() *world.World { return e.gate.World() }

// Open is the first tick for which commands reach their zone in time.
func (e *engine) Open() world.Tick { return e.gate.Open() }

// Advance tells what became known; the gate has advanced before.
func (e *engine) Advance(time.Duration) (server.Progress, error) {
	return server.Progress{Leading: e.gate.Leading()}, nil
}

// Enter does nothing: home lets players into the world.
func (e *engine) Enter(world.Player) {}

func (e *engine) Give(p world.Player, t world.Tick, image []int32, s world.Sight) error {
	e.gate.Command(p, t, image, &s)
	return nil
}

// errTell says that inputs of other kinds do not come in by a gateway.
var errTell = errors.New("gateway: a world in zones is told nothing by a gateway")

func (e *engine) Tell(world.Told, []byte) error { return errTell }

func (e *engine) Said(l server.Line) { e.gate.Say(l.Player, l.Name, l.Text, l.To) }

// Claim asks home, which knows where the player is.
func (e *engine) Claim(v server.Visitor) { e.gate.Claim(v.Client) }

func (e *engine) Release(client uint64, _ world.Player) { e.gate.Release(client) }

func (e *engine) Decisions() []server.Decision {
	list := e.decided
	e.decided = nil
	return list
}
