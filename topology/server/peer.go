package server

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A peer is one connection to a server, from its first word to its last.
type peer struct {
	server *Server
	port   *port
	conn   *conn.Conn
	seat   *Seat // nil until it has said who it is
	state  peerState
	since  time.Duration // in that state

	epoch   uint32            // counts the worlds it was shown
	first   conn.PacketNumber // of the present one
	sender  *replica.Sender
	view    interest.View
	eye     interest.Observer
	room    replica.Room
	phase   int // at which of the ticks between snapshots it has its turn
	sending bool
	bulk    conn.BulkID

	queue    *queue
	reader   *replica.CommandReader
	take     func(t world.Tick, image []int32)
	newest   world.Tick // among the commands of a packet
	edited   []int32
	edges    lateEdges
	resting  bool // said that there are no commands until the next
	early    int  // the least since the last snapshot
	heard    bool // there were any
	repeated int  // ticks without a command since the last snapshot
	counts   CommandCounts

	commands, requests, reports, lines bucket
	record                             record
	offences                           [Offences]uint64

	parting string        // where to go, for someone whose player is another server's
	until   time.Duration // when that is said for the last time
}

type peerState uint8

const (
	greeting   peerState = iota // connected, has not said who it is
	claiming                    // has, and the engine is asked for a place
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
				p.sender.Arrived(uint64(e.Packet))
			}
		case conn.Lost:
			if p.sender != nil && e.Packet >= p.first {
				p.sender.Lost(uint64(e.Packet))
			}
		case conn.BulkSent, conn.BulkCanceled:
			p.sending = false
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
		if !p.requests.pass(s.now, float64(s.opt.Limits.Requests), float64(4*s.opt.Limits.Requests)) {
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

// commands takes a packet of commands.
func (s *Server) commands(p *peer, data []byte) {
	// An engine that gives someone a place who comes from another server wants their commands before they are shown the world again.
	if p.state != shown && (p.state != loading || !s.traits.Eager) || p.seat.Spectator() || p.seat.gone || len(data) == 0 || data[0] != byte(p.epoch) || s.failed.err != nil {
		return // about a world that is no more, or has not begun
	}
	// A path that stood still may bring all at once that was sent in the meantime, for as long as a connection outlasts.
	if rate := float64(s.opt.Limits.Commands); !p.commands.pass(s.now, rate, max(10*float64(s.game.Rate()), rate)) {
		s.offend(p, ManyCommands)
		return
	}
	now := s.closed()
	p.newest = 0
	h, err := p.reader.Read(data[1:], now, p.take)
	if err != nil {
		s.offend(p, BadCommand)
		return
	}
	if p.state >= mismatched {
		return
	}
	if p.resting = p.newest == 0; p.resting {
		p.newest = h.Tick
	}
	if h.Seen {
		p.queue.note(h.Tick, seenAt{h.SeenTick, h.SeenPart})
	}
	quarter := s.game.TickLength() / 4
	early := 4*int(int64(p.newest)-int64(now)-1) + int(min(max(s.due-s.now, 0), 4*quarter)/quarter)
	early = max(min(early, maxEarly), -maxEarly)
	if !p.heard || early < p.early {
		p.early = early
	}
	p.heard, p.counts.Early = true, early
}

const (
	// maxEarly bounds what is told of how early commands come, in quarters of a tick: a snapshot has eight bits for it.
	maxEarly = 127
	// maxReports is how many messages to package replica there may be in a second. An honest client sends one when something went wrong.
	maxReports = 40
)

// takeOne is called for each command of a packet.
func (p *peer) takeOne(t world.Tick, image []int32) {
	s := p.server
	closed := s.closed()
	p.newest = max(p.newest, t)
	if len(image) != p.queue.slots {
		s.offend(p, BadCommand)
		return
	}
	if s.opt.Rules.Command != nil {
		p.edited = append(p.edited[:0], image...) // what was read is what the next is a difference from
		image = p.edited
	}
	if t <= closed {
		s.late(p, closed, t, image)
		return
	}
	if !s.allows(p, t, image) {
		return
	}
	switch p.queue.put(closed, t, image) {
	case taken:
		p.counts.Taken++
		s.stats.Commands.Taken++
		if s.traits.Eager {
			_ = s.engine.Give(p.seat.Player, t, s.merge(p, t, image)) // it was checked when it was read
		}
	case again:
		p.counts.Again++
		s.stats.Commands.Again++
	case late: // the server has decided for it
		s.late(p, closed, t, image)
	case future:
		p.counts.Future++
		s.stats.Commands.Future++
		s.offend(p, FutureTick)
	case differed:
		p.counts.Differed++
		s.stats.Commands.Differed++
		s.offend(p, SecondMind)
	}
}

// allows asks the game's rules about a command, which they may change.
func (s *Server) allows(p *peer, t world.Tick, image []int32) bool {
	if s.opt.Rules.Command == nil {
		return true
	}
	if err := s.opt.Rules.Command(s.stage.world, p.seat.Player, t, image); err != nil {
		s.offend(p, AgainstRules)
		return false
	}
	return true
}

// late takes a command for a tick that is over: if it was not there in time, and it is not long ago, its edges still count.
func (s *Server) late(p *peer, closed, t world.Tick, image []int32) {
	if p.queue.put(closed, t, image) == again {
		p.counts.Again++
		s.stats.Commands.Again++
		return
	}
	p.counts.Late++
	s.stats.Commands.Late++
	if s.edger != nil && t+s.lateTicks > closed && p.queue.first(t) && s.allows(p, closed+1, image) {
		p.edges.add(s.edger, t, image)
	}
}

// merge makes the edges that came late part of a command. What makes no sense together is left out.
func (s *Server) merge(p *peer, t world.Tick, image []int32) []int32 {
	if len(p.edges.waiting) == 0 {
		return image
	}
	out, done := p.edges.merge(s.edger, t, s.lateTicks, image)
	if s.game.Commands().Check(out) != nil {
		return image
	}
	p.counts.Merged += uint64(done)
	s.stats.Commands.Merged += uint64(done)
	return out
}

// offend counts what a client did wrong, and drops it when it is enough.
func (s *Server) offend(p *peer, o Offence) {
	if p.state >= mismatched || o == FutureTick && (s.paused || s.now < s.lenient) {
		return
	}
	p.offences[o]++
	s.stats.Offences[o]++
	if p.record.add(s.now, o.points(), s.opt.Limits.Offences) {
		s.drop(p, wire.ReasonHostile, fmt.Sprintf("mostly %v", p.worst()))
	}
}

// worst is what a client did most of.
func (p *peer) worst() Offence {
	at := Offence(0)
	for o := range Offences {
		if float64(p.offences[o])*o.points() > float64(p.offences[at])*at.points() {
			at = o
		}
	}
	return at
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

// gone forgets a connection that has ended. Whether the seat is kept depends on why: who left on purpose, or was thrown out, has none to come back to.
func (s *Server) gone(p *peer, reason conn.Reason, note string) {
	s.blind(p)
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
	case conn.ReasonLeft, wire.ReasonHostile, wire.ReasonKicked, wire.ReasonRules, wire.ReasonVersion:
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
		switch wait := s.now - p.since; {
		case p.state == greeting && wait > s.opt.Limits.Greeting:
			s.refuse(p, wire.ReasonSilent, "")
		case p.state == claiming && wait > s.opt.Limits.Greeting:
			s.refuse(p, wire.ReasonNoSeat, "no place was found in time")
		case p.state == mismatched && wait > s.opt.Limits.Greeting:
			s.close(p, wire.ReasonVersion, "")
		case p.state == loading && wait > s.opt.Limits.Loading:
			s.drop(p, wire.ReasonSilent, "never became ready for the level")
		case p.seat != nil && p.seat.gone && s.now > p.until:
			s.close(p, wire.ReasonMoved, p.parting)
		}
	}
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
