package ways

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/topology/wire"
)

// improving is how the player goes to a server that is much nearer, while the one that is played
// at works. It is done for a clear gain only, and not often: two servers that are as near never
// take turns, since each move makes the next one wait longer.
type improving struct {
	since  time.Duration // since when there is a much better server, or 0
	calm   time.Duration // before which nobody moves
	moves  int           // of its own accord, of late
	forget time.Duration // when one of them is forgotten
	hold   time.Duration // until when it is no good moment
}

const (
	// improveFirst is how long a player stays where it came in before it looks for better, and
	// improveSure for how long there must be something better.
	improveFirst = time.Second
	improveSure  = 500 * time.Millisecond
	// improvePause is what passes after a move before the next one; it doubles with each of the
	// moves that are not forgotten, of which one is in each improveForget.
	improvePause  = 20 * time.Second
	improveSoon   = 3 * time.Second
	improveMost   = 10 * time.Minute
	improveForget = 10 * time.Minute
	// improveShun is for how long a server that did not let the player in is not asked again, and
	// improveGiveUp how long it may take.
	improveShun   = 15 * time.Second
	improveGiveUp = 5 * time.Second
	// improveHold bounds for how long a move waits for a good moment.
	improveHold = 30 * time.Second
)

// Hold tells that it is no good moment to go to another server without need, for so long from now:
// the player is in a fight. A move waits for half a minute at most.
func (s *Set) Hold(d time.Duration) { s.improving.hold = s.now + d }

// improve goes to a much better server, if there is one. It is called while the server that is
// played at works.
func (s *Set) improve() {
	m := &s.improving
	if s.o.Stay || s.phase != PhasePlaying || s.main.state != Playing {
		m.since = 0
		return
	}
	if m.calm == 0 {
		m.calm = s.now + improveFirst
	}
	if m.moves > 0 && s.now >= m.forget {
		m.moves--
		m.forget = s.now + improveForget
	}
	if i := slices.IndexFunc(s.tried, func(w *Way) bool { return w.better }); i >= 0 {
		s.pursue(s.tried[i])
		return
	}
	p := s.better()
	if p == nil || s.now < m.calm || len(s.tried) > 0 {
		m.since = 0
		return
	}
	if m.since == 0 {
		m.since = s.now
	}
	if s.now-m.since < improveSure || s.now < m.hold && s.now-m.since < improveHold {
		return
	}
	s.try(p.server, false)
	if n := len(s.tried); n > 0 {
		s.tried[n-1].better = true
	}
	m.since = 0
	s.shun(p, improveShun) // unless it works out
}

// pursue goes on with a way to a better server. What a ping has told is proved by its handshake,
// which nobody else can answer.
func (s *Set) pursue(w *Way) {
	here := s.survey.at(s.main.addr())
	switch {
	case w.state == Spare && here != nil && here.cost()-w.Trip() > gainLeast/2:
		w.since, w.heard = s.now, s.now
		s.greet(w)
	case w.state.asked() && s.now-w.since > improveGiveUp:
		s.drop(w)
	}
}

// better is the server to which a player who is free to choose would go, if it is much better than
// this one; nil otherwise.
func (s *Set) better() *place {
	here := s.survey.at(s.main.addr())
	if here == nil {
		return nil
	}
	var best *place
	for _, p := range s.survey.places {
		if !p.known() {
			return nil // it may be the nearest
		}
		if p == here || s.now < p.shun || s.search.barred[p.server.Addr] {
			continue
		}
		if best == nil || s.prefers(p, best) {
			best = p
		}
	}
	if best == nil {
		return nil
	}
	// What differs by little more than single pings do may be chance.
	_, _, worse := here.measured()
	trip, jitter, loss := best.measured()
	if loss > max(worse, lossMost) || !s.clearly(here.surely(), trip+jitter/2) {
		return nil
	}
	return best
}

// surely is the least that a round trip to a server can be taken for.
func (p *place) surely() time.Duration {
	trip, jitter, _ := p.measured()
	return trip - jitter/2
}

// lossMost is which share of pings may be lost on the way to a server that is gone to.
const lossMost = 0.25

// prefers says whether one server is better than another, as nearer does of ways.
func (s *Set) prefers(p, q *place) bool {
	return s.before(p.cost(), q.cost(), p.server, q.server)
}

// journey is why the player comes to a server, and how far it is.
func (s *Set) journey(w *Way) wire.Journey {
	j := wire.Journey{Trip: wire.Millis(w.Trip())}
	switch {
	case w == s.main:
		return j
	case s.search.lost != nil:
		j.Why = wire.Lost
	case w.wished || s.search.sent || s.search.unwanted:
		j.Why = wire.Asked
	case w.better:
		j.Why = wire.Nearer
	default:
		j.Why = wire.Silent
	}
	if p := s.survey.at(s.main.addr()); p != nil && p.known() {
		trip, _, _ := p.measured()
		j.From = wire.Millis(trip)
	}
	return j
}

// shun keeps the player from a server for a while; not from going there if it must.
func (s *Set) shun(p *place, d time.Duration) { p.shun = s.now + d }

// improved is told of each move, and has the player stay for a while.
func (s *Set) improved(w *Way) {
	m := &s.improving
	pause := improveSoon // it had to go, and may not have had the choice
	if w.better {
		s.stats.Nearer++
		pause = min(improvePause<<min(m.moves, 10), improveMost)
		m.moves++
		m.forget = s.now + improveForget
	}
	m.calm, m.since = s.now+pause, 0
	for _, p := range s.survey.places {
		if p.open = false; p.server.Addr == w.server.Addr {
			p.shun = 0
		}
	}
}
