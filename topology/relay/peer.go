package relay

import (
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// A peer is one connection to a relay, from its first word to its last. It is a member of a match
// from when it was let in.
type peer struct {
	port   *port
	conn   *conn.Conn
	from   netip.AddrPort // its real address
	source netip.Addr
	since  time.Duration
	ending bool // it has been told to go

	match  *match
	id     member.ID
	entry  Entry
	secret [secretSize]byte
	seat   int8 // -1: none
	ready  bool
	left   bool // of its own will

	// Rows, in rows mode.
	stream  stream
	playing bool
	ownFrom uint32 // from this row on its items are not sent back to it
	window  window // of rows to it
	behind  uint32 // rows that it is to be behind
	packets uint32 // since it was last asked how many are lost
	lead    time.Duration
	leads   bool // lead is known: the least since it was told

	control, words, carries, turns bucket
}

func (p *peer) about() About { return About{Member: p.id, Name: p.entry.Name, Addr: p.from} }

// handle looks at what happened on the connections of a port.
func (s *Server) handle(o *port) {
	events := o.conn.Events()
	for i := range events {
		e := &events[i]
		if e.Kind == conn.Connected {
			s.connected(o, e.Conn)
			continue
		}
		p := o.peer(e.Conn)
		if p == nil {
			continue
		}
		switch e.Kind {
		case conn.Message:
			if !p.ending {
				s.message(p, e)
			}
		case conn.Arrived:
			p.window.arrived(uint32(e.Packet))
		case conn.Lost:
			p.window.dropped(uint32(e.Packet))
		case conn.Roamed:
			s.roamed(p)
		case conn.Disconnected:
			s.disconnected(p, e.Reason)
		}
	}
}

func (s *Server) connected(o *port, c *conn.Conn) {
	p := &peer{port: o, conn: c, since: s.now, seat: -1}
	p.from = link.Remote(o.link, c.Addr())
	p.source = sourceOf(o.link, c.Addr())
	if o.keeper != nil {
		o.keeper.Keep(c.Addr())
	}
	p.window.adapt(0)
	for c.Slot() >= len(o.peers) {
		o.peers = append(o.peers, nil)
	}
	o.peers[c.Slot()] = p
	s.conns++
}

// peer is whose connection it is, or nil if it has ended.
func (o *port) peer(c *conn.Conn) *peer {
	if i := c.Slot(); i < len(o.peers) && o.peers[i] != nil && o.peers[i].conn == c {
		return o.peers[i]
	}
	return nil
}

func (s *Server) roamed(p *peer) {
	p.from = link.Remote(p.port.link, p.conn.Addr())
	if p.match != nil {
		s.broadcastPeer(p, nil)
	}
}

// public is where others could reach a peer, or none.
func (p *peer) public() netip.AddrPort {
	a := p.conn.Addr()
	if _, _, session := link.Session(a); session {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// disconnected takes a peer out of everything. The seat of a player is kept.
func (s *Server) disconnected(p *peer, _ conn.Reason) {
	p.port.peers[p.conn.Slot()] = nil
	s.conns--
	m := p.match
	if m == nil {
		return
	}
	p.match = nil
	i := slices.Index(m.peers, p)
	m.peers = slices.Delete(m.peers, i, i+1)
	if p.entry.Watch {
		m.watch--
	}
	if p.seat >= 0 && m.seats[p.seat].peer == p {
		m.vacate(p, s.now)
	}
	if len(m.peers) == 0 {
		m.deserts = s.now
	} else {
		s.wake(m, s.now)
	}
	s.tell(News{Kind: NewsGone, Code: m.code, Peer: p.about()})
	s.broadcast(m, nil, messageGone, &gone{p.id, p.left})
	if m.voter != nil {
		m.voter.Gone(s.now, p.id)
	}
}

// vacate leaves a seat without a connection. Whoever has played keeps it for a while, unless they
// left for good.
func (m *match) vacate(p *peer, now time.Duration) {
	x := &m.seats[p.seat]
	x.peer = nil
	switch {
	case x.state >= seatPlays:
		x.leaves = p.left
	case m.Mode == Mesh && !p.left:
		x.free = now + m.Grace
	default:
		*x = seat{}
	}
}

// send sends a control message to a peer. One to whom so many wait already is told to go.
func (s *Server) send(p *peer, kind byte, f fielder) {
	s.scratch = write(s.scratch, kind, f)
	s.sendRaw(p, s.scratch)
}

func (s *Server) sendRaw(p *peer, b []byte) {
	if p.ending {
		return
	}
	if err := p.conn.Send(controlChannel, b); err != nil {
		s.drop(p, ReasonBehind, "too much waits to be sent")
		return
	}
	p.speak()
}

// speak has the connection flushed at the end of this tick.
func (p *peer) speak() { p.port.spoken = append(p.port.spoken, p.conn) }

// broadcast sends a control message to all members but one.
func (s *Server) broadcast(m *match, but *peer, kind byte, f fielder) {
	s.scratch = write(s.scratch, kind, f)
	b := s.scratch
	for _, p := range m.peers {
		if p != but {
			s.sendRaw(p, b)
		}
	}
}

// info is what others are told of a peer.
func (p *peer) info() *Peer {
	return &Peer{Member: p.id, Player: uint8(p.seat + 1), Watch: p.entry.Watch, Name: p.entry.Name,
		Key: p.entry.Key, Public: p.public(), Locals: p.entry.Locals}
}

// broadcastPeer tells all of a peer, but one.
func (s *Server) broadcastPeer(p, but *peer) {
	s.broadcast(p.match, but, messagePeer, p.info())
	if p.match.voter != nil {
		p.match.voter.Met(s.now, p.info())
		s.wake(p.match, s.now)
	}
}
