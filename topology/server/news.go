package server

import (
	"fmt"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// NewsKind says what a piece of News is about.
type NewsKind uint8

// What can happen at a server that someone may want to know.
const (
	Joined   NewsKind = iota + 1 // someone new has a seat
	Returned                     // someone came back to theirs
	WentAway                     // a connection was lost; the seat is kept
	Left                         // a seat was given up
	// someone watches who played, or the reverse, or has another name
	Changed
	Refused    // someone was not let in; Reason and Text say why
	Dropped    // someone was thrown out; Reason and Text say why
	Chatted    // Text is a line of chat
	Paused     // Text says who wanted it
	Resumed    // the game goes on
	LevelBegun // Text is the name of the level
	GameError  // the game did something wrong; Err says what. It goes on
	LinkDown   // a link has ended; Err says why. Others go on
	Moved      // a player is another server's now; Text says where and why
	// the game panicked in a tick; Err says where, and Inputs and Flight how it came to that
	GamePanicked
	Sent // someone has sent data in one piece; Text says what and how long
	// the server has learned better tables, and tells its clients of them
	TablesLearned
	TablesUnfit // tables that were kept are of no use; Err says why
)

var newsNames = [...]string{
	"", "joined", "returned", "away", "left", "changed", "refused", "dropped", "chat", "paused",
	"resumed", "level", "game error", "link down", "moved", "game panicked",
	"sent", "tables learned", "tables unfit"}

func (k NewsKind) String() string {
	if int(k) < len(newsNames) {
		return newsNames[k]
	}
	return "unknown"
}

// News is something that happened at a server.
type News struct {
	Kind   NewsKind
	Tick   world.Tick
	Seat   *Seat  // whom it is about, or nil
	Client uint64 // the number in the token of whom it is about
	Reason conn.Reason
	Text   string
	Err    error

	// Of GamePanicked: what went into that tick, of which After is not told, good during the call;
	// and how the world came to it, if Options.Flight remembers.
	Inputs *world.Inputs
	Flight *Flight
}

func (n News) String() string {
	who := ""
	if n.Seat != nil {
		who = fmt.Sprintf(" %q (client %d, player %d)", n.Seat.Name, n.Seat.Client, n.Seat.Player)
	} else if n.Client != 0 {
		who = fmt.Sprintf(" client %d", n.Client)
	}
	out := fmt.Sprintf("tick %d: %v%s", n.Tick, n.Kind, who)
	if n.Reason != conn.ReasonNone {
		out += ": " + wire.ReasonText(n.Reason)
	}
	if n.Text != "" {
		out += ": " + n.Text
	}
	if n.Err != nil {
		out += ": " + n.Err.Error()
	}
	return out
}

func (s *Server) tell(n News) {
	if count := s.stats.of(n.Kind); count != nil {
		*count++
	}
	if s.opt.News == nil {
		return
	}
	n.Tick = s.scene.world.Tick()
	if n.Seat != nil {
		n.Client = n.Seat.Client
	}
	s.opt.News(n)
}
