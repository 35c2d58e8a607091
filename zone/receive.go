package zone

import "time"

// Receive takes a message of another server, which must be authenticated by whoever carries it. It
// may be lost, late, doubled or out of order.
func (s *Server) Receive(now time.Duration, from ServerID, data []byte) {
	s.begins(now)
	r := reader{b: data}
	if len(data) > MaxMessage || r.byte() != wireVersion {
		s.stats.Malformed++
		return
	}
	micros := min(r.uint(), 1<<52)
	p := s.known(from)
	if r.bad || p == nil {
		s.stats.Malformed++
		return
	}
	p.heard = now
	s.follow(micros)
	s.asked = s.asked[:0]
	for len(r.b) > 0 {
		s.part(p, &r)
	}
	if r.bad {
		s.stats.Malformed++
	}
	s.tellOwners(p)
}

// follow keeps up with the server whose clock is furthest ahead, so that all compute the same tick
// however their clocks are set. It goes by time and not by ticks: two that followed each other's
// ticks would drive each other on, as neither's begin when the other's do. What is too far ahead is
// not believed.
func (s *Server) follow(micros uint64) {
	gap := time.Duration(micros)*time.Microsecond - s.clusterTime()
	switch {
	case s.hold > 0: // those who are not held any more are no measure
	case gap > maxAhead:
		s.stats.Clocks++
	case gap > 0:
		s.ahead += gap
	}
}

// clusterTime is for how long tick 0 has been due, by the clock that is furthest ahead.
func (s *Server) clusterTime() time.Duration { return s.held(s.now - s.opt.Zero + s.ahead) }

func (s *Server) part(p *peer, r *reader) {
	switch partKind(r.byte()) {
	case partBeat:
	case partItems:
		s.items(p, r)
	case partAnswer:
		a := r.answerPart()
		if z := s.addressed(p, a.passing, r); z != nil {
			s.takeAnswer(z, &a)
		}
	case partGhost:
		g := r.ghostPart()
		if z := s.addressed(p, g.passing, r); z != nil {
			s.takeGhost(z, &g)
		}
	case partSeen:
		e := r.seenPart()
		if z := s.addressed(p, e.passing, r); z != nil {
			s.takeSeen(z, &e)
		}
	case partOwner:
		o := r.ownerPart()
		if !r.bad {
			s.takeOwner(&o)
		}
	case partHold:
		if a := r.holdPart(); !r.bad {
			s.takeHold(p, &a)
		}
	case partHeld:
		if a := r.heldPart(); !r.bad {
			s.takeHeld(p, &a)
		}
	case partAsk:
		if a := r.askPart(); !r.bad {
			s.takeAsk(p, &a)
		}
	case partTell:
		if a := r.tellPart(); !r.bad {
			s.takeTell(p, &a)
		}
	default:
		r.fail()
	}
}

// addressed finds the zone that a part is for. If it is not owned here, the sender will be told.
func (s *Server) addressed(p *peer, a passing, r *reader) *owned {
	if r.bad {
		return nil
	}
	s.setRoute(a.from, p.id, a.epoch)
	z := s.zone(a.to)
	if z == nil || !z.told {
		for _, id := range s.asked {
			if id == a.to {
				return nil
			}
		}
		s.asked = append(s.asked, a.to)
		return nil
	}
	return z
}

// tellOwners tells a server of zones that it believes to be here.
func (s *Server) tellOwners(p *peer) {
	for _, id := range s.asked {
		o := ownerPart{zone: id}
		if r := s.routes[id]; r != nil && r.owner != p.id && r.owner != s.opt.Self {
			o.epoch, o.owner = r.epoch, r.owner
		}
		l := s.write(p, true, 64)
		l.buf = o.append(l.buf)
	}
}

func (s *Server) items(p *peer, r *reader) {
	head := r.itemsPart()
	z := s.addressed(p, head.passing, r)
	var st *stream
	if z != nil && z.stage == owning {
		st = z.state.streams.open(head.from)
	}
	for n := range head.count {
		number := head.first + uint64(n)
		i := r.item(head.from, head.to, number)
		if r.bad {
			return
		}
		if st != nil {
			s.takeItem(st, number, &i)
		}
	}
	if st != nil && st.live.answer && (st.live.asked == 0 ||
		s.now-st.live.asked >= s.opt.Resend/4) {
		st.live.asked = s.now
		s.answer(z, st)
	}
}

// takeItem has the next item of a peer wait for a tick. What came before is answered again.
func (s *Server) takeItem(st *stream, number uint64, i *item) {
	live := &st.live
	switch next := live.inbox.end(); {
	case number < next:
		s.stats.Duplicates++
		live.answer = true
	case number > next:
		s.stats.Overtaken++
		live.answer, live.gap = true, true
	case live.inbox.len() >= maxInbox || live.inbox.len() > 0 && live.inboxBytes > maxInboxLen:
		// It is sent again when there is room.
	default:
		live.inbox.push(i)
		live.inboxBytes += i.size()
	}
}

// takeAnswer learns how far a peer has taken what was sent.
func (s *Server) takeAnswer(z *owned, p *answerPart) {
	if z.state == nil || z.stage < owning {
		return
	}
	st := z.state.streams.get(p.from)
	if st == nil || p.taken > st.live.durable {
		return
	}
	live := &st.live
	if p.taken >= st.out.first {
		st.passed(p.taken)
		live.wait, live.resendAt = 0, s.now+s.opt.Resend
	}
	live.have = min(p.have, live.durable)
	if p.gap && live.have < live.sent && (live.gapAt == 0 || s.now-live.gapAt >= s.opt.Resend/4) {
		live.gapAt = s.now
		live.sent = max(live.have, st.out.first-1)
		s.stats.Resent++
	}
	s.sendItems(z, st)
}

// takeGhost keeps the newest that a peer shows, if it fits to what the body holds of it.
func (s *Server) takeGhost(z *owned, p *ghostPart) {
	if z.stage != owning {
		return
	}
	st := z.state.streams.open(p.from)
	if st == nil {
		return
	}
	g := shown{Ghost{From: p.from, Tick: p.tick, Since: p.since}, p.epoch}
	last := &st.live.ghost
	if last.From != 0 && (g.epoch < last.epoch || g.epoch == last.epoch && g.Tick <= last.Tick) {
		return
	}
	if !st.shows(&g) {
		s.stats.Unfit++
		if g.Since != 0 {
			s.tellSeen(z, st) // so that it has another base, or begins anew
		}
		return
	}
	st.live.ghostBuf = append(st.live.ghostBuf[:0], p.data...)
	g.Data = st.live.ghostBuf
	st.live.ghost = g
}

func (s *Server) takeSeen(z *owned, p *seenPart) {
	if z.stage != owning {
		return
	}
	st := z.state.streams.get(p.from)
	if st == nil || p.tick > z.state.tick {
		return
	}
	st.live.seen, st.live.seenOf = p.tick, p.of
}

// takeOwner learns who owns a zone that was thought to be elsewhere.
func (s *Server) takeOwner(p *ownerPart) {
	if p.owner == s.opt.Self {
		if s.zone(p.zone) == nil {
			s.askRoute(p.zone) // it may have been given to this server
		}
		return
	}
	if p.owner != 0 {
		s.setRoute(p.zone, p.owner, p.epoch)
	}
	s.askRoute(p.zone)
}
