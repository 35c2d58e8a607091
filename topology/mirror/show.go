package mirror

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A show is the side that clients see: a server, and what it has not asked for yet. What this
// mirror decides and finds out waits here until the server asks, in order; the server outlives the
// group.
type show struct {
	server  *server.Server // nil until there is a world
	level   server.Level
	ticked  time.Duration     // when the server had its last tick
	decided []server.Decision // about its people

	last    *world.World // that was shown
	tick    world.Tick   // the leading one that was published last
	settled world.Tick   // and what was settled then
	stale   bool         // the leading world was taken back since then
	notices []replica.Happening
	was     timeline.Stats

	announced time.Duration // when others were last told where clients find this mirror
	elsewhere []wire.Server // where players find other mirrors, as last known
	idle      time.Duration // since when this one does not serve
	sentOn    time.Duration // when players were last sent elsewhere
}

// count takes what the timeline did. Where it took something back, all that is shown is new.
func (s *show) count(now timeline.Stats) {
	s.stale = s.stale || now.Rollbacks != s.was.Rollbacks || now.Returns != s.was.Returns ||
		now.Corrections != s.was.Corrections
	s.was = now
}

// seats lists those who are here, in the order of their numbers.
func (s *show) seats() (list []*server.Seat) {
	for seat := range s.server.Seats {
		if !seat.Away() {
			list = append(list, seat)
		}
	}
	slices.SortFunc(list, func(a, b *server.Seat) int { return cmp.Compare(a.Client, b.Client) })
	return list
}

// openServer makes the server, whose engine this is. If there is no timeline yet, it begins with
// the world that the level starts with.
func (m *Mirror) openServer() (err error) {
	if m.show.server == nil {
		o := m.opt.Server
		o.Level, o.Engine = m.show.level, &engine{m}
		m.show.server, err = server.New(o)
	}
	return err
}

// serve lets the server have its tick when the world has had one, and otherwise lets it hear.
func (m *Mirror) serve() error {
	s := &m.show
	if s.server == nil {
		return nil
	}
	m.sendOn()
	now := m.clock.steady
	due := now-s.ticked >= m.game.TickLength()
	if m.line != nil && m.line.Leading().Tick() == s.tick && !due {
		return s.server.Receive(now)
	}
	s.ticked = now
	return s.server.Tick(now)
}

// decides keeps a decision for the server, if there is one to do it.
func (m *Mirror) decides(d server.Decision) {
	if m.show.server != nil {
		m.show.decided = append(m.show.decided, d)
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
	m.show.notices = append(m.show.notices, h)
}

// announce tells where clients find this mirror.
func (m *Mirror) announce() {
	load := 0
	if s := m.show.server; s != nil {
		load = s.Population().Players
	}
	m.queue(item{kind: itemWhere, addr: m.opt.Public, peer: m.opt.Address, load: uint32(load),
		room: uint32(m.opt.Room), name: m.opt.Name})
}

// tellServers tells clients of the other mirrors, the nearest first, as far as this one can know: a
// client that is near this mirror is not far from those that are. Of several that are as near, the
// one with the fewest players is first. Clients find out by themselves which is nearest to them.
func (m *Mirror) tellServers() {
	if m.show.server == nil {
		return
	}
	var list []wire.Server
	far := map[netip.AddrPort]time.Duration{}
	for _, p := range m.peers {
		if p.server.Addr.IsValid() && p.started {
			list = append(list, p.server)
			q, _ := m.group.node.Group().Quality(p.id)
			far[p.server.Addr] = q.Delay / nearAlike
		}
	}
	slices.SortStableFunc(list, func(a, b wire.Server) int {
		return cmp.Or(cmp.Compare(far[a.Addr], far[b.Addr]), cmp.Compare(a.Load, b.Load))
	})
	if len(list) > 0 {
		m.show.elsewhere = list
	}
	m.show.server.SetOtherServers(list)
}

const (
	// idleTime is how long a mirror may not serve before its players are asked to go on elsewhere,
	// and sendEvery how often.
	idleTime  = 1500 * time.Millisecond
	sendEvery = 2 * time.Second
	// nearAlike is by how much less two mirrors are as near.
	nearAlike = 10 * time.Millisecond
)

// sendOn asks players to go on elsewhere while this mirror does not serve. Those who are not let in
// there stay.
func (m *Mirror) sendOn() {
	s := &m.show
	now := m.clock.steady
	if m.life.phase == Serving {
		s.idle = now
		return
	}
	if now-s.idle < idleTime || now-s.sentOn < sendEvery || len(s.elsewhere) == 0 {
		return
	}
	s.sentOn = now
	for _, seat := range s.seats() { // each to the nearest, as it measures
		m.decides(server.Decision{Kind: server.Move, Client: seat.Client})
	}
}

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
func (e *engine) Open() world.Tick { return max(e.in.open(), e.levels.base+1) - e.levels.base }

// Enter does nothing: a player is in the world from the tick on that the überserver has said.
func (e *engine) Enter(world.Player) {}

// Give stamps a command of a client here and passes it on.
func (e *engine) Give(p world.Player, t world.Tick, image []int32, s world.Sight) error {
	e.give(p, e.levels.base+t, image, s)
	return nil
}

// Tell stamps an input of another kind and passes it on.
func (e *engine) Tell(t world.Told, data []byte) error { return e.input(t, data) }

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
	return server.Progress{Leading: l, Asks: e.leads()}, nil
}

// Said lets other mirrors' clients hear what is said here.
func (e *engine) Said(l server.Line) {
	e.queue(item{kind: itemChat, player: l.Player, name: l.Name, text: l.Text,
		alone: slices.Clone(l.To)})
}

// Decisions hands over what the mirror has decided about the people of its server.
func (e *engine) Decisions() []server.Decision {
	list := e.show.decided
	e.show.decided = nil
	return list
}

// Claim asks the überserver for a player.
func (e *engine) Claim(v server.Visitor) {
	if !e.turnsAway(v.Client) && !e.sendsOn(v) {
		e.claim(v.Client, v.Name, v.Journey)
	}
}

// Release gives a player up.
func (e *engine) Release(client uint64, _ world.Player) {
	r := &e.roll
	delete(r.claims, client)
	if h := r.registry.clients[client]; h != nil && h.owner() == r.self {
		e.queue(item{kind: itemRelease, client: client, player: h.player})
	}
}
