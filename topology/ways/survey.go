package ways

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A survey is how far the servers of the game are from the player: all that the player was told of
// and the one that is played at, measured by the same pings, so that they compare.
//
// A server that is new is pinged quickly until enough is known of it, and from then on now and
// then. When the way to the server that is played at has become another, as when the player goes
// from one network to another, all are measured anew.
type survey struct {
	places []*place
	next   time.Duration // before which none is pinged
	anew   time.Duration // before which they are not measured anew
	base   time.Duration // the connection's round trip when they were
	pongs  []conn.Pong
}

// A place is a server in a survey.
type place struct {
	server wire.Server
	trips  [surveyWindow]time.Duration // the last ones in a ring; lost if no answer came
	count  int                         // that were ever taken
	open   bool                        // a ping is under way
	sent   time.Duration
	shun   time.Duration // until when the player does not go there of its own accord
}

const (
	surveyWindow = 9
	// surveyEnough is of how many pings the outcome is to be known before a server is compared.
	surveyEnough = 5
	// surveyQuick is what passes between two pings of a server of which too little is known, and
	// surveySlow of one that is known: with 16 servers, four pings a second.
	surveyQuick = 150 * time.Millisecond
	surveySlow  = 4 * time.Second
	// surveyLost is when a ping is taken for lost.
	surveyLost = time.Second
	// surveyAnew is how often, at most, all are measured anew.
	surveyAnew = 10 * time.Second

	lost = time.Duration(-1)
	// lossPenalty is how much further a server seems over which all is lost.
	lossPenalty = 300 * time.Millisecond
)

// A Place is how far a server of the game is from the player.
type Place struct {
	wire.Server
	// Trip is the median round trip, zero if it is not known yet; Jitter by how much a round trip
	// typically differs from it; Loss which share of the pings was lost.
	Trip, Jitter time.Duration
	Loss         float64
	Here         bool // it is the one that is played at
}

// Places are all servers of the game as far as they were measured, the best first.
func (s *Set) Places() []Place {
	var list []Place
	home := s.main.addr()
	for _, p := range s.survey.places {
		trip, jitter, loss := p.measured()
		list = append(list, Place{p.server, trip, jitter, loss, p.server.Addr == home})
	}
	slices.SortStableFunc(list, func(a, b Place) int {
		return cmp.Compare(costOf(a.Trip, a.Jitter, a.Loss), costOf(b.Trip, b.Jitter, b.Loss))
	})
	return list
}

