package server

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/replica"
)

// Times says how long the parts of a tick took. Interest and Encode are sums over all cores;
// Parallel is how long the two took together, by the clock.
type Times struct {
	Receive, Step, Interest, Encode, Send time.Duration
	Parallel                              time.Duration
}

// Work is all of it, summed over cores.
func (s *Times) Work() time.Duration { return s.Receive + s.Step + s.Interest + s.Encode + s.Send }

// Elapsed is all of it, by the clock.
func (s *Times) Elapsed() time.Duration { return s.Receive + s.Step + s.Parallel + s.Send }

func (s *Times) add(o *Times) {
	s.Receive += o.Receive
	s.Step += o.Step
	s.Interest += o.Interest
	s.Encode += o.Encode
	s.Send += o.Send
	s.Parallel += o.Parallel
}

// Stats are a server's totals since it was made.
type Stats struct {
	Ticks uint64 // calls of Tick
	Times Times

	Joined, Returned, Left, Moved, Refused, Dropped uint64 // people
	Offences                                        [Offences]uint64
	Commands                                        CommandCounts // of all players

	Snapshots, Packets, Bytes uint64 // of package replica, and their packets
	// turns that were left out because the connection had no room
	Starved    uint64
	LevelsSent uint64 // how often a level's data was sent
	// how often a client could not make sense of what it was sent, and began anew
	Restarts uint64
	// how often more had come than was taken in at once
	Bounded uint64
	// newcomers who had to wait because a tick lets in so many
	Waited uint64
	// what players have sent in one piece, and how often that was refused
	Uploads, UploadBytes, UploadsRefused uint64

	GameErrors uint64 // ticks in which the game did something wrong
	Panics     uint64 // how often the game panicked
	// that Run gave up because the machine could not keep up
	Lost time.Duration

	// refused because their address had as many seats as it may, and seats of those who were away
	// that were given up for a newcomer
	Crowded, GaveWay uint64

	// Tables counts what became of learning.
	Tables TableStats

	// Replica books the bits of all snapshots and their messages.
	Replica replica.Ledger

	last Times
}

// of is the total that a kind of news counts for, or nil.
func (s *Stats) of(k NewsKind) *uint64 {
	return map[NewsKind]*uint64{
		Joined: &s.Joined, Returned: &s.Returned, Left: &s.Left, Moved: &s.Moved,
		Refused: &s.Refused, Dropped: &s.Dropped, GameError: &s.GameErrors, GamePanicked: &s.Panics,
	}[k]
}

// Stats gives the totals so far.
func (s *Server) Stats() Stats {
	out := s.stats
	out.Replica.Classes = slices.Clone(s.stats.Replica.Classes)
	for _, p := range s.order {
		if p.sender != nil {
			addReplica(&out.Replica, p.sender.Ledger())
		}
	}
	return out
}

// Last says how long the parts of the last tick took.
func (s *Server) Last() Times { return s.stats.last }

// Population counts who is there.
type Population struct {
	Players, Spectators int // with a connection
	Away                int // whose seats are kept
	Connections         int // of any kind
}

// Population counts who is there now.
func (s *Server) Population() Population {
	n := Population{Connections: len(s.order)}
	for _, seat := range s.seats {
		switch {
		case seat.Away():
			n.Away++
		case seat.Spectator():
			n.Spectators++
		default:
			n.Players++
		}
	}
	return n
}

// Ledger books every byte that was handed to the links, by what it was for. Its Total is what
// Counters says was sent.
func (s *Server) Ledger() conn.Ledger {
	var sum conn.Ledger
	for _, p := range s.ports {
		l := p.conn.Ledger()
		l.Sent[conn.SentAnswer] = link.Own(p.link).SentBytes
		sum.Add(&l)
	}
	return sum
}

func addReplica(sum, l *replica.Ledger) {
	for len(sum.Classes) < len(l.Classes) {
		sum.Classes = append(sum.Classes, replica.ClassLedger{})
	}
	for i, c := range l.Classes {
		sum.Classes[i].Bits += c.Bits
		sum.Classes[i].Updates += c.Updates
		sum.Classes[i].Oversize += c.Oversize
	}
	sum.Packets += l.Packets
	sum.Bytes += l.Bytes
	sum.Lost += l.Lost
	sum.Header += l.Header
	sum.Views += l.Views
	sum.Events += l.Events
	sum.Tail += l.Tail
	sum.Messages += l.Messages
	sum.Failed += l.Failed
	sum.NoRoom += l.NoRoom
	sum.Missed += l.Missed
	sum.Repairs += l.Repairs
	sum.Rejects += l.Rejects
}

// Counters are those of all links.
func (s *Server) Counters() link.Counters {
	var sum link.Counters
	for _, p := range s.ports {
		sum = sum.Add(p.link.Counters())
	}
	return sum
}

// ConnStats tells what each link's connections met that was not as it should be.
func (s *Server) ConnStats(yield func(link int, st conn.Stats) bool) {
	for i, p := range s.ports {
		if !yield(i, p.conn.Stats()) {
			return
		}
	}
}

// MostPlayers is how many may play.
func (s *Server) MostPlayers() int { return s.opt.Players }
