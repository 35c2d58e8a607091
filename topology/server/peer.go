package server

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A peer is one connection to a server, from its first word to its last.
type peer struct {
	server   *Server
	port     *port
	conn     *conn.Conn
	seat     *Seat // nil until it has said who it is
	state    peerState
	since    time.Duration  // in that state
	from     netip.AddrPort // the real address, when it connected
	entering bool           // it waits at the door,
	word     wire.Message   // with this word
	names    uint64         // up to where it was told of the roster
	journey  wire.Journey   // why it came
	conduct
	showing
	intake
	uploading uploading
	tabling   tabling
	farewell
}

// showing is what a client is shown. There is a sender exactly while the state is shown, and it is
// told of the packets from first on.
type showing struct {
	epoch   uint32 // counts the worlds
	first   conn.PacketNumber
	sender  *replica.Sender
	view    interest.View
	eye     interest.Observer
	room    replica.Room
	phase   int  // at which of the ticks between snapshots it has its turn
	sending bool // the data of the level is on its way, as bulk
	lag     lagMeter
	bulk    conn.BulkID
}

// farewell is for someone whose player is another server's.
type farewell struct {
	note  string        // where to go
	until time.Duration // when that is said for the last time
}

type peerState uint8

const (
	greeting   peerState = iota // connected, has not said who it is
	claiming                    // has, and the engine is asked for a player
	loading                     // was told of a level, and is not ready for it
	shown                       // is shown the world
	mismatched                  // has another version, and is being told which this is
	ending                      // has been told to go
)

// handle looks at what happened on the connections of a port.
func (s *Server) handle(o *port) {
	events := o.conn.Events()
	for i := range events {
		e := &events[i]
		if e.Kind == conn.Connected {
			p := &peer{server: s, port: o, conn: e.Conn, since: s.now}
			p.from = p.addr()
			if o.keeper != nil {
				o.keeper.Keep(e.Conn.Addr())
			}
			s.peers[e.Conn] = p
			s.order = append(s.order, p)
			continue
		}
		p := s.peers[e.Conn]
		if p == nil {
			continue
		}
		switch e.Kind {
		case conn.Message:
			s.message(p, e)
		case conn.Arrived:
			if p.sender != nil && e.Packet >= p.first {
				s.arrived(p, uint64(e.Packet))
			}
		case conn.Lost:
			if p.sender != nil && e.Packet >= p.first {
				p.sender.Lost(uint64(e.Packet))
			}
		case conn.BulkSent:
			p.sending = p.sending && e.Bulk != p.bulk
		case conn.BulkCanceled:
			if e.Size > 0 {
				s.uploadOver(p)
			} else if e.Bulk == p.bulk {
				p.sending = false
			}
		case conn.BulkBegun:
			s.uploadBegun(p, e)
		case conn.BulkReceived:
			s.uploadReceived(p, e)
		case conn.Disconnected:
			s.gone(p, e.Reason, string(e.Data))
		}
	}
}

func (s *Server) message(p *peer, e *conn.Event) {
	if p.state >= mismatched {
		return
	}
	switch e.Channel {
	case wire.CommandChannel:
		s.commands(p, e.Data)
	case wire.StateChannel:
		if p.sender == nil || len(e.Data) == 0 || e.Data[0] != byte(p.epoch) {
			return // about a world that is no more
		}
		if !p.reports.pass(s.now, maxReports, 2*maxReports) {
			s.offend(p, ManyRequests)
			return
		}
		if err := p.sender.Message(e.Data[1:]); err != nil {
			s.offend(p, BadState)
		}
	case wire.ControlChannel:
		if !p.requests.pass(s.now, float64(s.opt.Limits.Requests),
			float64(4*s.opt.Limits.Requests)) {
			s.offend(p, ManyRequests)
			return
		}
		m := &s.control
		if m.Parse(e.Data) != nil {
			s.offend(p, BadControl)
			return
		}
		s.request(p, m)
	default:
		s.offend(p, BadControl)
	}
}

