package server

import (
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
)

// This file is how clients get the tables that the server has learned: each is told of them, says
// whether it has them or wants them, is sent them in the background, and is sent packets by them
// once it says that it holds all of them.

// TableStats count what became of learning.
type TableStats struct {
	Learned uint64        // how often tables were made,
	Took    time.Duration // how long that took, with its rests,
	Made    uint64        // and how often they were better by enough to become a generation
	Offered uint64        // clients that were told of one,
	Sent    uint64        // that were sent one,
	Bytes   uint64        // of that many bytes,
	Held    uint64        // and that said that they have one
	Refused uint64        // clients that want none
	Asked   uint64        // for what was not offered, or again for what was sent
}

// tabling is what one client has of the tables that the server has learned, by number.
type tabling struct {
	refused bool // it wants none
	sets    [replica.TableSets]struct {
		hash  [32]byte
		state tableState
	}
}

type tableState uint8

const (
	unknownTables tableState = iota
	offeredTables            // the client was told of them,
	wantedTables             // asked for them,
	sentTables               // is being sent them,
	heldTables               // and holds them
)

// teach takes learning on by a tick.
func (s *Server) teach() {
	l := s.learning
	if l == nil {
		return
	}
	for _, p := range s.order {
		if p.seat != nil {
			if l.tick(s.now, &s.stats.Tables) {
				s.tell(News{Kind: TablesLearned})
				s.offerAll()
			}
			break
		}
	}
	s.sendTables()
}

// offerAll tells everyone of the latest generation, and goes on with those who only hold one that
// is given up by what they have left.
func (s *Server) offerAll() {
	for _, p := range s.order {
		if p.sender != nil {
			s.offerTables(p)
			s.useTables(p)
		}
	}
}

// offerTables tells a client of the latest generation, once.
func (s *Server) offerTables(p *peer) {
	l := s.learning
	if l == nil || l.live[0] == nil || p.tabling.refused {
		return
	}
	g := l.live[0]
	set := &p.tabling.sets[g.number]
	if set.hash == g.hash && set.state != unknownTables {
		return
	}
	set.hash, set.state = g.hash, offeredTables
	s.stats.Tables.Offered++
	s.say(p, wire.Message{Kind: wire.Tables, Number: g.number, Size: uint32(len(g.data)),
		Data: g.hash})
}

// answered takes what a client makes of tables that it was told of.
func (s *Server) answered(p *peer, m *wire.Message) {
	if s.learning == nil || m.Number == 0 || m.Number >= replica.TableSets {
		s.offend(p, BadControl)
		return
	}
	set := &p.tabling.sets[m.Number]
	if m.Answer == wire.No {
		if !p.tabling.refused {
			s.stats.Tables.Refused++
		}
		p.tabling = tabling{refused: true}
		s.useTables(p)
		return
	}
	switch {
	case p.tabling.refused || set.state == unknownTables:
		s.stats.Tables.Asked++
		s.offend(p, BadControl)
	case set.hash != m.Data: // of those that had the number before
	case m.Answer == wire.Send && set.state == offeredTables:
		set.state = wantedTables
	case m.Answer == wire.Holds && set.state != heldTables:
		set.state = heldTables
		s.stats.Tables.Held++
		s.useTables(p)
	default:
		s.stats.Tables.Asked++
		s.offend(p, BadControl)
	}
}

// useTables has a client sent packets by the latest tables that it holds.
func (s *Server) useTables(p *peer) {
	if p.sender == nil || s.learning == nil {
		return
	}
	for _, g := range s.learning.live {
		if g == nil {
			continue
		}
		if set := &p.tabling.sets[g.number]; set.state == heldTables && set.hash == g.hash {
			p.sender.SetTables(g.number, g.model)
			return
		}
	}
	p.sender.SetTables(0, nil)
}

// sendTables sends tables to those who want them, as many at once as the budget of all allows.
func (s *Server) sendTables() {
	l := s.learning
	l.rate = min(l.rate+float64(float64(l.Rate)*s.game.TickLength().Seconds()), float64(l.Rate))
	g := l.live[0]
	if g == nil || l.rate < float64(min(len(g.data), l.Rate)) {
		return
	}
	for _, p := range s.order {
		set := &p.tabling.sets[g.number]
		if set.state != wantedTables || set.hash != g.hash || p.sender == nil {
			continue
		}
		set.state = sentTables
		if _, err := p.conn.SendBulk(wire.TagTables, g.data); err != nil {
			set.state = wantedTables // its queue is full
			continue
		}
		s.stats.Tables.Sent++
		s.stats.Tables.Bytes += uint64(len(g.data))
		if l.rate -= float64(len(g.data)); l.rate < float64(min(len(g.data), l.Rate)) {
			return
		}
	}
}
