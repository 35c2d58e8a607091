package clientserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// request handles a control message of a client.
func (s *Server) request(p *peer, m *message) {
	if p.state == greeting {
		if m.kind != msgHello {
			s.offend(p, BadControl)
			return
		}
		s.hello(p, m)
		return
	}
	if p.seat == nil || p.seat.gone {
		return // who waits at the door, or is on the way out, is not listened to
	}
	switch m.kind {
	case msgNeed:
		s.need(p, m.epoch)
	case msgAgain:
		if p.state == shown && m.epoch == p.epoch {
			s.stats.Restarts++
			s.show(p)
		}
	case msgReady:
		s.ready(p, m.epoch, m.on)
	case msgChat:
		s.chat(p, m.text)
	case msgPause:
		s.pause(p, m.on)
	case msgName:
		s.rename(p, m.name)
	case msgSide:
		if rule := s.opt.Rules.Side; rule != nil {
			if err := rule(p.seat, m.on); err != nil {
				s.notice(p, err.Error())
				return
			}
		}
		s.side(p, m.on)
	default:
		s.offend(p, BadControl)
	}
}

// hello is the first word of a client. It gets a seat, or is told why not.
func (s *Server) hello(p *peer, m *message) {
	if m.version != s.protocol.Hash() {
		// It is sent what the server's game declares, so that it can say what differs, and ends the connection itself; or we do after a while.
		p.state, p.since = mismatched, s.now
		s.tell(News{Kind: Refused, Client: p.conn.Client(), Reason: ReasonVersion, Text: fmt.Sprintf("has version %016x, this is %016x", m.version, s.protocol.Hash())})
		if _, err := p.conn.SendBulk(tagDeclarations, []byte(s.description)); err != nil {
			s.close(p, ReasonVersion, "")
		}
		return
	}
	known := s.seats[p.conn.Client()]
	name := strings.TrimSpace(m.name)
	if rule := s.opt.Rules.Admit; rule != nil {
		v := Visitor{Client: p.conn.Client(), Name: name, Spectate: m.on, Returns: known != nil, Addr: p.conn.Addr(), UserData: p.conn.UserData()}
		if err := rule(v); err != nil {
			s.refuse(p, ReasonRules, err.Error())
			return
		}
	}
	if s.drained(p) {
		return
	}
	if s.engine != nil && known == nil && !m.on {
		s.claim(p, name)
		return
	}
	seat, returned, reason := s.takeSeat(p, name, m.on)
	if reason != conn.ReasonNone {
		s.refuse(p, reason, "")
		return
	}
	kind := Joined
	if returned {
		kind = Returned
	} else {
		seat.Name = s.nameFor(seat, name)
	}
	s.seated(p, seat, kind)
}

// seated lets someone begin who has a seat.
func (s *Server) seated(p *peer, seat *Seat, kind NewsKind) {
	p.seat = seat
	if s.neutral != nil {
		p.queue = newQueue(len(s.neutral), max(int(s.opt.Limits.Ahead/s.game.TickLength()), 1))
		p.reader = replica.NewCommandReader(s.protocol)
		p.take = p.takeOne
	}
	s.tell(News{Kind: kind, Seat: seat})
	s.welcome(p)
	if len(s.places) > 0 {
		s.say(p, message{kind: msgPlaces, places: s.places})
	}
	if s.paused {
		s.say(p, message{kind: msgPause, on: true})
	}
	s.show(p)
}

// nameFor is the name that someone gets.
func (s *Server) nameFor(seat *Seat, name string) string {
	if rule := s.opt.Rules.Name; rule != nil && name != "" {
		if better, err := rule(seat, name); err == nil {
			name = strings.TrimSpace(clip(better, maxName))
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
	s.say(p, message{kind: msgWelcome, player: p.seat.Player, client: p.seat.Client, interval: byte(min(s.every, 255)), on: p.seat.Spectator(), name: p.seat.Name})
}

// show tells someone of the level that is played; when they are ready they are shown the world.
func (s *Server) show(p *peer) {
	if p.state >= mismatched {
		return
	}
	s.blind(p)
	p.state, p.since = loading, s.now
	p.epoch++
	s.say(p, s.stage.message(p.epoch))
}

// need sends the data of the level to someone who lacks it, once.
func (s *Server) need(p *peer, epoch uint32) {
	if p.state != loading || p.sending || len(s.stage.level.Data) == 0 {
		if epoch == p.epoch {
			s.offend(p, BadControl)
		}
		return
	}
	if epoch != p.epoch {
		return // about a level that is no more
	}
	id, err := p.conn.SendBulk(tagLevel, s.stage.level.Data)
	if err != nil {
		s.drop(p, ReasonSlow, err.Error())
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
	p.sender = replica.NewSender(s.stage.publisher, replica.SenderOptions{Player: p.seat.Player, Epoch: uint8(p.epoch), Start: start})
	p.first = p.conn.NextPacket()
	p.view.Reset()
	p.heard, p.early, p.repeated = false, 0, 0
	if p.queue != nil && s.engine == nil { // an engine has been given what came while the client got ready
		p.queue.reset()
		p.edges.reset()
	}
	// The turn of the fewest, so that all ticks have as much to do.
	p.phase = slices.Index(s.phases, slices.Min(s.phases))
	s.phases[p.phase]++
}

// chat passes on a line.
func (s *Server) chat(p *peer, line string) {
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
	if line = strings.TrimSpace(clip(line, maxText)); line == "" {
		return
	}
	s.tell(News{Kind: Chatted, Seat: p.seat, Text: line})
	s.passOn(p.seat, line)
}

// Relay has everyone here hear a line that someone said at another server of the same game. The game's rules decide who hears it; they are given a seat with no
// more than a player and a name.
func (s *Server) Relay(p world.Player, name, line string) {
	s.passOn(&Seat{Player: p, Name: clip(name, maxName)}, clip(line, maxText))
}

func (s *Server) passOn(from *Seat, line string) {
	m := message{kind: msgChat, player: from.Player, name: from.Name, text: line}
	for _, to := range s.order {
		if to.seat != nil && (s.opt.Rules.Hears == nil || s.opt.Rules.Hears(from, to.seat)) {
			s.say(to, m)
		}
	}
}

func (s *Server) pause(p *peer, on bool) {
	if s.opt.Rules.Pause == nil || s.engine != nil {
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
func (s *Server) notice(p *peer, text string) { s.say(p, message{kind: msgNotice, text: text}) }

// broadcast tells everyone who has a seat.
func (s *Server) broadcast(m message) {
	for _, p := range s.order {
		if p.seat != nil {
			s.say(p, m)
		}
	}
}

// say sends a control message. Whoever has not heard a thousand of them is not worth waiting for.
func (s *Server) say(p *peer, m message) {
	if p.state >= mismatched {
		return
	}
	s.scratch = m.append(s.scratch[:0])
	if err := p.conn.Send(chanControl, s.scratch); err != nil && p.conn.Open() {
		s.drop(p, ReasonSlow, err.Error())
	}
}
