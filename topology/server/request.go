package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// request handles a control message of a client.
func (s *Server) request(p *peer, m *wire.Message) {
	if p.state == greeting {
		if m.Kind != wire.Hello {
			s.offend(p, BadControl)
			return
		}
		s.enter(p, m)
		return
	}
	if p.seat == nil || p.seat.gone {
		return // who waits at the door, or is on the way out, is not listened to
	}
	switch m.Kind {
	case wire.Need:
		s.need(p, m.Epoch)
	case wire.Again:
		if p.state == shown && m.Epoch == p.epoch {
			s.stats.Restarts++
			s.show(p)
		}
	case wire.Ready:
		if p.state == loading && m.Epoch == p.epoch {
			s.enter(p, m)
		} else {
			s.ready(p, m.Epoch, m.On)
		}
	case wire.Chat:
		s.chat(p, m)
	case wire.Answers:
		s.answered(p, m)
	case wire.Predicts:
		p.seat.predicts = m.Prediction
	case wire.Pause:
		s.pause(p, m.On)
	case wire.Name:
		s.rename(p, m.Name)
	case wire.Side:
		if rule := s.opt.Rules.Side; rule != nil {
			if err := rule(p.seat, m.On); err != nil {
				s.notice(p, err.Error())
				return
			}
		}
		s.side(p, m.On)
	default:
		s.offend(p, BadControl)
	}
}

// hello is the first word of a client. It gets a seat, or is told why not.
func (s *Server) hello(p *peer, m *wire.Message) {
	if m.Version != s.protocol.Hash() {
		// It is sent what the server's game declares, so that it can say what differs, and ends the
		// connection itself; or we do after a while.
		p.state, p.since = mismatched, s.now
		s.tell(News{Kind: Refused, Client: p.conn.Client(), Reason: wire.ReasonVersion,
			Text: fmt.Sprintf("has version %016x, this is %016x", m.Version, s.protocol.Hash())})
		if _, err := p.conn.SendBulk(wire.TagDeclarations, []byte(s.description)); err != nil {
			s.close(p, wire.ReasonVersion, "")
		}
		return
	}
	p.journey = m.Journey
	known := s.seats[p.conn.Client()]
	name := strings.TrimSpace(m.Name)
	if rule := s.opt.Rules.Admit; rule != nil {
		v := p.visitor(name)
		v.Spectate, v.Returns = m.On, known != nil
		if err := rule(v); err != nil {
			s.refuse(p, wire.ReasonRules, err.Error())
			return
		}
	}
	if s.drained(p) {
		return
	}
	switch {
	case known != nil:
		s.comeBack(p, known)
	case m.On:
		s.watch(p, name)
	default:
		s.claim(p, name)
	}
}

// visitor is who a client says that it is.
func (p *peer) visitor(name string) Visitor {
	return Visitor{
		Client: p.conn.Client(), Name: name, Addr: p.addr(), UserData: p.conn.UserData(),
		Journey: p.journey}
}

// seated lets someone begin who has a seat.
func (s *Server) seated(p *peer, seat *Seat, kind NewsKind) {
	p.seat = seat
	if s.neutral != nil {
		p.queue = newQueue(len(s.neutral), max(int(s.opt.Limits.Ahead/s.game.TickLength()), 1),
			s.game.Rewinds() > 0)
		p.reader = replica.NewCommandReader(s.protocol)
		p.take = p.takeOne
	}
	s.tell(News{Kind: kind, Seat: seat})
	s.welcome(p)
	if len(s.others) > 0 {
		s.say(p, wire.Message{Kind: wire.Servers, Servers: s.others})
	}
	if s.paused {
		s.say(p, wire.Message{Kind: wire.Pause, On: true})
	}
	s.show(p)
}

// nameFor is the name that someone gets.
func (s *Server) nameFor(seat *Seat, name string) string {
	if rule := s.opt.Rules.Name; rule != nil && name != "" {
		if better, err := rule(seat, name); err == nil {
			name = strings.TrimSpace(wire.Clip(better, wire.MaxName))
		} else {
			name = ""
		}
	}
	switch {
	case name != "":
		return name
	case seat.Spectator():
		return "spectator"
	}
	return fmt.Sprintf("player %d", seat.Player)
}

// welcome tells someone who they are here.
func (s *Server) welcome(p *peer) {
	s.say(p, wire.Message{Kind: wire.Welcome, Player: p.seat.Player, Client: p.seat.Client,
		Interval: byte(min(s.every, 255)), On: p.seat.Spectator(), Name: p.seat.Name})
}

// show tells someone of the level that is played; when they are ready they are shown the world.
func (s *Server) show(p *peer) {
	if p.state >= mismatched {
		return
	}
	s.blind(p)
	p.state, p.since = loading, s.now
	p.epoch++
	s.say(p, s.scene.message(p.epoch))
}

