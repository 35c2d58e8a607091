package clientserver

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// An Engine computes the world in place of the server: what a mirror puts into Options.Engine, whose world follows from the commands of all mirrors' clients and may
// be taken back. The server keeps to its clients: it takes their commands and shows them what the engine says. All methods are called by the goroutine
// that drives the server, and may call Grant, Deny and Revoke.
type Engine interface {
	// Begin is given the world that the level starts with, before the first tick. A mirror that joins a game under way ignores it; its World is then where the game is, and what
	// has happened in it is taken for certain.
	Begin(w *world.World, l Level) error
	// World is what is shown, good until the next Advance.
	World() *world.World
	// Open is the first tick for which commands still count; a client's command for an earlier one is late. It never goes back. How early commands come, which
	// snapshots tell, is measured against it.
	Open() world.Tick
	// Give is told each command of a player that has a seat here, as soon as it has come and the game's rules have passed it: for a tick from Open on, and once for each. The
	// image is good during the call. If none comes, none is told, except for the one by which the levels of a player of whom nothing is heard are let go.
	Give(p world.Player, t world.Tick, image []int32)
	// Advance computes what is due by now and says what came of it, for replica.Publisher.PublishLeading. The error is one that the server cannot go on after.
	Advance(now time.Duration) (replica.Leading, error)
	// Claim asks for a place for someone who has greeted and wants to play. The answer is Server.Grant or Server.Deny, at once or later. It may be asked again for
	// the same client, which has connected anew in the meantime.
	Claim(v Visitor)
	// Release tells that a seat is given up here, and so the player; or, with world.Nobody, that a claim is wanted no more which was not answered.
	Release(client uint64, p world.Player)
}

// errEngine is what cannot be done where the world is not the server's own.
var errEngine = errors.New("clientserver: the world belongs to Options.Engine, which begins its levels itself; start another server for another level")

// A claim is someone who waits for the engine to give them a place.
type claim struct {
	name  string
	data  []byte // user data of the token
	since time.Duration
}

// ignite begins with an engine's world.
func (s *Server) ignite() error {
	s.claims = map[uint64]claim{}
	if err := s.engine.Begin(s.stage.world, s.stage.level); err != nil {
		return err
	}
	w := s.engine.World()
	s.stage.world, s.passed = w, s.engine.Open()
	if w.Tick() == 0 {
		return nil
	}
	// What is kept for latecomers is part of a world that comes from elsewhere.
	l := replica.Leading{Again: true}
	var sync bits.Sync
	for e, v := range w.SavedHappened {
		layout := s.game.Events()[e.Kind].Layout()
		image := make([]int32, layout.Len())
		if err := layout.Pack(&sync, v, image); err != nil {
			return err
		}
		l.Events = append(l.Events, replica.Happening{What: replica.Confirmed, Event: e, Image: image})
	}
	slices.SortStableFunc(l.Events, func(a, b replica.Happening) int { return cmp.Compare(a.Event.Tick, b.Event.Tick) })
	return s.stage.publisher.PublishLeading(w, l)
}

// closed is the newest tick for which commands come too late.
func (s *Server) closed() world.Tick {
	if s.engine == nil {
		return s.stage.world.Tick()
	}
	return max(s.engine.Open(), 1) - 1
}

// advance lets the engine compute, and publishes what it came to.
func (s *Server) advance() error {
	g := s.stage
	l, err := s.engine.Advance(s.now)
	if err != nil {
		return err
	}
	w := s.engine.World()
	still := w == g.world && w.Tick() == g.publisher.Tick() && !l.Again && l.Settled == g.settled && len(l.Events) == 0
	g.world, g.settled = w, l.Settled
	s.pass()
	if still {
		return nil
	}
	if err := g.publisher.PublishLeading(w, l); err != nil {
		if s.opt.Develop {
			return err
		}
		s.gameError(err)
	}
	return nil
}

// mostPassed is how many ticks are counted one by one; a mirror that joins passes all the ticks before at once.
const mostPassed = 64

// pass sees which players sent no command for the ticks that are over since the last call. Of those of whom nothing was heard for long, it lets the levels go.
func (s *Server) pass() {
	open := s.engine.Open()
	if open <= s.passed {
		if s.now-s.passedAt > stall { // the engine stands still, and clients cannot know
			s.lenient = s.now + 3*time.Second
		}
		return
	}
	s.passedAt = s.now
	if s.neutral == nil {
		s.passed = open
		return
	}
	from := max(s.passed, open-min(open, mostPassed))
	s.passed = open
	for _, seat := range s.players[1:] {
		if seat == nil {
			continue
		}
		release := false
		for t := from; t < open; t++ {
			if p := seat.peer; p != nil && p.queue != nil {
				if image, seen := p.queue.take(t); image != nil {
					seat.repeated, seat.seen, release = 0, seen, false
					continue
				}
			}
			release = s.missing(seat) || release
		}
		if release {
			s.letGo(seat, open)
		}
	}
}

