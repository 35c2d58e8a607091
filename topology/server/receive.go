package server

import (
	"errors"
	"time"
)

// This file is how much the server takes in at once. What waits at its links may be anything, from
// anyone, and without end; so one receive takes so many datagrams from each link, and where the
// server runs by the clock so long, and what is left waits in the link's own queue for the next.
// Links have turns: what floods one of them takes no more from another than that.

const (
	// receiveBatch is how many datagrams are taken from a link at once, handleBatch how many are
	// handled before their events are looked at, while they are still in the cache.
	receiveBatch = 128
	handleBatch  = 16
	// Of one link, a receive takes mostAtOnce datagrams and mostOfEach more for each client: many
	// times what all clients send in a tick.
	mostAtOnce = 4096
	mostOfEach = 16
	// Clients send a packet a tick, or a few. More than strangersRate a second beyond eachRate for
	// each of them is a flood. As long as there is one the server looks more often, every
	// floodPoll, so that a link's queue is not full of it when a client's packet comes.
	strangersRate = 20_000
	eachRate      = 720
	floodPoll     = 500 * time.Microsecond
	// By the clock, a receive within a tick may take a tickShare of the tick's length, and one
	// between ticks has at least half of that. What clients send, leastOfEach, is taken whatever it
	// takes.
	tickShare   = 4
	leastOfEach = 4
)

// receiving bounds what one receive takes in, and knows whether there is more than clients send.
type receiving struct {
	running bool // Run drives the server, by the machine's clock
	first   int  // which port has its turn first
	last    time.Duration
	flooded bool
}

// receive takes in what has come, for as long as that may take by the machine's clock; 0 is no
// limit.
func (s *Server) receive(now, limit time.Duration) error {
	if now-s.now > stall {
		s.lenient = now + 3*time.Second
	}
	s.now = now
	s.decide()
	alive, taken := s.takeIn(limit)
	s.decide()
	if !alive {
		return errors.New("server: every link has ended, nobody can reach the server any more")
	}
	s.receiving.flooded = taken > 0 && s.flood(taken, max(now-s.receiving.last, floodPoll))
	s.receiving.last = now
	return nil
}

// flood says whether so many datagrams in that time are more than the clients send.
func (s *Server) flood(taken int, in time.Duration) bool {
	return float64(taken) > float64(float64(strangersRate+eachRate*len(s.order))*in.Seconds())
}

// takeIn gives each link its turns, until nothing waits or the bounds are reached. It says whether
// any link is alive, and how many datagrams it took.
func (s *Server) takeIn(limit time.Duration) (alive bool, taken int) {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	least := leastOfEach * len(s.order)
	rounds := (mostAtOnce + mostOfEach*len(s.order)) / receiveBatch
	s.receiving.first++
	waiting := len(s.ports)
	for _, p := range s.ports {
		p.empty = p.down != nil
	}
	for ; rounds > 0; rounds-- {
		for i := range s.ports {
			p := s.ports[(s.receiving.first+i)%len(s.ports)]
			if p.empty {
				continue
			}
			taken += s.takeBatch(p)
		}
		waiting = 0
		for _, p := range s.ports {
			if !p.empty {
				waiting++
			}
		}
		if waiting == 0 || limit > 0 && taken > least && time.Now().After(until) {
			break
		}
	}
	for _, p := range s.ports {
		if p.down == nil {
			s.handle(p) // what flushing has brought about
			alive = true
		}
	}
	if waiting > 0 {
		s.stats.Bounded++
	}
	return alive, taken
}

// takeBatch handles some of what waits at a link.
func (s *Server) takeBatch(p *port) int {
	n, err := p.link.Receive(p.batch)
	if err != nil {
		p.down, p.empty = err, true
		s.tell(News{Kind: LinkDown, Err: err})
		return 0
	}
	for i := 0; i < n; i += handleBatch {
		p.conn.Receive(s.now, p.batch[i:min(i+handleBatch, n)])
		s.handle(p)
	}
	p.empty = n < len(p.batch)
	return n
}

// Receive takes in what has come, between ticks. It is not needed, but lets the server know better
// when commands came.
func (s *Server) Receive(now time.Duration) error {
	if s.over {
		return ErrReplaced
	}
	began := time.Now()
	err := s.receive(now, s.idle(now))
	s.stats.Times.Receive += time.Since(began)
	return err
}

// within is how long a tick may take in.
func (s *Server) within() time.Duration {
	if s.opt.Intake > 0 || !s.receiving.running {
		return s.opt.Intake
	}
	return s.game.TickLength() / tickShare
}

// idle is how long may be taken in between ticks: until shortly before the next is due.
func (s *Server) idle(now time.Duration) time.Duration {
	if s.opt.Intake > 0 || !s.receiving.running {
		return s.opt.Intake
	}
	least := s.game.TickLength() / tickShare / 2
	return max(s.due-now-least/2, least)
}

// hurry is when to look for datagrams again, if that is sooner than usual.
func (s *Server) hurry() time.Duration {
	if s.receiving.flooded {
		return floodPoll
	}
	return 0
}
