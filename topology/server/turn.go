package server

import (
	"time"

	"github.com/coeval-dev/coeval/world"
)

// This file is what becomes of a tick for which commands are due: who gave one, and what to do for
// those who did not. If no command has come the world uses the last one again, without its edges;
// after a while its levels are let go as well.

// gather gives the engine what players do at the tick that is about to be computed.
func (s *Server) gather(t world.Tick) {
	if s.neutral == nil {
		return
	}
	for _, seat := range s.players[1:] {
		if seat != nil && seat.inside {
			s.give(seat, t)
		}
	}
}

// give gives the engine what one player does at a tick.
func (s *Server) give(seat *Seat, t world.Tick) {
	if s.opt.Take != ByTick {
		if s.giveCome(seat, t) {
			return
		}
	} else if p := seat.peer; p != nil {
		if image, sight := p.queue.take(t); image != nil {
			if s.engine.Give(seat.Player, t, s.merge(p, t, image), sight) == nil {
				seat.repeated = 0
				return
			}
			s.offend(p, BadCommand)
		}
	}
	if s.missing(seat) {
		s.rest(seat, t)
	}
}

// rest gives the engine a command that does nothing.
func (s *Server) rest(seat *Seat, t world.Tick) {
	_ = s.engine.Give(seat.Player, t, s.neutral, world.Sight{}) // its image is one of the game's
}

// mostPassed is how many ticks are counted one by one; a mirror that joins passes all the ticks
// before at once.
const mostPassed = 64

// pass sees which players sent no command for the ticks that are over since the last call, of an
// engine that was given all of them when they came. Of those of whom nothing was heard for long, it
// lets the levels go.
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
				if image, _ := p.queue.take(t); image != nil {
					seat.repeated, release = 0, false
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
	s.rest(seat, t)
}

// missing counts a tick for which no command came, and says whether to let go of what the player
// holds: after a while, and at once if the player has said that they rest, in case that the
// commands before it were lost.
func (s *Server) missing(seat *Seat) bool {
	p := seat.peer
	seat.repeated++
	if p != nil {
		if p.resting {
			return seat.repeated == 1
		}
		p.counts.Repeated++
		p.repeated++
	}
	s.stats.Commands.Repeated++
	if seat.repeated != s.neutralAfter() {
		return false
	}
	if p != nil {
		p.counts.Neutral++
	}
	s.stats.Commands.Neutral++
	return true
}

func (s *Server) neutralAfter() int { return int(s.opt.Neutral / s.game.TickLength()) }
