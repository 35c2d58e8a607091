package relay

import (
	"encoding/binary"

	"github.com/coeval-dev/coeval/member"
)

// items takes a packet of a member's items.
func (s *Server) items(p *peer, b []byte) {
	m := p.match
	if m == nil || m.Mode != Rows || p.seat < 0 {
		return // left its seat, or is about to be told that there is none
	}
	if !p.turns.take(s.now, 1, turnRate, turnBurst) {
		s.stats.Flooded++
		return
	}
	s.stats.ItemIn += uint64(len(b))
	r := &s.reader
	r.Reset(b)
	st := &p.stream
	waited := !st.ready()
	for first, last := true, uint32(0); ; first = false {
		n := unpackStart(r, first, st.taken, last)
		for r.ReadBool() {
			x, ok := unpackItem(r, s.item[:0])
			if !ok {
				s.offend(p, "a malformed packet of items")
				return
			}
			switch st.put(n, x[1:]) {
			case fresh:
				s.stats.Items++
				p.measure(s, n)
			case beyond:
				s.offend(p, "items further ahead than allowed")
				return
			case changed:
				s.offend(p, "two different items with one number")
				return
			}
			n++
		}
		last = n
		if !r.ReadBool() {
			break
		}
	}
	if r.Finish() != nil {
		s.offend(p, "a malformed packet of items")
		return
	}
	if waited && st.ready() {
		s.wake(m, s.now)
	}
}

// measure notes how early an item came for its row.
func (p *peer) measure(s *Server, n uint32) {
	if !p.playing {
		return
	}
	row := p.match.rows.next + n - p.stream.taken - p.stream.debt
	lead := p.match.due(row) - s.now
	if !p.leads || lead < p.lead {
		p.lead, p.leads = lead, true
	}
}

// carry passes a datagram on to another member.
func (s *Server) carry(p *peer, b []byte) {
	m := p.match
	if m == nil || len(b) < 2 {
		return
	}
	l := &s.opt.Limits
	if !p.carries.take(s.now, float64(len(b)), float64(l.CarryRate), float64(l.CarryBurst)) {
		s.stats.OverRate++
		return
	}
	to := m.find(member.ID(binary.BigEndian.Uint16(b)))
	if to == nil || to == p {
		s.stats.Strangers++
		return
	}
	binary.BigEndian.PutUint16(b, uint16(p.id))
	if len(b) > to.conn.MaxPayload() || to.conn.Send(carryChannel, b) != nil {
		s.stats.OverRate++
		return
	}
	s.stats.Carried++
	s.stats.CarriedBytes += uint64(len(b))
	to.speak()
}

func (m *match) find(id member.ID) *peer {
	for _, p := range m.peers {
		if p.id == id {
			return p
		}
	}
	return nil
}

// adaptEvery is after how many packets a member's loss is looked at again.
const adaptEvery = 32

// sendAll sends the rows that were closed from one on, and what came before, to whose turn it is.
func (s *Server) sendAll(m *match, from uint32) {
	a, b := from+m.turn, m.rows.next+m.turn
	members, watchers := a/m.every != b/m.every, a/m.idle != b/m.idle
	if !members && !watchers {
		return
	}
	for _, p := range m.peers {
		p.port.conn.Prefetch(p.conn)
	}
	for _, p := range m.peers {
		if p.entry.Watch && watchers || !p.entry.Watch && members {
			s.sendRows(p)
			p.port.conn.Attend(s.now, p.conn)
		}
	}
}

// mostPackets is how many packets of rows a member that lacks many gets at once.
const mostPackets = 8

// sendRows sends a member the rows that it lacks, in one packet; in several if it lacks many, as
// far as its connection carries them.
func (s *Server) sendRows(p *peer) {
	m := p.match
	to := m.rows.next
	if p.behind > 0 {
		if to <= p.behind {
			return
		}
		to -= p.behind
	}
	if p.ending || !p.conn.Open() || int32(to-p.window.base) <= 0 {
		return
	}
	if int32(p.window.base-m.rows.first) < 0 {
		s.drop(p, ReasonBehind, "rows that it lacks are not kept any more")
		return
	}
	if p.packets++; p.packets >= adaptEvery {
		p.packets = 0
		p.window.adapt(p.conn.Quality().LossOut)
	}
	for range mostPackets {
		runs := p.window.choose(to, s.runs[:0])
		if len(runs) == 0 || !s.sendPacket(p, runs) {
			return
		}
		if int32(p.window.end(to)-p.window.next) <= 0 || p.conn.Budget(s.now) < p.conn.Datagram() {
			return
		}
	}
}

// reserve is how much of a packet reliable messages leave to rows, if they need it.
const reserve = 400

func (s *Server) sendPacket(p *peer, runs []span) bool {
	b, err := p.conn.Compose(s.now, turnChannel, reserve)
	if err != nil {
		return false
	}
	w := &s.writer
	w.Reset(b[:cap(b)])
	w.WriteBits(uint64(packLead(p.lead, p.leads)), 8)
	p.leads = false
	sits := seating{me: p.id}
	packRows(w, runs, &p.match.rows, p.match.Seats, p.ownAt, &sits)
	out := w.Bytes()
	p.window.carried(uint32(p.conn.Commit(out)), runs)
	s.stats.Packets++
	for _, r := range runs {
		s.stats.RowsSent += uint64(r.to - r.from)
	}
	s.stats.RowBytes += uint64(len(out))
	return true
}

// ownAt is which seat is the peer's own before the changes of a row.
func (p *peer) ownAt(row uint32) int8 {
	if p.playing && int32(row-p.ownFrom) > 0 {
		return p.seat
	}
	return -1
}
