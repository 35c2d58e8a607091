package server

import (
	"fmt"
	"net/netip"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A port is one link of a server, with the connections that came by it. Each has a protocol machine
// of its own, since an address has a meaning only on its link. That the same person comes by two of
// them is seen when they take their seat.
type port struct {
	link   link.Link
	keeper link.Keeper // the same, if it has places
	conn   *conn.Server
	batch  []link.Datagram
	out    []link.Datagram
	down   error // why the link has ended
	empty  bool  // nothing waits there, as far as this receive knows
}

const (
	// spareConns is how many beyond those with seats may be connected, for as long as it takes to
	// tell them why not.
	spareConns = 32
)

func (s *Server) newPort(l link.Link, i int) (*port, error) {
	o := conn.ServerOptions{
		Options: s.opt.Conn, Keys: s.opt.Keys, Addresses: s.opt.Addresses, Group: s.group,
		TicketLife: s.opt.TicketLife, TicketsFor: s.opt.TicketsFor,
		MaxClients: s.opt.Players + s.opt.Spectators + spareConns,
		Source:     func(peer netip.AddrPort) netip.Addr { return sourceOf(l, peer) },
		DatagramTo: func(peer netip.AddrPort) int { return link.MaxTo(l, peer) },
	}
	if n := s.opt.Limits.PerAddress; n > 0 {
		o.MaxPerSource = n + sparePerAddress
	}
	o.Protocol, o.Version, o.Channels = token.ProtocolID(s.game.Name()), wire.Version,
		wire.Channels()
	o.Seed = s.portSeed(i)
	o.MaxBulk = -1 // nothing that a client could say is that long
	if most := s.opt.Title.MostUpload(); most > 0 && s.opt.Limits.Uploads >= 0 {
		o.MaxBulk = most
	}
	c, err := conn.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("server: link %d: %w", i, err)
	}
	p := &port{link: l, conn: c, batch: make([]link.Datagram, receiveBatch)}
	if p.keeper, _ = l.(link.Keeper); p.keeper != nil {
		p.keeper.Guard(s.opt.Limits.Proving)
	}
	return p, nil
}

// flush sends all that is due.
func (s *Server) flush() {
	for _, p := range s.ports {
		if p.down == nil {
			p.flush(s)
		}
	}
}

func (p *port) flush(s *Server) {
	p.out = p.conn.Flush(s.now, p.out[:0])
	for done := 0; done < len(p.out); {
		n, err := p.link.Send(p.out[done:])
		if done += n; err == nil {
			continue
		}
		if !link.Passing(err) {
			p.down = err
			s.tell(News{Kind: LinkDown, Err: err})
			return
		}
		p.conn.Refused(done)
		done++
	}
}
