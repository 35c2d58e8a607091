package relay

import (
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn"
)

// message handles a message of a peer.
func (s *Server) message(p *peer, e *conn.Event) {
	switch e.Channel {
	case turnChannel:
		s.items(p, e.Data)
	case carryChannel:
		s.carry(p, e.Data)
	default:
		s.controlled(p, e.Data)
	}
}

// controlled handles a control message.
func (s *Server) controlled(p *peer, b []byte) {
	ok := len(b) > 0
	if ok && b[0] != messageSay && !p.control.take(s.now, 1, controlRate, controlBurst) {
		s.offend(p, "more messages than anyone needs")
		return
	}
	if ok {
		switch kind := b[0]; {
		case kind == messageCreate:
			var m create
			if ok = read(b, &m); ok {
				s.create(p, &m)
			}
		case kind == messageJoin:
			var m join
			if ok = read(b, &m); ok {
				s.join(p, &m)
			}
		case kind == messageLook:
			var m look
			if ok = read(b, &m); ok {
				s.look(p, &m)
			}
		case p.match == nil:
			ok = false
		default:
			ok = s.spoken(p, kind, b)
		}
	}
	if !ok {
		s.offend(p, "a malformed message")
	}
}

// spoken handles a control message of a member.
func (s *Server) spoken(p *peer, kind byte, b []byte) bool {
	switch m := p.match; kind {
	case messageReady:
		if len(b) != 1 {
			return false
		}
		p.ready = p.seat >= 0
		s.wake(m, s.now)
	case messageLeave:
		if len(b) != 1 {
			return false
		}
		p.left = true
		p.conn.Close(conn.ReasonLeft, "")
	case messageSay:
		w := word{from: p.id, text: b[1:]}
		if len(w.text) > MaxWord {
			return false
		}
		if !p.words.take(s.now, 1, wordRate, wordBurst) {
			s.offend(p, "more words than are allowed")
			return true
		}
		s.stats.Words++
		s.broadcast(m, p, messageWord, &w)
	case messageLocals:
		var l localsOnly
		if !read(b, &l) {
			return false
		}
		p.entry.Locals = l.list
		s.broadcastPeer(p, p)
	case messageVote:
		if len(b) > 1+MaxVote {
			return false
		}
		if m.voter != nil {
			m.voter.Hear(s.now, p.id, b[1:])
			s.wake(m, s.now)
		}
	default:
		return false
	}
	return true
}

// refuse tells a peer why it is not let in. It may ask again.
func (s *Server) refuse(p *peer, r *refused) {
	s.stats.Refused[r.why]++
	if r.text == "" {
		r.text = r.why.String()
	}
	s.tell(News{Kind: NewsDenied, Peer: p.about(), Why: r.why, Text: r.text})
	s.send(p, messageRefused, r)
}

func (s *Server) create(p *peer, c *create) {
	var from *source
	if p.source.IsValid() {
		from = s.sources.of(p.source)
	}
	switch {
	case p.match != nil:
		s.refuse(p, &refused{why: RefusedTwice})
		return
	case len(s.matches) >= s.opt.Limits.Matches || s.closing:
		s.refuse(p, &refused{why: RefusedBusy})
		return
	case from != nil && from.matches >= s.opt.Limits.MatchesPerAddress:
		s.refuse(p, &refused{why: RefusedCrowded})
		return
	}
	m := s.newMatch(&c.Match, s.now)
	if m.source = from; from != nil {
		from.matches++
	}
	s.tell(News{Kind: NewsCreated, Code: m.code, Peer: p.about(), Text: m.Game})
	s.enter(p, m, &c.Entry, nil)
}

// called is the match of a code for one who plays a game. Where there is none, the peer is told
// why.
func (s *Server) called(p *peer, code Code, game string) *match {
	if p.match != nil {
		s.refuse(p, &refused{why: RefusedTwice})
		return nil
	}
	rate, most := float64(s.opt.Limits.Guesses)/60, float64(s.opt.Limits.Guesses)
	var from *source
	if p.source.IsValid() {
		from = s.sources.of(p.source)
		if !from.guesses.take(s.now, 0, rate, most) || from.guesses.left < 1 {
			s.refuse(p, &refused{why: RefusedGuessing})
			return nil
		}
	}
	m := s.byCode[code]
	if m == nil {
		if from != nil {
			from.guesses.take(s.now, 1, rate, most)
		}
		s.refuse(p, &refused{why: RefusedUnknown})
		return nil
	}
	if m.Game != game {
		s.refuse(p, &refused{why: RefusedGame, theirs: m.Game,
			text: fmt.Sprintf("the match plays %q, this program %q", m.Game, game)})
		return nil
	}
	return m
}

// look tells a peer what the match of a code is.
func (s *Server) look(p *peer, l *look) {
	if m := s.called(p, l.code, l.game); m != nil {
		s.send(p, messageFound, &found{m.Mode})
	}
}

