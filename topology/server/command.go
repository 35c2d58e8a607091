package server

import (
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// intake is how a player's commands come in. Someone who only watches, or plays a game without
// commands, has neither queue nor reader, and nothing is taken.
type intake struct {
	queue    *queue
	come     arrivals // in place of the queue, where commands are taken as they come
	reader   *replica.CommandReader
	take     func(t world.Tick, image []int32, said *world.Sight)
	newest   world.Tick // among the commands of a packet
	edited   []int32
	edges    lateEdges
	resting  bool // said that there are no commands until the next
	early    int  // the least since the last snapshot
	heard    bool // there were any
	repeated int  // ticks without a command since the last snapshot
	counts   CommandCounts
}

// commands takes a packet of commands.
func (s *Server) commands(p *peer, data []byte) {
	// An engine that gives someone a player who comes from another server wants their commands
	// before they are shown the world again.
	if p.state != shown && (p.state != loading || !s.traits.Eager) || p.seat.Spectator() ||
		p.seat.gone || len(data) == 0 || data[0] != byte(p.epoch) || s.failed.err != nil {
		return // about a world that is no more, or has not begun
	}
	// A path that stood still may bring all at once that was sent in the meantime, for as long as a
	// connection outlasts.
	if rate := float64(s.opt.Limits.Commands); !p.commands.pass(s.now, rate,
		max(10*float64(s.game.Rate()), rate)) {
		s.offend(p, ManyCommands)
		return
	}
	now := s.closed()
	p.newest = 0
	newest, err := p.reader.Read(data[1:], now, p.take)
	if err != nil {
		s.offend(p, BadCommand)
		return
	}
	if p.state >= mismatched {
		return
	}
	if p.resting = p.newest == 0; p.resting {
		p.newest = newest
	}
	quarter := s.game.TickLength() / 4
	early := 4*int(int64(p.newest)-int64(now)-1) + int(min(max(s.due-s.now, 0), 4*quarter)/quarter)
	early = max(min(early, maxEarly), -maxEarly)
	if !p.heard || early < p.early {
		p.early = early
	}
	p.heard, p.counts.Early = true, early
}

const (
	// maxEarly bounds what is told of how early commands come, in quarters of a tick: a snapshot
	// has eight bits for it.
	maxEarly = 127
	// maxReports is how many messages to package replica there may be in a second. An honest client
	// sends one when something went wrong.
	maxReports = 40
)

// takeOne is called for each command of a packet.
func (p *peer) takeOne(t world.Tick, image []int32, said *world.Sight) {
	s := p.server
	closed := s.closed()
	p.newest = max(p.newest, t)
	if len(image) != p.queue.size {
		s.offend(p, BadCommand)
		return
	}
	if s.opt.Rules.Command != nil {
		// what was read is what the next is a difference from
		p.edited = append(p.edited[:0], image...)
		image = p.edited
	}
	if s.opt.Take != ByTick {
		s.arrive(p, t, image, said)
		return
	}
	if t <= closed {
		s.late(p, closed, t, image)
		return
	}
	if !s.allows(p, t, image) {
		return
	}
	switch p.queue.put(closed, t, image) {
	case taken:
		p.counts.Taken++
		s.stats.Commands.Taken++
		sight := s.shows(p, t, said)
		p.queue.note(t, sight)
		if s.traits.Eager {
			// it was checked when it was read
			_ = s.engine.Give(p.seat.Player, t, s.merge(p, t, image), sight)
		}
	case again:
		p.counts.Again++
		s.stats.Commands.Again++
	case late: // the server has decided for it
		s.late(p, closed, t, image)
	case future:
		p.counts.Future++
		s.stats.Commands.Future++
		s.offend(p, FutureTick)
	case differed:
		p.counts.Differed++
		s.stats.Commands.Differed++
		s.offend(p, SecondMind)
	}
}

// allows asks the game's rules about a command, which they may change.
func (s *Server) allows(p *peer, t world.Tick, image []int32) bool {
	if s.opt.Rules.Command == nil {
		return true
	}
	if err := s.opt.Rules.Command(s.scene.world, p.seat.Player, t, image); err != nil {
		s.offend(p, AgainstRules)
		return false
	}
	return true
}

// late takes a command for a tick that is over: if it was not there in time, and it is not long
// ago, its edges still count.
func (s *Server) late(p *peer, closed, t world.Tick, image []int32) {
	if p.queue.put(closed, t, image) == again {
		p.counts.Again++
		s.stats.Commands.Again++
		return
	}
	p.counts.Late++
	s.stats.Commands.Late++
	if s.finder != nil && t+s.lateTicks > closed && p.queue.first(t) &&
		s.allows(p, closed+1, image) {
		p.edges.add(s.finder, t, image)
	}
}

// merge makes the edges that came late part of a command. What makes no sense together is left out.
func (s *Server) merge(p *peer, t world.Tick, image []int32) []int32 {
	if len(p.edges.waiting) == 0 {
		return image
	}
	out, done := p.edges.merge(s.finder, t, s.lateTicks, image)
	if s.game.Commands().Check(out) != nil {
		return image
	}
	p.counts.Merged += uint64(done)
	s.stats.Commands.Merged += uint64(done)
	return out
}
