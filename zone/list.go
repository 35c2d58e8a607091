package zone

import "time"

// serversListed learns which servers there are. With many it is asked for less often, so that it
// costs each server the same.
func (s *Server) serversListed(r *Result) {
	w := &s.watch
	w.listing = false
	if r.Outcome != OK {
		w.listAt = s.now + s.opt.Silence/2
		return
	}
	w.lists++
	pause := max(2*s.opt.Silence, time.Duration(len(r.Entries))*s.opt.Silence/10)
	if w.lists < 4 {
		pause = s.opt.Silence / 4
	}
	w.listAt = s.now + pause
	for _, p := range s.peers {
		p.listed = false
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		id, ok := serverOfKey(e.Key)
		if !ok {
			continue
		}
		if p := s.known(id); p != nil {
			p.listed = true
			if e.Revision > p.rev || s.now-p.heard < s.opt.Silence {
				p.seen(s, e.Revision, e.Value)
				p.lists = 0
			} else if p.lists++; p.lists >= 2 && s.now-p.changed >= s.opt.Silence {
				p.stale = true
			}
		}
	}
	s.forgetPeers()
}

// forgetPeers drops servers that have not been there for long, and takes them off the map: the one
// that follows each does.
func (s *Server) forgetPeers() {
	kept := s.peers[:0]
	for _, p := range s.peers {
		silent := s.now-max(p.heard, p.since) > 4*s.opt.Silence
		if !p.listed && silent {
			if p.missed++; p.missed > 2 {
				continue
			}
			p.gone = true
		} else {
			p.missed = 0
		}
		kept = append(kept, p)
	}
	clear(s.peers[len(kept):])
	s.peers = kept
	for i, p := range s.peers {
		if p.stale && p.lists > 8 && !p.owns && p.listed && s.follows(i) {
			s.ask(Op{Kind: MapDelete, Key: serverKey(p.id), Expect: p.rev}, forNothing, nil)
		}
	}
}

// follows says whether this server is the first behind the ith peer that is there.
func (s *Server) follows(i int) bool {
	rank, _ := s.rankBehind(s.peers[i].id)
	return rank == 0
}

// rankBehind says how many servers that are there stand between one and this one, in the order of
// their numbers, and how many there are in all but that one.
func (s *Server) rankBehind(id ServerID) (rank, all int) {
	for _, p := range s.peers {
		if p.id == id || p.missing() {
			continue
		}
		all++
		if within(id, p.id, s.opt.Self) {
			rank++
		}
	}
	return rank, all + 1
}

// turn says how many servers are to try before this one to take a zone over from its owner.
func (s *Server) turn(id ID, owner ServerID) int {
	rank, all := s.rankBehind(owner)
	if all = min(all, watchers); rank < all {
		rank = (rank + int(id)) % all
	}
	return rank
}

// zonesListed looks for zones without an owner.
func (s *Server) zonesListed(r *Result) {
	w := &s.watch
	w.scan = false
	if r.Outcome != OK {
		w.zoneAt = s.now + s.opt.Silence/2
		return
	}
	pause := max(2*s.opt.Silence, time.Duration(len(r.Entries))*s.opt.Silence/20)
	if w.lists < 4 {
		pause = s.opt.Silence / 2
	}
	w.zoneAt = s.now + pause
	for _, p := range s.peers {
		p.owns = false
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		id, ok := zoneOfKey(e.Key)
		a, err := ReadAssignment(e.Value)
		if !ok || err != nil {
			continue
		}
		if at, ok := s.findPeer(a.Owner); ok {
			s.peers[at].owns = true
		}
		if a.Owner != 0 {
			s.setRoute(id, a.Owner, a.Epoch)
		}
		s.consider(id, a, e.Revision)
		s.standBy(id, a)
	}
}

// considerEnded takes a zone over whose owner is known to have ended: nobody has to wait for it.
// Each of those that are there takes its part, and what is left after a while.
func (s *Server) considerEnded(id ID, a Assignment, rev uint64) {
	r := s.routes[id]
	if !r.lonely {
		r.lonely, r.since = true, s.now
	}
	rank, all := s.rankBehind(0)
	rank = min((rank+int(id))%all, 8)
	if s.now >= r.since+time.Duration(rank)*s.opt.Silence/4 {
		s.claim(id, a, rev)
		return
	}
	s.watch.zoneAt = min(s.watch.zoneAt, s.now+s.opt.Silence/4)
}

// consider takes a zone over if its owner is not there, and it is this server's turn to try. When
// is a matter of clocks, and two may try at once; who owns it is then a matter of the map and the
// journal.
func (s *Server) consider(id ID, a Assignment, rev uint64) {
	s.setRoute(id, 0, 0)
	r := s.routes[id]
	if r == nil || a.Halted || s.zone(id) != nil || s.watch.rev == 0 {
		return
	}
	if a.Owner == s.opt.Self {
		s.claim(id, a, rev) // it was given to this server
		return
	}
	if a.Owner != 0 && s.ended[a.Owner] && s.watch.lists >= 2 {
		s.considerEnded(id, a, rev)
		return
	}
	if since, dead := s.dead(a.Owner); dead {
		rank := s.turn(id, a.Owner)
		if s.now >= since+s.opt.Silence+time.Duration(min(rank, 8))*s.opt.Silence/2 {
			s.claim(id, a, rev)
		}
		return
	}
	if _, there := s.findPeer(a.Owner); there || s.watch.lists < 3 {
		r.lonely = false
		return
	}
	if !r.lonely {
		r.lonely, r.since = true, s.now
	}
	rank, all := s.rankBehind(0)
	rank = min((rank+int(id))%all, 8)
	if s.now >= r.since+s.opt.Silence/2+time.Duration(rank)*s.opt.Silence/4 {
		s.claim(id, a, rev)
		return
	}
	s.watch.zoneAt = min(s.watch.zoneAt, s.now+s.opt.Silence/4)
}
