package ways

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// Options are what a Set is made from. Conn.Seed, Protocol, Token and Tick have no default.
type Options struct {
	// Protocol and Hash are what both ends must have in common: which game it is, and how it is
	// declared and sent.
	Protocol, Hash uint64
	// Tick is how long one of the game's lasts.
	Tick time.Duration

	// Token lets the player in: a connect token, or the ticket of an earlier connection. Servers,
	// if any, are tried in place of those that the token names.
	Token   token.Token
	Servers []netip.AddrPort
	// Conn is what else package conn takes.
	Conn conn.Options
	// ConnectTimeout is how long each server is given to answer. Default: 10 s.
	ConnectTimeout time.Duration
	// Return is for how long to look for a server when the connection was lost. Default: 30 s.
	// Below zero, not at all.
	Return time.Duration
	// Silence is after how long without a word of a server that should have spoken the player
	// goes to another; those are tried after half of it. Default: 700 ms. Below zero, only when
	// the connection has ended.
	Silence time.Duration
	// Dials says that each other server needs a link of its own, which the Set asks for by a Dial.
	// Otherwise the first link reaches all of them.
	Dials bool
	// Stay keeps the player from measuring servers and going to the nearest of its own accord: at
	// the beginning those that the token names are tried in their order, and later the player goes
	// elsewhere only when it has to, or is asked to.
	Stay bool
	// Datagram is the most that the first link carries.
	Datagram int

	// Name is what others read. Spectate asks to watch rather than to play.
	Name     string
	Spectate bool
}

// Phase is how far the player has come.
type Phase uint8

// The phases of a player.
const (
	PhaseConnecting Phase = iota // looking for the server, or coming back to it
	PhaseGreeting                // connected, has asked for a seat
	PhaseLoading                 // has a seat, and gets ready for the level
	PhasePlaying                 // is shown the world
	PhaseEnded                   // see Set.Err
)

var phaseNames = [...]string{"connecting", "greeting", "loading", "playing", "ended"}

func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown"
}

// A Seat is who the player is at the server that is played at.
type Seat struct {
	Player   world.Player // world.Nobody for one who watches
	Client   uint64       // the number by which the server knows the player
	Name     string       // as the server has it
	Watching bool
	Interval int // ticks between two snapshots
}

// Stats count what a Set did.
type Stats struct {
	Returns uint64 // how often the player came back to the server that was lost
	Moves   uint64 // how often it went on at another one
	Nearer  uint64 // how often of its own accord, as that was much nearer
	Failed  uint64 // attempts at that which did not get there
	Bad     uint64 // control messages that could not be used
}

// A Set is the connections of one player. There is always one way that is played by, also while
// its connection is being made or was lost; every other way is tried, or left. After each call that
// takes something in, call Next until there is nothing more.
type Set struct {
	o   Options
	now time.Duration

	main  *Way
	tried []*Way // in the order in which they were begun
	left  []*Way // Lingering or Leaving

	phase    Phase
	err      error
	byServer bool // the server ended the connection
	answered bool // and was answered
	seat     Seat

	search    search
	survey    survey
	improving improving
	game      played
	ticket    token.Token
	opened    int  // connections, for their seeds
	links     Link // that were asked for

	touched []*Way // of which events are to be looked at
	from    *Way
	events  []conn.Event
	queue   []Event
	head    int // of the queue

	scratch []byte
	stats   Stats
}

// played is the world that the player is in, by which another server is recognised as one of the
// same game.
type played struct {
	level wire.Message
	tick  world.Tick // the newest that was shown
}

const (
	// leaveTime is how long a server that was left is told so.
	leaveTime = 2 * time.Second
	// tickSlack is by how much the time of two servers of one game may differ.
	tickSlack = 3 * time.Second
	// firstPackets is how many packets to a server at which the player goes on hold as many
	// commands as they can.
	firstPackets = 8
	// batch is how many datagrams are taken in before their events are to be looked at.
	batch = 16
)

// New makes a Set that begins to connect with the first Flush.
func New(o Options) (*Set, error) {
	o.Return = cmp.Or(o.Return, 30*time.Second)
	o.Silence = cmp.Or(o.Silence, 700*time.Millisecond)
	o.Conn.KeepAlive = cmp.Or(max(o.Conn.KeepAlive, 0), time.Second) // as package conn has it
	s := &Set{o: o, ticket: o.Token}
	s.seat = Seat{Name: wire.Clip(o.Name, wire.MaxName), Watching: o.Spectate}
	w, err := s.open(First, o.Datagram, o.Token, wire.Server{})
	if err != nil {
		return nil, err
	}
	s.main = w
	return s, nil
}

// Phase is how far the player has come.
func (s *Set) Phase() Phase { return s.phase }

// Err says why a set has ended: nil if the player left, and while it goes on.
func (s *Set) Err() error { return s.err }

// Over says whether the set has ended, and the server knows.
func (s *Set) Over() bool { return s.phase == PhaseEnded && (s.answered || s.main.conn.Done()) }

// Done says whether nothing more is to be sent by the way that was played by.
func (s *Set) Done() bool { return s.phase == PhaseEnded && s.main.conn.Done() }

// Seat is who the player is.
func (s *Set) Seat() Seat { return s.seat }

// Main is the way that is played by.
func (s *Set) Main() *Way { return s.main }

// Stats tells what the set did so far.
func (s *Set) Stats() Stats { return s.stats }

