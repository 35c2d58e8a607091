package mirror

import (
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// An engine is a mirror as its server for clients sees it. What the mirror decides about the
// server's people waits in its show until the server asks for it.
type engine struct{ *Mirror }

// Traits: other mirrors hear of commands and go on without this one, and the world may be taken
// back.
func (e *engine) Traits() server.Traits {
	return server.Traits{Eager: true, Outlives: true, Leading: true}
}

// Begin opens the timeline of a founder. Who joins has, or will get, the world of the others.
func (e *engine) Begin(w *world.World, _ server.Level) error {
	if e.line != nil {
		return nil
	}
	return e.openLine(w, nil)
}

// World is the leading world.
func (e *engine) World() *world.World {
	if e.line != nil {
		e.show.last = e.line.Leading()
	}
	return e.show.last
}

// Open is the first tick that this mirror has not promised.
func (e *engine) Open() world.Tick { return e.in.open() }

// Enter does nothing: a player is in the world from the tick on that the überserver has said.
func (e *engine) Enter(world.Player) {}

// Give stamps a command and passes it on.
func (e *engine) Give(p world.Player, t world.Tick, image []int32) error {
	e.give(p, t, image)
	return nil
}

// Advance tells what became known since the last time; the timeline has advanced before.
func (e *engine) Advance(time.Duration) (server.Progress, error) {
	s := &e.show
	l := replica.Leading{Again: s.stale, Settled: s.settled, Events: s.notices}
	if e.line == nil {
		return server.Progress{Leading: l}, nil
	}
	w := e.line.Leading()
	l.Again = l.Again || w.Tick() != s.tick+1
	l.Settled = e.line.Settled().Tick()
	s.tick, s.settled, s.stale, s.notices = w.Tick(), l.Settled, false, nil
	return server.Progress{Leading: l}, nil
}

// Said lets other mirrors' clients hear what is said here.
func (e *engine) Said(p world.Player, name, line string) {
	e.queue(item{kind: itemChat, player: p, name: name, text: line})
}

// Decisions hands over what the mirror has decided about the people of its server.
func (e *engine) Decisions() []server.Decision {
	list := e.show.decided
	e.show.decided = nil
	return list
}

// Claim asks the überserver for a player.
func (e *engine) Claim(v server.Visitor) { e.claim(v.Client, v.Name) }

// Release gives a player up.
func (e *engine) Release(client uint64, _ world.Player) {
	r := &e.roll
	delete(r.claims, client)
	if h := r.registry.clients[client]; h != nil && h.owner() == r.self {
		e.queue(item{kind: itemRelease, client: client, player: h.player})
	}
}
