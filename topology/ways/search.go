package ways

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/wire"
)

// search is how the player looks for another server.
type search struct {
	servers []wire.Server // that are known, the best first
	target  wire.Server   // where the server wants the player to go
	lost    error         // why the way that was played by is no more
	// unwanted says that the player is not the server's any more that is played at, and sent that
	// the server wants the player to go on at any other.
	unwanted bool
	sent     bool
	probe    time.Duration // when the server is to be asked whether it knows the player
	calm     time.Duration // until when a short silence is no reason to look around
	turn     int           // which of the servers is next
	next     time.Duration // before which no other is tried
	until    time.Duration // after which it is given up
	barred   map[netip.AddrPort]bool
}

const (
	// mostTries is how many servers are tried at once.
	mostTries = 3
	// roundPause is what passes before servers are asked again that did not let the player in.
	roundPause = 500 * time.Millisecond
	// calmTime is for how long, after a silence that passed, only a long one counts.
	calmTime = 5 * time.Second
	// Servers whose round trips differ by less than this, or by an eighth, are equally near; the
	// one with fewer players is better, if that is by more than this and a quarter.
	nearTie = 10 * time.Millisecond
	loadTie = 2
	// probeAfter is for how long, beyond a round trip and the time between two signs of life, the
	// only server may say nothing before it is asked whether it was started anew, and probeEvery
	// how often it is asked, and how long it then has to say something.
	probeAfter = 500 * time.Millisecond
	probeEvery = 500 * time.Millisecond
	// stall is a silence of the program itself after which that of a server means nothing.
	stall = 250 * time.Millisecond
)

// away says whether there is reason to go to another server: the player was asked to move, or has
// to, or hears nothing.
func (s *Set) away() bool {
	return s.search.target.Addr.IsValid() || s.search.sent || s.adrift() ||
		slices.ContainsFunc(s.tried, func(w *Way) bool { return w.wished })
}

// adrift says whether any other server is better than this one.
func (s *Set) adrift() bool { return s.search.lost != nil || s.search.unwanted || s.silent() }

// silent says whether the server should have been heard by now, and was not.
func (s *Set) silent() bool { return s.unheard(s.o.Silence) }

// uneasy says the same of half the time. It is no reason to go, but to find out which other server
// is near and answers: so much is done by then.
func (s *Set) uneasy() bool { return s.now >= s.search.calm && s.unheard(s.o.Silence/2) }

// unheard says whether an answer has been due for so long.
func (s *Set) unheard(wait time.Duration) bool {
	w := s.main
	if s.o.Silence < 0 || len(s.search.servers) == 0 || !w.Alive() {
		return false
	}
	wait += w.Conn().Quality().RoundTrip
	return w.waiting && s.now-w.asked > wait || s.now-w.heard > wait+s.o.Conn.KeepAlive
}

// forgotten says whether the only server that is known does not know the connection any more, as it
// was started anew: it answers strangers, and says nothing to this player. One that stands still,
// or is not reached, answers nobody.
func (s *Set) forgotten() bool {
	w := s.main
	if s.o.Return <= 0 || s.o.Silence < 0 || len(s.search.servers) > 0 || s.search.lost != nil ||
		s.phase != PhasePlaying || !w.Alive() {
		return false
	}
	trip := w.Conn().Quality().RoundTrip
	if s.now-w.heard < probeAfter+trip+s.o.Conn.KeepAlive {
		return false
	}
	if s.now >= s.search.probe {
		s.search.probe = s.now + probeEvery
		w.conn.Probe()
	}
	ago, ok := w.conn.ProbeAnswered()
	return ok && ago > probeEvery+trip
}

// patience is how long one server is given before another is tried beside it.
func (s *Set) patience() time.Duration { return max(s.o.Silence, 300*time.Millisecond) }

// Tend looks whether there is reason to go elsewhere, and who has been left for good. It is to be
// called once after all that came was received; passed is the time since it was called before.
func (s *Set) Tend(now, passed time.Duration) {
	s.now = now
	w, f := s.main, &s.search
	w.listen(now)
	if passed > stall {
		// It was this program that slept; where it does so again and again, some of it counts.
		w.heard += passed - stall
	}
	s.leaveBehind()
	if s.phase == PhaseEnded {
		return
	}
	if f.lost != nil && now >= f.until {
		s.finish(f.lost)
		return
	}
	if s.forgotten() && s.comeBack() {
		return
	}
	s.look()
	if !s.away() && !s.uneasy() {
		s.improve()
		s.standDown() // the server is heard again; what has been asked for goes on
		return
	}
	for len(s.tried) < mostTries && now >= f.next {
		p, wished, ok := s.choose()
		if !ok {
			break
		}
		s.try(p, wished)
	}
	s.settle()
}