func (s *Server) join(p *peer, j *join) {
	m := s.called(p, j.code, j.game)
	if m == nil {
		return
	}
	if m.Mode != j.mode {
		s.refuse(p, &refused{why: RefusedMode, text: fmt.Sprintf(
			"the match of this code is of mode %v, and who joins plays in mode %v", m.Mode,
			j.mode)})
		return
	}
	if back := m.holder(j.secret); back != nil {
		s.enter(p, m, &j.Entry, back)
		return
	}
	switch {
	case s.now >= m.expires:
		s.refuse(p, &refused{why: RefusedExpired})
	case j.Watch && m.watch >= s.opt.Limits.Watchers:
		s.refuse(p, &refused{why: RefusedFull, text: "as many watch this match as may"})
	case !j.Watch && m.freeSeat() < 0:
		s.refuse(p, &refused{why: RefusedFull,
			text: fmt.Sprintf("all %d seats of the match are taken", m.Seats)})
	default:
		s.enter(p, m, &j.Entry, nil)
	}
}

// holder is the seat whose owner knows a secret.
func (m *match) holder(secret [secretSize]byte) *seat {
	if secret == [secretSize]byte{} {
		return nil
	}
	for i := range m.seats {
		x := &m.seats[i]
		if x.state != seatFree && subtle.ConstantTimeCompare(x.secret[:], secret[:]) == 1 {
			return x
		}
	}
	return nil
}

func (m *match) freeSeat() int {
	for i := range m.seats {
		if m.seats[i].state == seatFree {
			return i
		}
	}
	return -1
}

// enter makes a peer a member, at a seat of its own or that it had before.
func (s *Server) enter(p *peer, m *match, e *Entry, back *seat) {
	if m.last == Witness-1 {
		s.refuse(p, &refused{why: RefusedFull, text: "the match has had too many members"})
		return
	}
	m.last++
	p.match, p.id, p.entry = m, m.last, *e
	p.entry.Key = append([]byte(nil), e.Key...)
	switch {
	case back != nil:
		p.entry.Watch = false
		p.seat = int8(m.indexOf(back))
		if old := back.peer; old != nil {
			old.seat = -1
			s.drop(old, conn.ReasonReplaced, "")
		}
		back.peer, p.secret, back.silent = p, back.secret, 0
	case !e.Watch:
		p.seat = int8(m.freeSeat())
		s.random.Read(p.secret[:])
		m.seats[p.seat] = seat{state: seatHeld, peer: p, secret: p.secret}
	default:
		m.watch++
	}
	if p.entry.Watch {
		p.behind = uint32(e.Delay * time.Duration(m.Rate) / time.Second)
		m.keep = max(m.keep, uint32((keepTime+e.Delay)*time.Duration(m.Rate)/time.Second))
	}
	if len(m.peers) == 0 && m.running {
		m.begin += s.now - m.deserts // time stood still
	}
	m.peers = append(m.peers, p)
	s.tell(News{Kind: NewsEntered, Code: m.code, Peer: p.about()})
	s.welcome(p, m)
	for _, q := range m.peers {
		if q != p {
			s.send(p, messagePeer, q.info())
		}
	}
	s.broadcastPeer(p, p)
	s.wake(m, s.now)
}

func (m *match) indexOf(x *seat) int {
	for i := range m.seats {
		if &m.seats[i] == x {
			return i
		}
	}
	return -1
}

// welcome tells a new member what it has come to, and from which row on it will hear.
func (s *Server) welcome(p *peer, m *match) {
	first := m.rows.next
	if p.behind > 0 {
		first -= min(p.behind, first)
	}
	if p.entry.Again && int32(first-p.entry.From) > 0 {
		first = p.entry.From
	}
	if least := m.rows.oldest(); int32(first-least) < 0 {
		first = least
	}
	p.window.startAt(first)
	w := welcome{self: p.id, code: m.code, secret: p.secret, Match: m.Match, first: first,
		next: m.rows.next, running: m.running, witness: m.voter != nil, seat: uint8(p.seat + 1),
		lasts: uint32(max(m.expires-s.now, 0) / time.Second)}
	w.seats = m.seatsAt(first)
	s.send(p, messageWelcome, &w)
}

// seatsAt says who had which seat before a row that is kept, from who has it now and what has
// changed since.
func (m *match) seatsAt(row uint32) (list []seatState) {
	var at [MaxSeats]seatState
	for i := range m.seats {
		x := &m.seats[i]
		at[i] = seatState{uint8(i), 0, x.state == seatAbsent}
		if x.state >= seatPlays {
			at[i].member = x.member
		}
	}
	for n := m.rows.next; n != row; {
		n--
		flat, mask := m.rows.row(n)
		for k := int(flat[0]) - 1; k >= 0; k-- {
			b := flat[1+k*changeSize:]
			x := &at[readChange(b).Seat]
			x.member = memberBefore(b)
			x.absent = x.member != 0 && mask>>x.seat&1 == 0
		}
	}
	for i := range m.seats {
		if at[i].member != 0 {
			list = append(list, at[i])
		}
	}
	return list
}
