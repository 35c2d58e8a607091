package clientserver

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A way is one connection of a client to a server, or an attempt at one. A client plays by one of them. While it goes over to another server there are more: those that
// it tries, of which the first by which it is shown the world takes over, and those that it takes leave of.
type way struct {
	conn  *conn.Client
	link  link.Link
	own   bool       // the link was dialled for it
	place wire.Place // where it leads to; the first way of all leads to wherever the token says
	stage Phase      // how far it has come, while it is tried
	since time.Duration
	// wished says that the server which is played at wants the client to go there.
	wished bool
	// spare says that it is not needed after all.
	spare bool
	// lingers says that the server was left, and is still told what the player does.
	lingers bool
	places  []wire.Place // that its server told of

	heard   time.Duration // when something came last
	packets uint64        // that came by then
	due     bool          // an answer is, since asked
	asked   time.Duration
	packed  int // packets of commands that were sent

	welcome  wire.Message // who the client is there
	wanted   wire.Message // the level that is being loaded
	named    time.Duration
	epoch    uint32
	start    *world.World // what the level starts with, until the world is shown
	receiver *replica.Receiver
	fresh    bool          // something came that has not been applied
	sound    time.Duration // when a packet last made sense
	spoilt   int           // packets that made none since then
}

// open begins a connection with the ticket, or the token that the client was given. Without a place it goes to where the token leads.
func (c *Client) open(l link.Link, t token.Token, p wire.Place) (*way, error) {
	o := conn.ClientOptions{Options: c.opt.Conn, Token: t, Servers: c.opt.Servers, ConnectTimeout: c.opt.ConnectTimeout}
	if p.Addr.IsValid() {
		o.Servers = []netip.AddrPort{p.Addr}
	} else if len(o.Servers) == 0 {
		o.Servers = c.opt.Token.Servers // a ticket names none
	}
	o.Protocol, o.Version, o.Channels = token.ProtocolID(c.game.Name()), wire.Version, wire.Channels()
	o.Datagram = max(min(orDatagram(o.Datagram), l.MaxDatagram()), 512)
	if o.Seed == [32]byte{} {
		if _, err := rand.Read(o.Seed[:]); err != nil {
			return nil, fmt.Errorf("clientserver: %w", err)
		}
	}
	o.Seed[0] ^= byte(c.opened) // each machine needs its own
	o.Seed[1] ^= byte(c.opened >> 8)
	c.opened++
	cc, err := conn.NewClient(o)
	if err != nil {
		return nil, err
	}
	return &way{conn: cc, link: l, place: p, since: c.now, heard: c.now}, nil
}

func orDatagram(n int) int {
	if n == 0 {
		return 1200
	}
	return n
}

// addr is where the server of a way is, as far as is known.
func (w *way) addr() netip.AddrPort {
	if cn := w.conn.Conn(); cn != nil {
		return cn.Addr()
	}
	return w.place.Addr
}

// alive says whether there is a connection.
func (w *way) alive() bool {
	cn := w.conn.Conn()
	return cn != nil && cn.Open()
}

// listen notes whether anything came that the server has sealed.
func (w *way) listen(now time.Duration) {
	cn := w.conn.Conn()
	if cn == nil {
		return
	}
	if n := cn.Ledger().ReceivedPackets; n != w.packets {
		w.packets, w.heard, w.due = n, now, false
	}
}

// send sends a message.
func (c *Client) send(w *way, channel uint8, b []byte) {
	if !w.alive() {
		return
	}
	if err := w.conn.Conn().Send(channel, b); err != nil {
		c.stats.Bad++
	}
	if !w.due {
		w.due, w.asked = true, c.now
	}
}

// tell sends a control message.
func (c *Client) tell(w *way, m wire.Message) {
	c.scratch = m.Append(c.scratch[:0])
	c.send(w, wire.ControlChannel, c.scratch)
}

func (c *Client) say(m wire.Message) { c.tell(c.way, m) }

// drain takes in what waits at a link.
func (c *Client) drain(l link.Link) error {
	for {
		n, err := l.Receive(c.batch)
		if err != nil {
			return err
		}
		if len(c.tries)+len(c.parting) > 0 {
			for i := range n {
				c.route(l, c.batch[i:i+1])
			}
		} else {
			for i := 0; i < n; i += handleBatch {
				c.conn.Receive(c.now, c.batch[i:min(i+handleBatch, n)])
				c.handle()
				c.apply()
			}
		}
		if n < len(c.batch) {
			return nil
		}
	}
}

// route gives a datagram to the ways that lead to where it comes from, and to the one that is played by if there is no such.
func (c *Client) route(l link.Link, d []link.Datagram) {
	main, known := c.way, false
	for _, w := range slices.Concat(c.tries, c.parting) {
		if w.link != l || !w.own && w.addr() != d[0].Addr {
			continue
		}
		known = true
		w.conn.Receive(c.now, d)
		c.happened(w)
	}
	if main.link == l && (!known || main.addr() == d[0].Addr) {
		main.conn.Receive(c.now, d)
		c.happened(main)
	}
}

// happened looks at what came of a datagram, or of a flush.
func (c *Client) happened(w *way) {
	switch {
	case w == c.way:
		c.handle()
		c.apply()
	case slices.Contains(c.tries, w):
		c.tried(w)
	default:
		c.lingered(w)
	}
}

// flushWay sends what is due.
func (c *Client) flushWay(w *way) error {
	if w.receiver != nil {
		for _, m := range w.receiver.Outgoing() {
			c.scratch = append(append(c.scratch[:0], byte(w.epoch)), m...)
			c.send(w, wire.StateChannel, c.scratch)
		}
	}
	c.out = w.conn.Flush(c.now, c.out[:0])
	c.happened(w) // a timeout is found by flushing
	var barred error
	for done := 0; done < len(c.out); {
		n, err := w.link.Send(c.out[done:])
		if done += n; err == nil {
			continue
		}
		if !link.Passing(err) {
			return err
		}
		if errors.Is(err, link.ErrAddr) || errors.Is(err, link.ErrNoPeer) {
			barred = err
		}
		w.conn.Refused(done)
		done++
	}
	if w != c.way {
		return barred // for the one that is played by it may pass
	}
	return nil
}

// release lets go of a way's link, if no one else has it.
func (w *way) release() {
	if w.own {
		_ = w.link.Close() // nothing more is expected of it
	}
}