// standDown leaves servers that turned out not to be needed: each when the player has a new ticket
// of it, since a ticket works once at each server.
func (s *Set) standDown() {
	for _, w := range slices.Clone(s.tried) {
		if w.state == Spare && w.ticketed {
			if !w.better {
				s.search.calm = s.now + calmTime
			}
			s.drop(w)
		}
	}
}

// settle asks a server for a seat: of those that have answered the nearest. It asks one at a time,
// another beside it if that one is slow; a server that has been asked is not told otherwise, since
// the seat may have been given.
func (s *Set) settle() {
	if !s.away() {
		return
	}
	var best *Way
	coming := false
	for _, w := range s.tried {
		switch {
		case w.state.asked() && s.now-w.since < 2*s.patience():
			return
		case w.state == Dialling || w.state == Connecting:
			coming = coming || s.now-w.since < s.patience()
		case w.state == Spare && (w.wished || s.search.sent || s.adrift()) &&
			(best == nil || s.nearer(w, best)):
			best = w
		}
	}
	// While the server that is played at works, there is time for all to answer.
	if best == nil || coming && !best.wished && !s.adrift() {
		return
	}
	best.since, best.heard = s.now, s.now
	s.greet(best)
}

// nearer says whether one server is a better choice than another: the player was asked to go
// there, or it is nearer, or as near and has fewer players. Where that is about the same as well,
// players choose differently, so that not all of a server go to one other.
func (s *Set) nearer(w, other *Way) bool {
	if w.wished != other.wished {
		return w.wished
	}
	return s.before(w.Trip(), other.Trip(), w.server, other.server)
}

// before compares two servers that are so far away.
func (s *Set) before(a, b time.Duration, p, q wire.Server) bool {
	if off := a - b; off.Abs() > max(nearTie, min(a, b)/8) {
		return off < 0
	}
	m, n := int(p.Load), int(q.Load)
	if off := m - n; max(off, -off) > loadTie+min(m, n)/4 {
		return off < 0
	}
	return s.taste(p) < s.taste(q)
}

// taste is a number for a server that differs from player to player.
func (s *Set) taste(p wire.Server) uint64 {
	h := s.seat.Client ^ uint64(p.Addr.Port())
	for _, b := range p.Addr.Addr().As16() {
		h = (h ^ uint64(b)) * 0x100000001b3 // as FNV-1a does
	}
	return h ^ h>>32
}

// Trip is the round trip to the server of a way that has been connected, as measured; before the
// connection has measured it, by how long it took to connect, which is two of them.
func (w *Way) Trip() time.Duration {
	if c := w.Conn(); c != nil {
		if t := c.Quality().RoundTrip; t > 0 {
			return t
		}
	}
	return w.took / 2
}

// Measured is the round trip to the server of a way as far as it was measured, or zero: that of a
// handshake in which something was sent again is not.
func (w *Way) Measured() time.Duration {
	c := w.Conn()
	if c == nil {
		return 0
	}
	return cmp.Or(c.Quality().RoundTrip, c.Handshake())
}

// Heading is the way to the server that the player was asked a seat of, or nil: commands go there
// as well.
func (s *Set) Heading() *Way {
	for _, w := range s.tried {
		if w.state.asked() {
			return w
		}
	}
	return nil
}

// choose says which server to try next, and whether the player was asked to go there. When all have
// been tried, it waits and begins anew.
func (s *Set) choose() (p wire.Server, wished, ok bool) {
	f := &s.search
	if p = f.target; p.Addr.IsValid() {
		f.target = wire.Server{}
		if !s.taken(p.Addr) {
			return p, true, true
		}
	}
	if !s.adrift() && !f.sent && !s.uneasy() {
		return p, false, false
	}
	if f.turn == 0 {
		s.byDistance(f.servers)
	}
	list, home := f.servers, s.main.addr()
	at := func(p wire.Server) bool { return p.Addr == home }
	if f.lost != nil && home.IsValid() && !slices.ContainsFunc(list, at) {
		list = append(slices.Clip(list), wire.Server{Addr: home}) // it may be back
	}
	for f.turn < len(list) {
		p = list[f.turn]
		f.turn++
		if !s.taken(p.Addr) && !f.barred[p.Addr] {
			return p, false, true
		}
	}
	f.turn, f.next = 0, s.now+roundPause
	if len(s.tried) == 0 {
		f.sent = false // nobody lets the player in, who stays
	}
	return p, false, false
}