// letGo gives a command at rest, unless the player has sent one for that tick.
func (s *Server) letGo(seat *Seat, t world.Tick) {
	if p := seat.peer; p != nil && p.queue != nil && !p.queue.shut(t) {
		return
	}
	s.engine.Give(seat.Player, t, s.neutral)
}

// claim asks the engine for a place for someone who has greeted.
func (s *Server) claim(p *peer, name string) {
	client := p.conn.Client()
	if old := s.claimant(client); old != nil {
		s.close(old, conn.ReasonReplaced, "") // by another link
	}
	taken := 0
	for other := range s.claims {
		if other != client {
			taken++
		}
	}
	for _, seat := range s.players[1:] {
		if seat != nil {
			taken++
		}
	}
	if taken >= s.opt.Players {
		s.refuse(p, wire.ReasonNoSeat, "")
		return
	}
	p.state, p.since = claiming, s.now
	s.ask(p, name)
}

// ask puts a claim to the engine.
func (s *Server) ask(p *peer, name string) {
	client := p.conn.Client()
	s.claims[client] = claim{name: name, data: p.conn.UserData(), since: s.now}
	s.engine.Claim(Visitor{Client: client, Name: name, Addr: p.conn.Addr(), UserData: p.conn.UserData()})
}

// unclaim tells the engine that no one waits for its answer any more.
func (s *Server) unclaim(client uint64) {
	if _, waits := s.claims[client]; waits {
		delete(s.claims, client)
		s.engine.Release(client, world.Nobody)
	}
}

// claimant finds who waits for an answer of the engine, or gives nil.
func (s *Server) claimant(client uint64) *peer {
	for _, p := range s.order {
		if p.state == claiming && p.conn.Client() == client {
			return p
		}
	}
	return nil
}

// Grant is the engine's answer to a claim: the client is that player, by that name, or if it is empty by the one that it asked for. Someone who is not there any more
// has the seat all the same, and it is kept as for anyone whose connection was lost. On a server without an engine it does nothing.
func (s *Server) Grant(client uint64, player world.Player, name string) {
	if s.engine == nil || player == world.Nobody {
		return
	}
	waits := s.claims[client]
	delete(s.claims, client)
	for len(s.players) <= int(player) {
		s.players = append(s.players, nil)
	}
	seat := s.seats[client]
	if other := s.players[player]; other != nil && other != seat {
		s.Revoke(other.Client, "the player is someone else's now", netip.AddrPort{})
	}
	kind := Changed
	switch {
	case seat == nil:
		kind = Joined
		seat = &Seat{Client: client, UserData: waits.data, since: s.now, away: s.now}
		s.seats[client] = seat
	case seat.Player == player:
		return // said before
	case seat.Spectator():
		s.watching--
	default:
		s.players[seat.Player] = nil
	}
	s.players[player] = seat
	seat.Player, seat.inside, seat.repeated = player, true, 0
	switch {
	case name != "":
		seat.Name = wire.Clip(name, wire.MaxName)
	case kind == Joined:
		seat.Name = s.nameFor(seat, waits.name)
	}
	if kind == Changed {
		if seat.peer != nil {
			s.welcome(seat.peer)
			s.show(seat.peer) // what is told depends on who is told
		}
		s.tell(News{Kind: Changed, Seat: seat})
		return
	}
	if p := s.claimant(client); p != nil {
		seat.peer = p
		s.seated(p, seat, Joined)
		return
	}
	s.tell(News{Kind: Joined, Seat: seat})
	if s.opt.KeepSeat < 0 {
		s.leave(seat)
	}
}

// Deny is the engine's other answer to a claim. The reason and the note are told to who waits.
func (s *Server) Deny(client uint64, reason conn.Reason, note string) {
	delete(s.claims, client)
	if p := s.claimant(client); p != nil {
		s.refuse(p, reason, note)
	} else if seat := s.seats[client]; seat != nil && seat.peer != nil && seat.Spectator() {
		if note == "" {
			note = wire.ReasonText(reason)
		}
		s.notice(seat.peer, note)
	}
}

// sweepClaims gives up claims that were not answered in time.
func (s *Server) sweepClaims() {
	for client, c := range s.claims {
		if s.now-c.since > s.opt.Limits.Greeting {
			s.unclaim(client)
		}
	}
}
