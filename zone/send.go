package zone

import "time"

// greet sends what a peer lacks of a stream, and answers it, as far as either is durable.
func (s *Server) greet(z *owned, st *stream) {
	s.sendItems(z, st)
	if st.live.acceptKnown > st.live.told || st.live.answer {
		s.answer(z, st)
	}
}

// sendItems sends what is durable and was not sent, as far as the peer has room.
func (s *Server) sendItems(z *owned, st *stream) {
	live := &st.live
	from := max(live.sent+1, st.out.first)
	until := min(live.durable, max(live.have, st.out.first-1)+maxInbox)
	if from > until {
		return
	}
	owner, ok := s.route(st.peer)
	if !ok {
		return
	}
	if live.sent < st.out.first {
		live.resendAt = s.now + s.wait(live)
	}
	if owner == s.opt.Self {
		s.pass(z, st, from, until)
		return
	}
	p := s.known(owner)
	if p == nil {
		return
	}
	head := itemsPart{passing: passing{z.id, z.entry.Epoch, st.peer}}
	for n := from; n <= until; {
		head.first, head.count = n, 0
		p.scratch = p.scratch[:0]
		for n <= until && (head.count == 0 ||
			len(p.scratch)+st.out.at(n).size() < MaxMessage/2) {
			p.scratch = st.out.at(n).append(p.scratch, z.id, st.peer, n)
			head.count++
			n++
		}
		l := s.write(p, false, len(p.scratch)+64)
		l.buf = append(head.append(l.buf), p.scratch...)
	}
	live.sent = until
}

// pass gives items to a zone of this server.
func (s *Server) pass(z *owned, st *stream, from, until uint64) {
	to := s.zone(st.peer)
	if to == nil || to.stage != owning {
		return
	}
	back := to.state.streams.open(z.id)
	if back == nil {
		return
	}
	for n := from; n <= until; n++ {
		s.takeItem(back, n, st.out.at(n))
	}
	st.live.sent = until
	if back.live.answer {
		s.answer(to, back)
	}
}

func (s *Server) wait(live *passage) time.Duration {
	live.wait = min(max(live.wait, s.opt.Resend), maxWait)
	return live.wait
}

// again sends what was not answered for a while once more: the owner of the other zone may be
// another by now.
func (s *Server) again(z *owned, st *stream) {
	live := &st.live
	if st.out.first > live.durable || s.now < live.resendAt {
		return
	}
	if live.sent >= st.out.first {
		s.stats.Resent++
	}
	live.sent = st.out.first - 1
	live.wait = min(2*s.wait(live), maxWait)
	live.resendAt = s.now + live.wait
	if live.wait > 2*s.opt.Resend {
		s.askRoute(st.peer)
	}
	s.sendItems(z, st)
}

// answer tells a peer how far its items were taken.
func (s *Server) answer(z *owned, st *stream) {
	live := &st.live
	p := answerPart{passing: passing{z.id, z.entry.Epoch, st.peer},
		taken: live.acceptKnown, have: live.inbox.end() - 1, gap: live.gap}
	owner, ok := s.route(st.peer)
	if !ok {
		return
	}
	live.told, live.answer, live.gap = live.acceptKnown, false, false
	if owner == s.opt.Self {
		if to := s.zone(st.peer); to != nil {
			s.takeAnswer(to, &p)
		}
		return
	}
	if to := s.known(owner); to != nil {
		l := s.write(to, false, 64)
		l.buf = p.append(l.buf)
	}
}

// show has a zone be shown this one, as what has changed since what it is known to have.
func (s *Server) show(z *owned, to ID) {
	st := z.state.streams.open(to)
	owner, ok := s.route(to)
	if st == nil || !ok || to == z.id {
		return
	}
	part := ghostPart{passing: passing{z.id, z.entry.Epoch, to}, tick: z.state.tick}
	if st.live.seenOf == z.entry.Epoch {
		part.since = st.live.seen
	}
	s.seenBuf = z.state.body.Observe(to, part.since, s.seenBuf[:0])
	part.data = s.seenBuf
	if len(part.data) > MaxShow {
		s.stats.TooMuch++
		return
	}
	s.stats.Ghosts++
	if owner == s.opt.Self {
		if other := s.zone(to); other != nil {
			s.takeGhost(other, &part)
		}
		return
	}
	if p := s.known(owner); p != nil {
		l := s.write(p, true, len(part.data)+64)
		l.buf = part.append(l.buf)
	}
}

// tellSeen tells a peer which of its ghosts was taken, as a base for the next.
func (s *Server) tellSeen(z *owned, st *stream) {
	part := seenPart{passing{z.id, z.entry.Epoch, st.peer}, st.ghostEpoch, st.ghostTick}
	owner, ok := s.route(st.peer)
	if !ok {
		return
	}
	if owner == s.opt.Self {
		if other := s.zone(st.peer); other != nil {
			s.takeSeen(other, &part)
		}
		return
	}
	if p := s.known(owner); p != nil {
		l := s.write(p, true, 64)
		l.buf = part.append(l.buf)
	}
}