// measured sums up what the last pings came to.
func (p *place) measured() (trip, jitter time.Duration, loss float64) {
	n := min(p.count, surveyWindow)
	var room [surveyWindow]time.Duration
	list := room[:0]
	for _, t := range p.trips[:n] {
		if t != lost {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return 0, 0, 1
	}
	slices.Sort(list)
	trip = list[len(list)/2]
	for i := range list {
		list[i] = (list[i] - trip).Abs()
	}
	slices.Sort(list)
	return trip, list[len(list)/2], 1 - float64(len(list))/float64(n)
}

// cost is what a player suffers from at a server: the round trip, and much loss.
func (p *place) cost() time.Duration { return costOf(p.measured()) }

func costOf(trip, _ time.Duration, loss float64) time.Duration {
	if trip == 0 {
		return time.Hour // nothing is known
	}
	more := max(0, loss-1.0/surveyEnough) // one of them says little
	return trip + time.Duration(more*float64(lossPenalty))
}

// known says whether enough was measured to go by.
func (p *place) known() bool { return p.count >= surveyEnough }

// take books the outcome of a ping.
func (p *place) take(trip time.Duration) {
	p.trips[p.count%surveyWindow] = trip
	p.count++
	p.open = false
}

// at finds a place, or nil.
func (v *survey) at(a netip.AddrPort) *place {
	if i := slices.IndexFunc(v.places, func(p *place) bool { return p.server.Addr == a }); i >= 0 {
		return v.places[i]
	}
	return nil
}

// update keeps the list of what is measured: home is the server that is played at.
func (v *survey) update(home wire.Server, others []wire.Server) {
	if !home.Addr.IsValid() {
		return
	}
	keep := func(q wire.Server) {
		if p := v.at(q.Addr); p == nil {
			v.places = append(v.places, &place{server: q})
		} else if p.server.Load = q.Load; q.Name != "" {
			p.server.Name = q.Name
		}
	}
	keep(home)
	for _, q := range others {
		keep(q)
	}
	v.places = slices.DeleteFunc(v.places, func(p *place) bool {
		return p.server.Addr != home.Addr && !slices.ContainsFunc(others,
			func(q wire.Server) bool { return q.Addr == p.server.Addr })
	})
}

// again forgets what was measured, as it is not so any more.
func (v *survey) again(now time.Duration) {
	v.anew = now + surveyAnew
	for _, p := range v.places {
		p.count = 0
	}
}

// look measures: pings that are due are asked for, and those that came back are booked.
func (s *Set) look() {
	v := &s.survey
	if s.o.Stay || s.o.Dials || s.phase != PhasePlaying || len(s.search.servers) == 0 {
		return
	}
	home := s.main.server
	home.Addr = s.main.addr()
	v.update(home, s.search.servers)
	for _, p := range v.places {
		if p.open && s.now-p.sent > surveyLost {
			p.take(lost)
		}
	}
	if s.now < v.next || !s.main.Alive() || s.away() || s.uneasy() {
		return // a network that is bad just now says nothing about servers
	}
	if s.changed(v.at(home.Addr)) {
		v.again(s.now)
	}
	if p := s.nextPlace(); p != nil {
		p.open, p.sent = true, s.now
		s.main.conn.Ping(p.server.Addr)
		v.next = s.now + surveyQuick/time.Duration(2*len(v.places))
	}
}

// nextPlace is the server whose ping has been due for the longest time, or nil.
func (s *Set) nextPlace() (best *place) {
	due := time.Duration(0)
	for _, p := range s.survey.places {
		if p.open || s.trying(p.server.Addr) {
			continue
		}
		every := surveyQuick
		if p.known() {
			every = surveySlow
		}
		if late := s.now - p.sent - every; p.count == 0 && p.sent == 0 {
			return p
		} else if late >= due {
			best, due = p, late
		}
	}
	return best
}

// trying says whether there is a connection to a server besides the one that is played by: answers
// from there are taken for that connection's.
func (s *Set) trying(a netip.AddrPort) bool {
	is := func(w *Way) bool { return w != s.main && w.addr() == a }
	return slices.ContainsFunc(s.tried, is) || slices.ContainsFunc(s.left, is)
}

// hear books the answers to pings.
func (s *Set) hear() {
	v := &s.survey
	v.pongs = s.main.conn.Pongs(v.pongs[:0])
	for _, g := range v.pongs {
		p := v.at(g.Addr)
		if p == nil || !p.open {
			continue
		}
		p.take(g.Trip)
	}
}

// changed says whether the way to the server that is played at has become another since it was
// measured, as the connection finds, which measures all the time.
func (s *Set) changed(home *place) bool {
	v, trip := &s.survey, s.main.Conn().Quality().RoundTrip
	if home == nil || !home.known() {
		v.base = trip
	}
	return s.now >= v.anew && (s.clearly(trip, v.base) || s.clearly(v.base, trip))
}

// clearly says whether a way is so much longer than another that it matters.
func (s *Set) clearly(long, short time.Duration) bool {
	gain := long - short
	return gain > gainLeast+s.o.Tick && gain > long/gainShare
}

const (
	// A server is much better if the way there is shorter by more than gainLeast, and a tick, since
	// both ends look at what came once a tick, and by more than one part in gainShare.
	gainLeast = 20 * time.Millisecond
	gainShare = 4
)
