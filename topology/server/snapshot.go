package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
)

// This file is the way of a snapshot: choose whose turn it is, look and encode for all of them at
// once, send one after the other.

// leastRoom is what a snapshot must have to be worth its headers: where there is less, the next
// turn has more. So on a narrow path there are fewer snapshots, and not just smaller ones.
const leastRoom = 200

// composeSpare is kept free in each packet, since what package conn puts in front of a message may
// take a byte or two more than it reckons with.
const composeSpare = 2

// choose finds the clients whose turn it is. Turns are spread evenly over ticks. Also those who
// cannot be sent anything now are looked after, as what happens meanwhile is gathered for them.
func (s *Server) choose() {
	began := time.Now()
	s.work = s.work[:0]
	if s.failed.err != nil {
		return // the world is not to be looked at
	}
	phase := int(s.turn % uint64(s.every))
	for _, p := range s.order {
		if p.state != shown || p.phase != phase {
			continue
		}
		budget := p.conn.Budget(s.now)
		if budget < leastRoom {
			s.stats.Starved++
			budget = 0
		}
		p.room = replica.Room{
			Packet: p.conn.MaxPayload() - composeSpare, Budget: budget, Early: p.early,
			Repeated: p.repeated, Acted: p.come.acted}
		s.work = append(s.work, p)
	}
	if len(s.work) > 0 {
		if err := s.scene.views.Follow(s.scene.world); err != nil {
			s.gameError(err)
			s.work = s.work[:0]
		}
	}
	s.stats.last.Interest = time.Since(began)
}

// look is the work that is done for many clients at once: it finds what the client is shown and
// encodes it. It touches nothing but the peer and the worker.
func (p *peer) look(w *worker) {
	began := time.Now()
	g := p.server.scene
	o := &p.eye
	o.Player, o.RoundTrip = p.seat.Player, p.conn.Quality().RoundTrip+p.server.gap
	index, rules := g.views.Sight(g.world, p.seat.Player, o)
	if w.finder.Update(&p.view, index, rules, *o) {
		p.sender.Look(&p.view)
	}
	looked := time.Now()
	w.interest += looked.Sub(began)
	p.sender.Encode(w.encoder, p.room)
	w.encode += time.Since(looked)
}

// send puts what was encoded into packets.
func (s *Server) send() error {
	for _, p := range s.work {
		if p.state != shown {
			continue
		}
		for _, m := range p.sender.Messages() {
			s.scratch = append(append(s.scratch[:0], byte(p.epoch)), m...)
			if err := p.conn.Send(wire.StateChannel, s.scratch); err != nil {
				s.drop(p, wire.ReasonSlow, err.Error())
				break
			}
		}
		if p.state != shown {
			continue
		}
		n := p.sender.Staged()
		for i := range n {
			data := p.sender.Packet(i)
			b, err := p.conn.Compose(s.now, wire.SnapshotChannel, len(data)+composeSpare)
			if err != nil {
				p.sender.Unsent(i)
				continue
			}
			p.sender.Sent(i, uint64(p.conn.Commit(append(b, data...))))
			s.stats.Packets++
			s.stats.Bytes += uint64(len(data))
		}
		if n > 0 {
			s.stats.Snapshots++
			p.heard, p.repeated = false, 0
		}
		if s.opt.Develop {
			if err := s.misfits(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// misfits tells, once for each class, of entities that fit into no packet, or hold a number out of
// its range. Clients are not shown them, and the rest goes on.
func (s *Server) misfits(p *peer) error {
	for i, c := range p.sender.Ledger().Classes {
		if c.Oversize == 0 || s.unfit[i] {
			continue
		}
		s.unfit[i] = true
		name := "commands"
		if classes := s.game.Classes(); i < len(classes) {
			name = classes[i].Name()
		}
		err := fmt.Errorf(
			"server: class %s: %w of %d bytes; sync less of it, or split it into several entities",
			name, ErrTooLarge, p.conn.MaxPayload())
		if s.opt.Develop {
			return err
		}
		s.tell(News{Kind: GameError, Err: err})
	}
	return nil
}

// ErrTooLarge says that an entity cannot be sent. Use errors.Is.
var ErrTooLarge = errors.New("an entity does not fit into a packet")
