package mirror

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// An engine is a mirror as its server for clients sees it. What the mirror decides about the
// server's people waits in Mirror.decided until the server asks for it.
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
		e.last = e.line.Leading()
	}
	return e.last
}

// Open is the first tick that this mirror has not promised.
func (e *engine) Open() world.Tick { return e.unpromised() }

func (m *Mirror) unpromised() world.Tick { return max(m.stamp, m.promised+1) }

// Enter does nothing: a player is in the world from the tick on that the überserver has said.
func (e *engine) Enter(world.Player) {}

// Give stamps a command and passes it on.
func (e *engine) Give(p world.Player, t world.Tick, image []int32) error {
	e.give(p, t, image)
	return nil
}

func (m *Mirror) give(p world.Player, t world.Tick, image []int32) {
	if m.phase != Serving || !m.started || t <= m.from || t < m.unpromised() || m.line == nil {
		m.stats.Dropped++
		return
	}
	if m.ruled != nil {
		m.gaveMove(p, t, image)
		return
	}
	if m.waits {
		m.moves = append(m.moves, move{p, t, slices.Clone(image)})
		return
	}
	m.queue(item{kind: itemGive, player: p, tick: t}, image)
}

// giveInOrder passes on commands whose tick closes. Timelines that wait take a command to mean that
// no earlier one will follow.
func (m *Mirror) giveInOrder() {
	slices.SortStableFunc(m.moves, func(a, b move) int { return int(a.tick) - int(b.tick) })
	n := 0
	for n < len(m.moves) && m.moves[n].tick < m.stamp {
		if v := &m.moves[n]; m.registry.speaks(m.self, v.player, v.tick) {
			m.queue(item{kind: itemGive, player: v.player, tick: v.tick}, v.image)
		}
		n++
	}
	m.moves = slices.Delete(m.moves, 0, n)
}

// Advance tells what became known since the last time; the timeline has advanced before.
func (e *engine) Advance(time.Duration) (server.Progress, error) {
	m := e.Mirror
	l := replica.Leading{Again: m.stale, Settled: m.shownSettled, Events: m.notices}
	if m.line == nil {
		return server.Progress{Leading: l}, nil
	}
	w := m.line.Leading()
	l.Again = l.Again || w.Tick() != m.shown+1
	l.Settled = m.line.Settled().Tick()
	m.shown, m.shownSettled, m.stale = w.Tick(), l.Settled, false
	m.notices = nil
	return server.Progress{Leading: l}, nil
}

// Said lets other mirrors' clients hear what is said here.
func (e *engine) Said(p world.Player, name, line string) {
	e.queue(item{kind: itemChat, player: p, name: name, text: line}, nil)
}

// Decisions hands over what the mirror has decided about the people of its server.
func (e *engine) Decisions() []server.Decision {
	list := e.decided
	e.decided = nil
	return list
}

// decides keeps a decision for the server, if there is one to do it.
func (m *Mirror) decides(d server.Decision) {
	if m.server != nil {
		m.decided = append(m.decided, d)
	}
}

// Claim asks the überserver for a player.
func (e *engine) Claim(v server.Visitor) {
	m := e.Mirror
	m.claims[v.Client] = &claim{name: v.Name, asked: m.machine}
	m.queue(item{kind: itemClaim, client: v.Client, name: v.Name}, nil)
}

// Release gives a player up.
func (e *engine) Release(client uint64, _ world.Player) {
	m := e.Mirror
	delete(m.claims, client)
	if h := m.registry.clients[client]; h != nil && h.owner() == m.self {
		m.queue(item{kind: itemRelease, client: client, player: h.player}, nil)
	}
}

// note keeps what the timeline found out about an event until it is published.
func (m *Mirror) note(n *timeline.Notice) {
	h := replica.Happening{Event: n.Event, Image: slices.Clone(n.Image)}
	switch n.What {
	case timeline.Provisional:
		h.What = replica.Provisional
		m.stats.Provisional++
	case timeline.Confirmed:
		h.What = replica.Confirmed
		m.stats.Confirmed++
	case timeline.Retracted:
		h.What = replica.Retracted
		m.stats.Retracted++
	}
	m.notices = append(m.notices, h)
}
