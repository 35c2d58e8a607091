package ways

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/topology/wire"
)

// EventKind says what an Event is about.
type EventKind uint8

// What happens on a Set.
const (
	// Dial: a link to Server is needed. Make it, or not, and say so by Dialled with its number
	// Link.
	Dial EventKind = iota + 1
	// Hangup: the link with the number Link is not needed any more.
	Hangup
	// Welcomed: the server that is played at says who the player is; see Set.Seat.
	Welcomed
	// Level: the server of Way names the world that it plays, see Way.Level. If Same, it is the one
	// that the player is in: get ready to go on in it, and call Ready. Otherwise get ready for a
	// new one, and call Begin.
	Level
	// Message: Data came on Channel, of snapshots or of reliable state.
	Message
	// Bulk: Data came in one piece, with Tag.
	Bulk
	// Carried: a transfer to the server of Way is over, and arrived if Same.
	Carried
	// Tables: the server of Way has learned those of Words.
	Tables
	// Taken: the server of Way says in Words what became of data that it was sent.
	Taken
	// Said: something for the player in Words: chat, a notice, a pause.
	Said
	// Moved: the world goes on by Way, at another server.
	Moved
	// Returning: the connection was lost, and the same server is tried again with the ticket.
	Returning
	// Ended: the player is not in the game any more. Err is nil if they left.
	Ended
)

var kindNames = [...]string{"", "dial", "hangup", "welcomed", "level", "message", "bulk",
	"carried", "tables", "taken", "said",
	"moved", "returning", "ended"}