// need sends the data of the level to someone who lacks it, once.
func (s *Server) need(p *peer, epoch uint32) {
	if p.state != loading || p.sending || len(s.scene.level.Data) == 0 {
		if epoch == p.epoch {
			s.offend(p, BadControl)
		}
		return
	}
	if epoch != p.epoch {
		return // about a level that is no more
	}
	id, err := p.conn.SendBulk(wire.TagLevel, s.scene.level.Data)
	if err != nil {
		s.drop(p, wire.ReasonSlow, err.Error())
		return
	}
	p.sending, p.bulk = true, id
	s.stats.LevelsSent++
}

// ready begins to show the world to someone. If start is set they hold what the world started with.
func (s *Server) ready(p *peer, epoch uint32, start bool) {
	switch {
	case epoch != p.epoch:
		return // about a level that is no more
	case p.state != loading:
		s.offend(p, BadControl)
		return
	}
	p.state, p.since = shown, s.now
	p.sender = replica.NewSender(s.scene.publisher,
		replica.SenderOptions{Player: p.seat.Player, Epoch: uint8(p.epoch), Start: start})
	s.useTables(p)
	s.offerTables(p)
	p.first = p.conn.NextPacket()
	p.view.Reset()
	p.lag = lagMeter{}
	s.bring(p)
	p.heard, p.early, p.repeated = false, 0, 0
	if seat := p.seat; !seat.inside && !seat.Spectator() {
		seat.inside = true
		s.engine.Enter(seat.Player)
	}
	// which has been given what came while the client got ready
	if p.queue != nil && !s.traits.Eager {
		p.queue.reset()
		p.come.reset()
		p.edges.reset()
	}
	// The turn of the fewest, so that all ticks have as much to do.
	p.phase = slices.Index(s.phases, slices.Min(s.phases))
	s.phases[p.phase]++
}

// chat passes on a line.
// chat passes a line on: to everyone, or to those alone whom it is for, and to who said it.
func (s *Server) chat(p *peer, m *wire.Message) {
	line := m.Text
	if n := float64(s.opt.Limits.Chat); !p.lines.pass(s.now, n/60, max(n/4, 1)) {
		s.offend(p, ManyLines)
		return
	}
	if rule := s.opt.Rules.Chat; rule != nil {
		better, err := rule(p.seat, line)
		if err != nil {
			s.notice(p, err.Error())
			return
		}
		line = better
	}
	if line = strings.TrimSpace(wire.Clip(line, wire.MaxText)); line == "" {
		return
	}
	s.tell(News{Kind: Chatted, Seat: p.seat, Text: line})
	s.engine.Said(Line{p.seat.Player, p.seat.Name, line, m.To})
	heard := s.passOn(p.seat, line, m.To)
	if heard < 2 && len(m.To) > 0 && !s.traits.Outlives {
		s.notice(p, "nobody heard that: who it is for is not here")
	}
}

// relay has everyone here hear a line that someone said at another server of the same game.
func (s *Server) relay(l Line) {
	s.passOn(&Seat{Player: l.Player, Name: wire.Clip(l.Name, wire.MaxName)},
		wire.Clip(l.Text, wire.MaxText), l.To)
}

// passOn tells a line to those who are to hear it, and says how many did.
func (s *Server) passOn(from *Seat, line string, alone []world.Player) (heard int) {
	m := wire.Message{Kind: wire.Chat, Player: from.Player, Name: from.Name, Text: line, To: alone}
	for _, to := range s.order {
		if to.seat == nil || len(alone) > 0 && to.seat != from &&
			(to.seat.Spectator() || !slices.Contains(alone, to.seat.Player)) {
			continue
		}
		if s.opt.Rules.Hears == nil || s.opt.Rules.Hears(from, to.seat) {
			s.say(to, m)
			heard++
		}
	}
	return heard
}

func (s *Server) pause(p *peer, on bool) {
	if s.opt.Rules.Pause == nil || !s.traits.Pausable {
		s.notice(p, "no one may pause this game")
		return
	}
	if err := s.opt.Rules.Pause(p.seat, on); err != nil {
		s.notice(p, err.Error())
		return
	}
	s.SetPaused(on, p.seat.Name)
}

func (s *Server) rename(p *peer, name string) {
	name = strings.TrimSpace(name)
	if name == "" {
		s.offend(p, BadControl)
		return
	}
	p.seat.Name = s.nameFor(p.seat, name)
	s.welcome(p)
	s.tell(News{Kind: Changed, Seat: p.seat})
}

// notice tells one client something.
func (s *Server) notice(p *peer, text string) {
	s.say(p, wire.Message{Kind: wire.Notice, Text: text})
}

// broadcast tells everyone who has a seat.
func (s *Server) broadcast(m wire.Message) {
	for _, p := range s.order {
		if p.seat != nil {
			s.say(p, m)
		}
	}
}

// say sends a control message. Whoever has not heard a thousand of them is not worth waiting for.
func (s *Server) say(p *peer, m wire.Message) {
	if p.state >= mismatched {
		return
	}
	s.scratch = m.Append(s.scratch[:0])
	if err := p.conn.Send(wire.ControlChannel, s.scratch); err != nil && p.conn.Open() {
		s.drop(p, wire.ReasonSlow, err.Error())
	}
}
