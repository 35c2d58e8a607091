package ways

import (
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
	// unwanted says that the player is not the server's any more that is played at.
	unwanted bool
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
	// stall is a silence of the program itself after which that of a server means nothing.
	stall = 250 * time.Millisecond
)

// away says whether there is reason to look for another server: the player was asked to move, or
// has to, or hears nothing.
func (s *Set) away() bool { return s.search.target.Addr.IsValid() || s.adrift() }

// adrift says whether any other server is better than this one.
func (s *Set) adrift() bool { return s.search.lost != nil || s.search.unwanted || s.silent() }

// silent says whether the server should have been heard by now, and was not.
func (s *Set) silent() bool {
	w := s.main
	if s.o.Silence < 0 || len(s.search.servers) == 0 || !w.Alive() {
		return false
	}
	wait := s.o.Silence + w.Conn().Quality().RoundTrip
	return w.waiting && s.now-w.asked > wait || s.now-w.heard > wait+s.o.Conn.KeepAlive
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
	if !s.away() {
		return // the server is heard again; what has been begun goes on
	}
	n := len(s.tried)
	if n == mostTries || n > 0 && now-s.tried[n-1].since < s.patience() || now < f.next {
		return
	}
	if p, wished, ok := s.choose(); ok {
		s.try(p, wished)
	}
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
	if !s.adrift() {
		return p, false, false
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
	return p, false, false
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
		return
	}
	f.target = m.Servers[0]
	same := func(p wire.Server) bool { return p.Addr == f.target.Addr }
	if i := slices.IndexFunc(f.servers, same); i >= 0 {
		f.target = f.servers[i] // which has a name
	}
}