func (k EventKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// An Event is something that happened, or that the Set decided.
type Event struct {
	Kind    EventKind
	Way     *Way
	Same    bool
	Channel uint8
	Tag     uint32
	Link    Link
	Server  wire.Server
	Data    []byte // good until the next call of Receive or Flush
	Words   *wire.Message
	Err     error
}

func (s *Set) emit(e Event) { s.queue = append(s.queue, e) }

func (s *Set) touch(w *Way) { s.touched = append(s.touched, w) }

// Next gives what happened, one after the other. What the caller does about an event, such as
// telling that a snapshot made sense, counts for those after it.
func (s *Set) Next() (Event, bool) {
	for {
		if s.head < len(s.queue) {
			e := s.queue[s.head]
			s.head++
			return e, true
		}
		s.queue, s.head = s.queue[:0], 0
		if len(s.events) > 0 {
			e := &s.events[0]
			s.events = s.events[1:]
			s.happened(s.from, e)
			continue
		}
		if len(s.touched) == 0 {
			return Event{}, false
		}
		s.from = s.touched[0]
		s.touched = slices.Delete(s.touched, 0, 1)
		s.events = s.from.conn.Events()
	}
}

// happened handles something that happened on a connection. Nobody listens any more to what comes
// by a way that was left for good.
func (s *Set) happened(w *Way, e *conn.Event) {
	tried := slices.Contains(s.tried, w)
	switch {
	case w == s.main && s.phase == PhaseEnded:
	case w != s.main && !tried && w.state != Lingering:
	case e.Kind == conn.Message && e.Channel == wire.ControlChannel:
		s.control(w, tried, e.Data)
	case w == s.main:
		s.onMain(w, e)
	case tried:
		s.onTried(w, e)
	}
}

// control handles a control message.
func (s *Set) control(w *Way, tried bool, data []byte) {
	var m wire.Message
	if m.Parse(data) != nil {
		s.stats.Bad++
		return
	}
	if m.Kind == wire.Pause {
		w.paused = m.On // also where the player is not yet
	}
	switch {
	case w == s.main:
		s.told(w, &m)
	case tried:
		s.offered(w, &m)
	case m.Kind == wire.Move && m.On:
		s.leave(w) // it says that the player is not its own any more
	}
}

// onMain handles what else happens on the way that is played by.
func (s *Set) onMain(w *Way, e *conn.Event) {
	switch e.Kind {
	case conn.Connected:
		s.phase = PhaseGreeting
		s.greet(w)
	case conn.TicketReceived:
		s.keepTicket(w)
	case conn.BulkReceived:
		s.emit(Event{Kind: Bulk, Way: w, Tag: e.Tag, Data: e.Data})
	case conn.BulkSent, conn.BulkCanceled:
		if e.Size > 0 {
			return // of one of the server's
		}
		s.emit(Event{Kind: Carried, Way: w, Same: e.Kind == conn.BulkSent})
	case conn.Disconnected:
		s.disconnected(e.Reason, string(e.Data))
	case conn.Message:
		s.emit(Event{Kind: Message, Way: w, Channel: e.Channel, Data: e.Data})
	}
}

// greet asks for a seat.
func (s *Set) greet(w *Way) {
	w.state = Greeting
	m := wire.Message{Kind: wire.Hello, Version: s.o.Hash, On: s.seat.Watching, Name: s.seat.Name,
		Journey: s.journey(w)}
	s.Tell(w, &m)
}

func (s *Set) keepTicket(w *Way) {
	if t, ok := w.conn.Ticket(); ok {
		s.ticket = t
	}
}

// told handles a control message of the server that is played at.
func (s *Set) told(w *Way, m *wire.Message) {
	switch m.Kind {
	case wire.Welcome:
		w.seat = seatOf(m)
		s.seat = w.seat
		if s.phase == PhaseGreeting {
			w.state, s.phase = Seated, PhaseLoading
		}
		s.emit(Event{Kind: Welcomed, Way: w})
	case wire.Level:
		if s.phase == PhaseGreeting {
			s.stats.Bad++ // there is no seat yet
			return
		}
		s.load(w, m)
	case wire.Pause, wire.Chat, wire.Notice, wire.Roster:
		s.emit(Event{Kind: Said, Way: w, Words: m})
	case wire.Tables:
		s.emit(Event{Kind: Tables, Way: w, Words: m})
	case wire.Taken:
		s.emit(Event{Kind: Taken, Way: w, Words: m})
	case wire.Servers:
		s.byDistance(m.Servers)
		s.search.servers, s.search.barred = m.Servers, nil
	case wire.Move:
		s.wish(m)
	default:
		s.stats.Bad++
	}
}

func seatOf(m *wire.Message) Seat {
	return Seat{Player: m.Player, Client: m.Client, Name: m.Name, Watching: m.On,
		Interval: int(m.Interval)}
}

// load has the player get ready for a new world.
func (s *Set) load(w *Way, m *wire.Message) {
	w.level, w.state, s.phase = *m, Seated, PhaseLoading
	s.emit(Event{Kind: Level, Way: w})
}

// disconnected ends the set, or lets the player go on elsewhere or come back if only the network is
// to blame.
func (s *Set) disconnected(reason conn.Reason, note string) {
	end := &EndError{Reason: reason, Note: note}
	switch reason {
	case conn.ReasonClosing, wire.ReasonMoved:
		to := netip.AddrPort{}
		if reason == wire.ReasonMoved {
			to = movedTo(note)
		}
		if s.lose(end, to) {
			return
		}
	case wire.ReasonReplaced:
		if s.comeBack() || s.lose(end, netip.AddrPort{}) {
			return
		}
	case conn.ReasonTimeout, conn.ReasonNoAcks, conn.ReasonWornOut:
		if s.lose(end, netip.AddrPort{}) || s.comeBack() {
			return
		}
	}
	s.finish(end)
}

// finish ends the set because of the server.
func (s *Set) finish(err error) {
	s.phase, s.err, s.byServer = PhaseEnded, err, true
	s.main.state = Leaving
	s.emit(Event{Kind: Ended, Way: s.main, Err: err})
}

// movedTo reads the address in the note of a server that says goodbye.
func movedTo(note string) netip.AddrPort {
	word, _, _ := strings.Cut(note, " ")
	a, _ := netip.ParseAddrPort(word) // whatever else it says names none
	return a
}

// comeBack connects again with the ticket.
func (s *Set) comeBack() bool {
	if s.o.Return <= 0 {
		return false
	}
	if s.phase != PhaseConnecting {
		s.search.until = s.now + s.o.Return
	}
	_, has := s.main.conn.Ticket()
	if !has && s.stats.Returns == 0 || s.now >= s.search.until {
		return false
	}
	old := s.main
	w, err := s.open(old.link, old.most, s.ticket, old.server)
	if err != nil {
		return false
	}
	old.state = Gone
	s.main, s.phase = w, PhaseConnecting
	s.stats.Returns++
	s.emit(Event{Kind: Returning, Way: w})
	return true
}