// byDistance puts servers in the order in which they are to be tried: the nearest first, as far as
// they were measured, and then the others as they were told.
func (s *Set) byDistance(list []wire.Server) {
	cost := func(q wire.Server) time.Duration {
		if p := s.survey.at(q.Addr); p != nil && p.known() {
			return p.cost()
		}
		return time.Hour
	}
	slices.SortStableFunc(list, func(a, b wire.Server) int {
		return cmp.Compare(cost(a), cost(b))
	})
}

// taken says whether a server is being tried, or is the one that is played at.
func (s *Set) taken(a netip.AddrPort) bool {
	return s.search.lost == nil && s.main.addr() == a ||
		slices.ContainsFunc(s.tried, func(w *Way) bool { return w.server.Addr == a })
}

// try begins to connect to another server.
func (s *Set) try(p wire.Server, wished bool) {
	w := s.newWay(First, p)
	w.wished = wished
	if s.o.Dials {
		s.links++
		w.link, w.state = s.links, Dialling
		s.tried = append(s.tried, w)
		s.emit(Event{Kind: Dial, Way: w, Link: w.link, Server: p})
		return
	}
	if s.connect(w, s.o.Datagram, s.ticket) != nil {
		s.stats.Failed++
		return
	}
	s.tried = append(s.tried, w)
}

// Dialled answers a Dial: there is a link of that number now, which carries datagrams of so many
// bytes, or the server cannot be reached from here.
func (s *Set) Dialled(l Link, datagram int, err error) {
	i := slices.IndexFunc(s.tried, func(w *Way) bool { return w.link == l && w.state == Dialling })
	if i < 0 {
		if err == nil {
			s.emit(Event{Kind: Hangup, Link: l}) // it is too late
		}
		return
	}
	w := s.tried[i]
	made := err == nil
	if !made {
		s.bar(w.server)
	} else if err = s.connect(w, datagram, s.ticket); err == nil {
		return
	}
	s.stats.Failed++
	s.tried = slices.Delete(s.tried, i, i+1)
	w.state = Gone
	if made {
		s.emit(Event{Kind: Hangup, Way: w, Link: l})
	}
}

// bar remembers a server that cannot be reached from here at all.
func (s *Set) bar(p wire.Server) {
	if s.search.barred == nil {
		s.search.barred = map[netip.AddrPort]bool{}
	}
	s.search.barred[p.Addr] = true
}

// lose notes that the way that is played by is no more, if there is another server to go on at.
func (s *Set) lose(err error, to netip.AddrPort) bool {
	f := &s.search
	if f.lost != nil {
		return true
	}
	if to.IsValid() {
		f.target = wire.Server{Addr: to}
	}
	if s.o.Return < 0 || len(f.servers)+len(s.tried) == 0 && !f.target.Addr.IsValid() {
		return false
	}
	f.lost, f.until, f.turn, f.next = err, s.now+s.o.Return, 0, 0
	s.main.state = Lost
	if s.phase != PhasePlaying {
		s.phase = PhaseConnecting
	}
	return true
}

// Cut tells that a link has ended.
func (s *Set) Cut(now time.Duration, l Link, err error) {
	s.now = now
	if l == s.main.link {
		s.cut(s.main, err)
		return
	}
	for _, w := range slices.Clone(s.tried) {
		if w.link == l {
			s.cut(w, err)
		}
	}
}

// cut ends a way whose link takes nothing more.
func (s *Set) cut(w *Way, err error) {
	if w != s.main {
		if unreachable(err) {
			s.bar(w.server)
		}
		if slices.Contains(s.tried, w) {
			s.failed(w)
		}
		return
	}
	err = &LinkError{err}
	if !s.o.Dials || !s.lose(err, netip.AddrPort{}) { // another way would need the same link
		s.End(wire.ReasonData, err)
	}
}

// unreachable says whether a link leads to other servers than the one that is meant.
func unreachable(err error) bool {
	return errors.Is(err, link.ErrAddr) || errors.Is(err, link.ErrNoPeer)
}

// wish handles the wish of the server that is played at that the player go on elsewhere.
func (s *Set) wish(m *wire.Message) {
	f := &s.search
	f.unwanted = m.On
	if len(m.Servers) == 0 {
		f.sent = !m.On && len(f.servers) > 0
		return
	}
	f.target = m.Servers[0]
	same := func(p wire.Server) bool { return p.Addr == f.target.Addr }
	if i := slices.IndexFunc(f.servers, same); i >= 0 {
		f.target = f.servers[i] // which has a name
	}
}
