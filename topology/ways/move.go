package ways

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// onTried handles what else happens on a way that is tried.
func (s *Set) onTried(w *Way, e *conn.Event) {
	switch e.Kind {
	case conn.Connected:
		w.state, w.took = Spare, s.now-w.since
	case conn.TicketReceived:
		s.keepTicket(w)
		w.ticketed = true
	case conn.BulkReceived:
		if e.Tag == wire.TagTables {
			s.emit(Event{Kind: Bulk, Way: w, Tag: e.Tag, Data: e.Data})
		}
		if e.Tag == wire.TagDeclarations { // the server has another version of the game
			s.bar(w.server)
			s.drop(w)
		}
	case conn.Disconnected:
		s.failed(w)
	case conn.Message:
		if w.state == Ready {
			s.emit(Event{Kind: Message, Way: w, Channel: e.Channel, Data: e.Data})
		}
	}
}

// offered handles a control message of a server that is tried.
func (s *Set) offered(w *Way, m *wire.Message) {
	switch m.Kind {
	case wire.Welcome:
		w.seat = seatOf(m)
		if w.state == Greeting {
			w.state = Seated
		}
	case wire.Level:
		switch {
		case w.state != Seated && w.state != Ready:
			s.stats.Bad++ // there is no seat yet
		case s.same(w, m):
			w.level, w.epoch, w.state, w.levelAt = *m, m.Epoch, Seated, s.now
			s.emit(Event{Kind: Level, Way: w, Same: true})
		default:
			old := s.main
			s.takeOver(w)
			s.leave(old)
			s.load(w, m)
		}
	case wire.Tables:
		s.emit(Event{Kind: Tables, Way: w, Words: m})
	case wire.Servers:
		w.servers = m.Servers
	case wire.Move:
		if len(m.Servers) == 1 && m.Servers[0].Addr != w.server.Addr {
			s.search.target = m.Servers[0]
		}
	}
}

// same says whether a server plays the very game that the player is in, so that it can go on there.
func (s *Set) same(w *Way, m *wire.Message) bool {
	if s.phase != PhasePlaying {
		return false
	}
	now := s.game.tick + world.Tick(max(s.now-s.main.heard, 0)/s.o.Tick)
	off := time.Duration(int64(m.Tick)-int64(now)) * s.o.Tick
	was := &s.game.level
	return m.Seed == was.Seed && m.Name == was.Name && m.Data == was.Data && m.Start == was.Start &&
		w.seat.Player == s.seat.Player && w.seat.Watching == s.seat.Watching &&
		off > -tickSlack && off < tickSlack
}

// Show tells that the world was shown by a way that is tried: the player goes on there.
func (s *Set) Show(w *Way) {
	if w.state != Ready {
		return
	}
	old, deaf := s.main, s.main.state == Lost || !s.main.Alive() || s.silent()
	s.takeOver(w)
	if deaf {
		s.leave(old)
	} else {
		s.linger(old)
	}
	w.state, s.phase = Playing, PhasePlaying
	s.game.level = w.level
	s.emit(Event{Kind: Moved, Way: w, Server: w.server})
}

// Fail gives up a way that is tried.
func (s *Set) Fail(w *Way) {
	if slices.Contains(s.tried, w) {
		s.failed(w)
	}
}

// takeOver makes a way that was tried the one that is played by. What becomes of the one before is
// up to the caller.
func (s *Set) takeOver(w *Way) {
	s.tried = remove(s.tried, w)
	s.main = w
	w.heard, w.waiting = s.now, false
	for _, x := range slices.Clone(s.tried) {
		s.drop(x)
	}
	s.seat = w.seat
	f := &s.search
	f.lost, f.unwanted, f.sent, f.target = nil, false, false, wire.Server{}
	f.turn, f.next, f.calm = 0, 0, 0
	if w.servers != nil {
		f.servers = w.servers
	}
	s.stats.Moves++
	s.improved(w)
}

// drop gives up a way that is tried, and says so to its server.
func (s *Set) drop(w *Way) {
	s.tried = remove(s.tried, w)
	if w.state == Dialling {
		w.state = Gone // Dialled finds that it is too late
		return
	}
	s.leave(w)
}

// failed forgets a way that leads nowhere.
func (s *Set) failed(w *Way) {
	s.stats.Failed++
	s.tried = remove(s.tried, w)
	if w.state == Dialling {
		w.state = Gone
		return
	}
	w.since, w.state = s.now, Leaving
	s.left = append(s.left, w)
}

// leave takes leave of a server without giving up the seat there.
func (s *Set) leave(w *Way) {
	w.conn.Close(wire.ReasonMoved, "")
	w.since, w.state = s.now, Leaving
	if !slices.Contains(s.left, w) {
		s.left = append(s.left, w)
	}
}

// linger takes leave of a server that works when it says that the player is not its own any more.
func (s *Set) linger(w *Way) {
	w.since, w.state = s.now, Lingering
	s.left = append(s.left, w)
}

// leaveBehind forgets the servers that know that they were left, or should.
func (s *Set) leaveBehind() {
	if len(s.left) == 0 {
		return
	}
	for _, w := range s.left {
		if w.state == Lingering && s.now-w.since > leaveTime {
			s.leave(w)
		}
	}
	s.left = slices.DeleteFunc(s.left, func(w *Way) bool {
		if w.state == Lingering && w.Alive() || !w.conn.Done() && s.now-w.since <= leaveTime {
			return false
		}
		w.state = Gone
		if w.link != First {
			s.emit(Event{Kind: Hangup, Way: w, Link: w.link})
		}
		return true
	})
}

func remove(list []*Way, w *Way) []*Way {
	return slices.DeleteFunc(list, func(x *Way) bool { return x == w })
}
