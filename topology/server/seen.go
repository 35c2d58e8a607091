package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// This file bounds what a client says it showed when it gave a command, by which its shots are
// judged. Whoever chose that moment freely could shoot at where others stood half a second ago.

// A lagMeter measures how far behind the present a client can show others: a round trip, and what
// its playout has to wait for snapshots. The server does the client's own sum: until the
// acknowledgement of a snapshot is here, the one before was the newest that the client is known to
// have, and nothing later than that can be shown. So much the picture lags, and the largest lag of
// the last seconds is about what an honest playout chooses.
//
// The lag that a client claims may also change no faster than an honest one does, which plays
// faster or slower by a few hundredths: so it cannot be chosen for each shot.
type lagMeter struct {
	newest world.Tick // snapshot that is known to have arrived; 0 for none
	second int64      // which second it is
	need   [lagMemory]float64
	needed float64 // the largest of them

	claimed bool
	tick    world.Tick // of the command with which the last claim came
	lag     float64    // which was so many ticks behind the command
}

const (
	// lagMemory is for how many seconds a lag that was met is reckoned with, as a client's playout
	// does.
	lagMemory = 10
	// lagSlack is by how many ticks a claim may lie further back than was measured: a snapshot and
	// the commands of a client do not arrive at the same part of a tick.
	lagSlack = 2
	// lagPace is by what part of a tick the lag may change in a tick: the client's clock and its
	// playout change their pace by up to a twentieth each, and the clock more when it is lost.
	lagPace = 0.15
	// lagPause is how many ticks without a claim count.
	lagPause = 30
)

// met notes that a client needed so large a lag.
func (m *lagMeter) met(now time.Duration, lag float64) {
	second := int64(now / time.Second)
	for ; m.second < second; m.second++ {
		if second-m.second > lagMemory {
			m.second = second - lagMemory
		}
		m.need[(m.second+1)%lagMemory] = 0
		m.needed = slices.Max(m.need[:])
	}
	n := &m.need[second%lagMemory]
	*n = max(*n, lag)
	m.needed = max(m.needed, *n)
}

// arrived notes that a snapshot is known to have arrived, at a moment in ticks.
func (m *lagMeter) arrived(now time.Duration, moment float64, tick world.Tick) {
	if tick <= m.newest {
		return
	}
	if m.newest != 0 {
		m.met(now, moment-float64(m.newest))
	}
	m.newest = tick
}

// bring reckons with the lag that someone had at the server that they come from, for as long as
// their playout does: it plays faster by a few hundredths until it shows what is new. They say it
// themselves, and win nothing by saying more than by acknowledging snapshots later.
func (s *Server) bring(p *peer) {
	trip := min(time.Duration(p.journey.From)*time.Millisecond, mostBrought)
	if p.journey.Why == wire.Joins || trip == 0 {
		return
	}
	p.lag.second = int64(s.now / time.Second)
	p.lag.met(s.now, float64(trip)/float64(s.game.TickLength())+float64(2*s.every))
	p.journey = wire.Journey{} // it is told once
}

// mostBrought bounds what is believed of a round trip elsewhere.
const mostBrought = 500 * time.Millisecond

// most is the largest lag that a client can have at a moment; first is what to go by as long as
// nothing is measured.
func (m *lagMeter) most(first float64) float64 { return cmp.Or(m.needed, first) + lagSlack }

// claim takes how many sixteenths of a tick ago what a client showed was, as it says, when it made
// the command for a tick that arrived at a moment, and gives what it can have shown. It is false if
// that is something else.
func (m *lagMeter) claim(tick world.Tick, ago uint16, moment, most float64) (uint16, bool) {
	said := float64(tick) - float64(ago)/16
	shown := min(max(said, moment-most, 0), moment)
	lag := float64(tick) - shown
	if m.claimed {
		free := 1 + lagPace*float64(min(max(tick, m.tick)-min(tick, m.tick), lagPause))
		lag = min(max(lag, m.lag-free), m.lag+free)
		// The world's own bounds come first: a lead that was cut is no reason for a lag.
		lag = min(max(lag, float64(tick)-moment), float64(tick)-max(moment-most, 0))
	}
	m.claimed, m.tick, m.lag = true, tick, lag
	out := uint16(min(max(16*lag+0.5, 0), 1<<16-1))
	return out, max(out, ago)-min(out, ago) <= 1
}

// moment is the present in ticks and parts of them.
func (s *Server) moment() float64 {
	part := float64(max(s.due-s.now, 0)) / float64(s.game.TickLength())
	return float64(s.closed()) + 1 - min(part, 1)
}

// arrived notes that a packet of snapshots has arrived.
func (s *Server) arrived(p *peer, packet uint64) {
	p.sender.Arrived(packet)
	p.lag.arrived(s.now, s.moment(), p.sender.Confirmed())
}

// rewinds is how many ticks back shots are judged.
func (s *Server) rewinds() world.Tick {
	most := s.game.Rewinds()
	if l := s.opt.Limits.Rewind; l != 0 {
		most = min(most, world.Tick(max(l, 0)/s.game.TickLength()))
	}
	return most
}

// shows takes what a client says it showed when it made the command for a tick, and gives what
// counts of it.
func (s *Server) shows(p *peer, tick world.Tick, said *world.Sight) (sight world.Sight) {
	most := s.rewinds()
	if most == 0 || *said == sight {
		return sight
	}
	// A command that comes again with a later one was made earlier.
	since := p.reader.Newest() - tick
	if said.Ago > 0 {
		first := 0.0
		if p.lag.needed == 0 {
			length := float64(s.game.TickLength())
			first = float64(p.conn.Quality().RoundTrip)/length + float64(2*s.every)
		}
		reach := p.lag.most(first) +
			float64(s.opt.Limits.Interpolate)/float64(s.game.TickLength())
		ago, honest := p.lag.claim(tick, said.Ago, s.moment()-float64(since), reach)
		if !honest {
			p.counts.Bounded++
			s.stats.Commands.Bounded++
		}
		sight.Ago = uint16(min(world.Tick(ago), 16*most))
	}
	if said.Claimed == 0 {
		return sight
	}
	// What is predicted follows from the newest snapshot that the client had, and what is
	// interpolated lies before it.
	base := p.reader.Newest() - min(p.lag.newest, p.reader.Newest())
	sight.Base = uint16(min(max(base, world.Tick(sight.Ago+15)/16), most))
	for _, c := range said.Claims[:min(said.Claimed, world.MaxClaims)] {
		p.counts.Claims++
		s.stats.Commands.Claims++
		with := sight
		if with.Add(c); s.game.CheckSight(&with) != nil ||
			s.scene.world.Owner(c.Target) == p.seat.Player {
			p.counts.Mistaken++
			s.stats.Commands.Mistaken++
			continue
		}
		sight = with
	}
	return sight
}