// Servers are the other servers of the game that the player knows of, the best first.
func (s *Set) Servers() []wire.Server { return slices.Clone(s.search.servers) }

// Moving says whether another server is being looked for.
func (s *Set) Moving() bool {
	return s.search.lost != nil || len(s.tried) > 0 && (s.away() || s.Heading() != nil)
}

// Live appends all ways by which something may be sent, the one that is played by first.
func (s *Set) Live(list []*Way) []*Way {
	list = append(append(list, s.main), s.tried...)
	return append(list, s.left...)
}

// Audience appends the ways by which commands go. The server that is tried may have the player
// already, with the word of it on its way; the one that was left may have the player still, since
// no one here knows from which tick on the other's commands count.
func (s *Set) Audience(list []*Way) []*Way {
	list = append(list, s.main)
	for _, w := range s.tried {
		if w.state.asked() {
			list = append(list, w)
		}
	}
	for _, w := range s.left {
		if w.state == Lingering {
			list = append(list, w)
		}
	}
	return list
}

// Links appends the links from which datagrams are to be taken.
func (s *Set) Links(list []Link) []Link {
	list = append(list, s.main.link)
	if len(s.tried)+len(s.left) == 0 {
		return list
	}
	for _, ways := range [2][]*Way{s.tried, s.left} {
		for _, w := range ways {
			if w.state != Dialling && !slices.Contains(list, w.link) {
				list = append(list, w.link)
			}
		}
	}
	if !slices.Contains(list, First) {
		list = append(list, First) // for what is still said to ways that were left
	}
	return list
}

// Receive takes in datagrams that came by a link, and says how many it took: look at Next before
// the rest, as the events refer to them.
func (s *Set) Receive(now time.Duration, l Link, list []link.Datagram) int {
	s.now = now
	if len(s.tried)+len(s.left) == 0 {
		n := min(len(list), batch)
		if l == s.main.link {
			s.main.conn.Receive(now, list[:n])
			s.hear()
			s.touch(s.main)
		}
		return n
	}
	known := false
	for _, ways := range [2][]*Way{s.tried, s.left} {
		for _, w := range ways {
			if w.state == Dialling || w.link != l || l == First && w.addr() != list[0].Addr {
				continue
			}
			known = true
			w.conn.Receive(now, list[:1])
			s.touch(w)
		}
	}
	if s.main.link == l && (!known || s.main.addr() == list[0].Addr) {
		s.main.conn.Receive(now, list[:1])
		s.hear()
		s.touch(s.main)
	}
	return 1
}

// Flush appends the datagrams that are due on a way. Look at Next afterwards: a timeout is found by
// flushing.
func (s *Set) Flush(now time.Duration, w *Way, out []link.Datagram) []link.Datagram {
	s.now = now
	if w.state == Dialling || w.state == Gone {
		return out
	}
	out = w.conn.Flush(now, out)
	s.touch(w)
	if w == s.main && s.byServer {
		s.answered = true
	}
	return out
}

// Refused tells that a link did not take datagram i of a way's last Flush, and why. It says whether
// to go on with those after it.
func (s *Set) Refused(w *Way, i int, err error) bool {
	if !link.Passing(err) {
		s.cut(w, err)
		return false
	}
	w.conn.Refused(i)
	if w != s.main && unreachable(err) { // for the one that is played by it may pass
		s.cut(w, err)
	}
	return true
}

// Tell sends a control message.
func (s *Set) Tell(w *Way, m *wire.Message) {
	s.scratch = m.Append(s.scratch[:0])
	s.Send(w, wire.ControlChannel, s.scratch)
}

// Send sends a message on a channel, if there is a connection.
func (s *Set) Send(w *Way, channel uint8, b []byte) {
	if !w.Alive() {
		return
	}
	if w.conn.Conn().Send(channel, b) != nil {
		s.stats.Bad++
	}
	if !w.waiting {
		w.waiting, w.asked = true, s.now
	}
}

// First says whether a packet of commands is among the first to a server at which the player goes
// on; it is to be asked once for each. Whatever was sent to that server before may have been in
// vain.
func (s *Set) First(w *Way) bool {
	w.packets++
	return w.packets <= firstPackets && s.stats.Moves+uint64(len(s.tried)) > 0
}

// Begin tells that the level of the way that is played by is ready, and whether the client knows
// what it starts with.
func (s *Set) Begin(w *Way, start bool) {
	s.phase = PhasePlaying
	w.state, w.epoch = Playing, w.level.Epoch
	s.game = played{level: w.level}
	s.Tell(w, &wire.Message{Kind: wire.Ready, Epoch: w.level.Epoch, On: start})
}

// Ready tells the same of a way that is tried.
func (s *Set) Ready(w *Way, start bool) {
	w.state = Ready
	s.Tell(w, &wire.Message{Kind: wire.Ready, Epoch: w.epoch, On: start})
}

// Shown tells which tick of the world was shown last.
func (s *Set) Shown(t world.Tick) { s.game.tick = t }

// End ends everything: the player leaves, or err says why the client cannot go on.
func (s *Set) End(reason conn.Reason, err error) {
	if s.phase == PhaseEnded {
		return
	}
	s.phase, s.err = PhaseEnded, err
	s.main.conn.Close(reason, "")
	s.main.state = Leaving
	for _, w := range s.tried {
		if w.state != Dialling {
			w.conn.Close(reason, "")
		}
	}
	s.emit(Event{Kind: Ended, Way: s.main, Err: err})
}
