package zone

import (
	"time"
)

// beats is how many times in Silence a server says that it is there.
const beats = 5

// watchers is how many servers watch another: those that follow it in the order of their numbers.
const watchers = 3

// watched is what is known of whether another server is there.
type watched struct {
	heard time.Duration // when a message came
	since time.Duration // since when the server is not seen, if it is not
	rev   uint64        // of its presence in the map
	zones int
	quiet int  // in how many rounds running it was seen neither in the map nor directly
	got   bool // in this round, the map has answered
	fresh bool // in this round, it was there
	mine  bool // in this round, it is asked for
	gone  bool // it is not in the map, and is not heard
	stale bool // it was the same in two lists running, for long enough, and is not heard
	// changed is when it was seen to be another than before.
	changed time.Duration
	lists   int // for how many

	listed bool // it is in the last list
	owns   bool // a zone is its, by the last list of zones
	missed int  // for how many lists running it was not listed
}

// watch is this server's own presence, and its rounds of looking for others'. In each it writes
// first. Only where that gets through does what it does not see tell anything: while the map is
// away, nobody is there, and nobody is to be taken for dead.
type watch struct {
	beats   uint64
	rev     uint64 // of the own presence
	at      time.Duration
	began   time.Duration // when this round did
	open    int           // operations of this round that are not answered
	wrote   bool          // the own presence was written in this round
	running bool

	listAt  time.Duration
	listing bool
	lists   int
	zoneAt  time.Duration // when zones are to be looked through next
	scan    bool          // a zone list is under way
	again   bool          // zones are to be looked through as soon as may be
}

// look does what is due of a server's presence.
func (s *Server) look() {
	w := &s.watch
	if s.now >= w.at && !w.running {
		s.beat()
	} else if s.now >= w.at {
		s.doubtAll() // the map is slow: what was not seen since tells nothing
		w.at = s.now + s.opt.Silence/beats
		s.sayBeat()
	}
	if s.now >= w.listAt && !w.listing {
		w.listing = true
		s.ask(Op{Kind: MapList, Key: ServerPrefix}, forServers, nil)
	}
	if (s.now >= w.zoneAt || w.again) && !w.scan && s.opt.Zones > 0 {
		w.scan, w.again = true, false
		s.ask(Op{Kind: MapList, Key: ZonePrefix}, forZones, nil)
	}
}

// beat begins a round.
func (s *Server) beat() {
	w := &s.watch
	w.at, w.began, w.running = s.now+s.opt.Silence/beats, s.now, true
	w.wrote = false
	w.beats++
	p := presence{w.beats, len(s.zones), s.opt.Before}
	w.open = 1
	s.ask(Op{Kind: MapSet, Key: serverKey(s.opt.Self), Expect: w.rev, Data: p.append(nil)},
		forPresence, nil)
	for i, p := range s.peers {
		p.got, p.fresh = false, false
		p.mine = s.watches(i)
		if p.mine {
			w.open++
			s.ops.ask(Op{Kind: MapGet, Key: serverKey(p.id)}, asked{what: forPeer, peer: p.id})
		}
	}
	s.sayBeat()
}

// watches says whether this server is among those that watch the ith of its peers: the next few
// that are there, by number.
func (s *Server) watches(i int) bool {
	between := 0
	for n := 1; n <= len(s.peers); n++ {
		p, next := s.peers[i], s.peers[(i+n)%len(s.peers)]
		last := p
		if n > 1 {
			last = s.peers[(i+n-1)%len(s.peers)]
		}
		if within(last.id, s.opt.Self, next.id) {
			return true
		}
		if !next.missing() {
			if between++; between >= watchers {
				return false
			}
		}
	}
	return true
}

// within says whether b is met on the way up from a to c, where behind the highest number the
// lowest follows.
func within(a, b, c ServerID) bool {
	if a < c {
		return a < b && b < c
	}
	return b > a || b < c
}

// missing says that a server is not there, as far as can be said from here.
func (p *peer) missing() bool { return p.stale || p.gone || p.quiet >= beats }

// sayBeat tells those who watch this server, and whom it watches, that it is there.
func (s *Server) sayBeat() {
	n := len(s.peers)
	at, _ := s.findPeer(s.opt.Self)
	for way := range 2 {
		told := 0
		for k := range n {
			i := (at + k) % n
			if way == 1 {
				i = (at - 1 - k + 2*n) % n
			}
			p := s.peers[i]
			if p.missing() {
				continue
			}
			if told++; told > watchers {
				break
			}
			if len(p.firm.buf)+len(p.loose.buf) == 0 {
				l := s.write(p, true, 1)
				l.buf = append(l.buf, byte(partBeat))
			}
		}
	}
}

func (s *Server) doubtAll() {
	for _, p := range s.peers {
		p.quiet = 0
	}
}

func (s *Server) presenceSet(r *Result) {
	w := &s.watch
	switch r.Outcome {
	case OK:
		w.rev, w.wrote = r.Revision, true
	case Stale, Doubt:
		w.open++
		s.ask(Op{Kind: MapGet, Key: serverKey(s.opt.Self)}, forOwnPresence, nil)
	}
	s.roundDone()
}

func (s *Server) ownPresence(r *Result) {
	switch r.Outcome {
	case OK:
		s.watch.rev = r.Revision
	case None:
		s.watch.rev = 0
	}
	s.roundDone()
}

func (s *Server) peerGot(id ServerID, r *Result) {
	if i, ok := s.findPeer(id); ok {
		p := s.peers[i]
		switch r.Outcome {
		case OK:
			p.got, p.gone = true, false
			p.seen(s, r.Revision, r.Data)
		case None:
			p.got = true
		}
	}
	s.roundDone()
}

// seen learns of a server's presence in the map.
func (p *peer) seen(s *Server, rev uint64, data []byte) {
	if rev <= p.rev {
		return
	}
	p.rev, p.fresh, p.stale, p.gone, p.lists = rev, true, false, false, 0
	p.changed = s.now
	if was, ok := readPresence(data); ok {
		p.zones = was.zones
		for _, id := range was.before {
			s.ended[id] = true
		}
	}
}

// roundDone judges who was not there, when all of a round is answered.
func (s *Server) roundDone() {
	w := &s.watch
	if w.open--; w.open > 0 {
		return
	}
	w.running = false
	if !w.wrote || s.now-w.began >= s.opt.Silence/beats {
		s.doubtAll()
		return
	}
	for _, p := range s.peers {
		if !p.mine {
			continue
		}
		if !p.got || p.fresh || p.heard >= w.began-s.opt.Silence/beats {
			p.quiet, p.since = 0, s.now
			continue
		}
		p.quiet++
		if p.quiet >= beats && p.quiet < 4*beats && s.now-p.heard >= s.opt.Silence {
			w.again = true // for a while: whoever is to take its zones first may not
		}
	}
}

// dead says whether a server is not there, and since when, as far as this one can tell.
func (s *Server) dead(id ServerID) (since time.Duration, ok bool) {
	if id == s.opt.Self {
		return 0, false
	}
	i, there := s.findPeer(id)
	if !there {
		return 0, false
	}
	p := s.peers[i]
	return p.since, p.quiet >= beats && s.now-p.heard >= s.opt.Silence
}