// offend counts what a client did wrong, and drops it when it is enough.
func (s *Server) offend(p *peer, o Offence) {
	if p.state >= mismatched || o == FutureTick && (s.paused || s.now < s.lenient) {
		return
	}
	s.stats.Offences[o]++
	if p.conduct.add(s.now, o, s.opt.Limits.Offences) {
		s.drop(p, wire.ReasonHostile, fmt.Sprintf("mostly %v", p.worst()))
	}
}

// drop throws someone out.
func (s *Server) drop(p *peer, reason conn.Reason, note string) {
	if p.state == ending {
		return
	}
	s.tell(News{Kind: Dropped, Seat: p.seat, Client: p.conn.Client(), Reason: reason, Text: note})
	s.close(p, reason, note)
}

// refuse turns someone away who has no seat.
func (s *Server) refuse(p *peer, reason conn.Reason, note string) {
	s.tell(News{Kind: Refused, Client: p.conn.Client(), Reason: reason, Text: note})
	s.close(p, reason, note)
}

func (s *Server) close(p *peer, reason conn.Reason, note string) {
	s.blind(p)
	p.state = ending
	p.conn.Close(reason, note)
}

// gone forgets a connection that has ended. Whether the seat is kept depends on why: who left on
// purpose, or was thrown out, has none to come back to.
func (s *Server) gone(p *peer, reason conn.Reason, note string) {
	s.blind(p)
	s.uploadOver(p)
	p.state = ending
	delete(s.peers, p.conn)
	if i := slices.Index(s.order, p); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	}
	seat := p.seat
	if seat == nil {
		if reason == conn.ReasonLeft && s.seats[p.conn.Client()] == nil {
			s.unclaim(p.conn.Client())
		}
		return
	}
	if seat.peer != p || seat.gone {
		return
	}
	seat.peer, seat.away = nil, s.now
	switch reason {
	case conn.ReasonLeft, wire.ReasonHostile, wire.ReasonKicked, wire.ReasonRules,
		wire.ReasonVersion:
		s.leave(seat)
		return
	}
	if s.opt.KeepSeat < 0 || s.closing && !s.traits.Outlives {
		s.leave(seat)
		return
	}
	s.tell(News{Kind: WentAway, Seat: seat, Reason: reason, Text: note})
}

// blind stops showing the world to a peer.
func (s *Server) blind(p *peer) {
	if p.sender != nil {
		addReplica(&s.stats.Replica, p.sender.Ledger())
		p.sender.Close()
		p.sender = nil
		s.phases[p.phase]--
	}
	if p.sending {
		_ = p.conn.CancelBulk(p.bulk) // it may be over by now
		p.sending = false
	}
}

// sweepEvery is how often those are looked for who keep others waiting.
const sweepEvery = 250 * time.Millisecond

func (s *Server) sweep() {
	if s.now-s.swept < sweepEvery {
		return
	}
	s.swept = s.now
	for i := len(s.order) - 1; i >= 0; i-- {
		p := s.order[i]
		if p.sender != nil && !s.opt.Develop {
			_ = s.misfits(p) // it tells
		}
		s.sweepUpload(p)
		switch wait := s.now - p.since; {
		case p.entering: // it waits for us
		case p.state == greeting && wait > s.opt.Limits.Greeting:
			s.refuse(p, wire.ReasonSilent, "")
		case p.state == claiming && wait > s.opt.Limits.Greeting:
			s.refuse(p, wire.ReasonNoSeat, "no place was found in time")
		case p.state == mismatched && wait > s.opt.Limits.Greeting:
			s.close(p, wire.ReasonVersion, "")
		case p.state == loading && wait > s.opt.Limits.Loading:
			s.drop(p, wire.ReasonSilent, "never became ready for the level")
		case p.seat != nil && p.seat.gone && s.now > p.until:
			s.close(p, wire.ReasonMoved, p.note)
		}
	}
	s.keepPlaces()
	s.sweepNames()
	if len(s.claims) > 0 {
		s.sweepClaims()
	}
	for _, seat := range s.players[1:] {
		if seat != nil && seat.Away() && s.now-seat.away > s.opt.KeepSeat {
			s.leave(seat)
		}
	}
	if s.watching > 0 {
		for _, seat := range s.seats {
			if seat.Spectator() && seat.Away() {
				s.leave(seat) // who only watched has nothing to lose
			}
		}
	}
}
