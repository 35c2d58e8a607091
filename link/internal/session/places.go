package session

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// A Place is room for one session. It is taken before the peer has shown anything of itself, so
// that places are what strangers can take from players. Therefore:
//
//   - one source, see link.SourceOf, has so many of them and no more;
//   - once the hub is guarded, a place is kept only by link.Keeper's Keep, which tells that someone
//     who has proved themselves is there;
//   - when all are taken, whoever has not proved themselves gives way to a newcomer: the oldest of
//     the source that has most of these, so that a crowd gives way to itself.
type Place struct {
	hub     *Hub
	source  netip.Addr // the zero address for this machine itself
	since   time.Time
	kept    time.Time // when Keep was last called for it
	end     func()    // ends whatever has the place
	session *session  // once it has started
}

// places are those of a hub. Its lock guards them.
type places struct {
	all   map[*Place]struct{}
	guard time.Duration // 0 until Guard was called
	beat  time.Time     // when it was called last
	count link.Places
}

// proven says whether someone is there who has shown who they are, as far as anybody asks for that.
func (p *Place) proven() bool {
	return p.hub.guard == 0 || p.hub.beat.Sub(p.kept) <= p.hub.guard
}

// sourceOf is what the places of an address are counted by. Those of this machine's own are not: it
// may be where the proxy is that everyone comes by.
func sourceOf(remote netip.AddrPort) netip.Addr {
	a := remote.Addr()
	if !a.IsValid() || a.Unmap().IsLoopback() {
		return netip.Addr{}
	}
	return link.SourceOf(a)
}

// Enter takes a place for a peer whose session is being set up, or returns nil. End is called, once
// at most, if the place has to be given up before Start; it must not wait.
func (h *Hub) Enter(remote netip.AddrPort, end func()) *Place {
	p := &Place{hub: h, source: sourceOf(remote), since: time.Now(), end: end}
	h.mu.Lock()
	victim, ok := h.makeRoom(p)
	if ok {
		h.all[p] = struct{}{}
	}
	h.mu.Unlock()
	if victim != nil {
		victim.dismiss()
	}
	if !ok {
		return nil
	}
	return p
}

// makeRoom says whether a newcomer gets a place, and who has to go for it.
func (h *Hub) makeRoom(p *Place) (victim *Place, ok bool) {
	if h.closed {
		return nil, false
	}
	same := 0
	strangers := map[netip.Addr]int{}
	oldest := map[netip.Addr]*Place{}
	for q := range h.all {
		if q.source == p.source {
			same++
		}
		if q.proven() {
			continue
		}
		strangers[q.source]++
		if o := oldest[q.source]; o == nil || q.since.Before(o.since) {
			oldest[q.source] = q
		}
	}
	if p.source.IsValid() && h.o.PerSource > 0 && same >= h.o.PerSource {
		if victim = oldest[p.source]; victim == nil {
			h.count.Crowded++
			return nil, false
		}
	} else if len(h.all) >= h.o.Sessions {
		most := 0
		for source, n := range strangers {
			if n > most || n == most && oldest[source].since.Before(victim.since) {
				most, victim = n, oldest[source]
			}
		}
		// A source that has as many strangers here as any gives way to itself.
		if mine := strangers[p.source]; victim != nil && mine >= most {
			victim = oldest[p.source]
		}
		if victim == nil {
			h.count.Full++
			return nil, false
		}
	}
	if victim != nil {
		h.count.GaveWay++
		delete(h.all, victim)
	}
	return victim, true
}

// dismiss ends what has a place.
func (p *Place) dismiss() {
	p.hub.mu.RLock()
	s, end := p.session, p.end
	p.hub.mu.RUnlock()
	if s != nil {
		s.end()
	} else if end != nil {
		end()
	}
}

// Leave gives the place up before a session has begun. It may be called again.
func (p *Place) Leave() {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if p.session == nil {
		delete(p.hub.all, p)
	}
}

// lapsed says whether nobody has proved themselves at a place for as long as Guard said.
func (p *Place) lapsed() bool {
	h := p.hub
	h.mu.RLock()
	defer h.mu.RUnlock()
	return !p.proven() && h.beat.Sub(p.since) > h.guard
}

// Guard is as in [link.Keeper].
func (l Link) Guard(d time.Duration) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.hub.guard, l.hub.beat = d, time.Now()
}

// Keep is as in [link.Keeper].
func (l Link) Keep(peer netip.AddrPort) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if s := l.hub.sessions[peer]; s != nil {
		s.place.kept = time.Now()
	}
}

// Places is as in [link.Keeper].
func (l Link) Places() link.Places {
	l.hub.mu.RLock()
	defer l.hub.mu.RUnlock()
	c := l.hub.count
	c.Taken = len(l.hub.all)
	for p := range l.hub.all {
		if p.proven() {
			c.Proven++
		}
	}
	return c
}
