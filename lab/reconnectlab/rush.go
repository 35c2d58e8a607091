package reconnectlab

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A rush is a server and many who come to it: they connect, greet, and have a seat. They are not
// shown the world, since whoever plays costs what players do.
type rush struct {
	server *server.Server
	hello  []byte
	comers []*comer
	now    time.Duration
	every  time.Duration
	in     int // how many have seats
	out    []link.Datagram
	batch  []link.Datagram
}

// A comer is one of them.
type comer struct {
	conn    *conn.Client
	link    *wireless
	greeted bool
	seated  bool
}

func newRush(o *Options, round int) (*rush, error) {
	g, err := lab.NewSubject(o.Title, "", o.Clients)
	if err != nil {
		return nil, err
	}
	w := &rush{every: g.Game.TickLength(), batch: make([]link.Datagram, 64)}
	air := map[netip.AddrPort]*wireless{}
	l := newWireless(air)
	w.server, err = server.New(server.Options{Title: g.Title, Level: g.On(1),
		Links: []link.Link{l}, Players: o.Clients, Spectators: -1, Workers: o.Workers,
		Limits: server.Limits{PerAddress: -1}})
	if err != nil {
		return nil, err
	}
	hello := wire.Message{Kind: wire.Hello, Version: w.server.Protocol().Hash(), Name: "comer"}
	w.hello = hello.Append(nil)
	for i := range o.Clients {
		tok, err := w.server.Token(uint64(i+1), nil, time.Hour)
		if err != nil {
			return nil, err
		}
		c := conn.ClientOptions{Token: tok, Servers: []netip.AddrPort{l.addr}}
		c.Protocol, c.Version = token.ProtocolID(g.Game.Name()), wire.Version
		c.Channels = wire.Channels()
		binary.BigEndian.PutUint64(c.Seed[:], uint64(i+1))
		c.Seed[8] = byte(round + 1)
		k, err := conn.NewClient(c)
		if err != nil {
			return nil, err
		}
		w.comers = append(w.comers, &comer{conn: k, link: newWireless(air)})
	}
	return w, nil
}

// tick lets the first so many come, and then has the server's. It says how long the processor
// worked for that, in the thread that drives the server.
func (w *rush) tick(come int) (time.Duration, error) {
	w.now += w.every
	for _, c := range w.comers[:come] {
		if err := w.play(c); err != nil {
			return 0, err
		}
	}
	began := lab.ThreadTime()
	err := w.server.Tick(w.now)
	return lab.ThreadTime() - began, err
}

// play lets one of them do what it does in a tick.
func (w *rush) play(c *comer) error {
	n, err := c.link.Receive(w.batch)
	if err != nil {
		return err
	}
	c.conn.Receive(w.now, w.batch[:n])
	for _, e := range c.conn.Events() {
		if e.Kind == conn.Message && e.Channel == wire.ControlChannel && !c.seated {
			var m wire.Message
			if m.Parse(e.Data) == nil && m.Kind == wire.Welcome {
				c.seated = true
				w.in++
			}
		}
	}
	if k := c.conn.Conn(); k != nil && k.Open() && !c.greeted {
		c.greeted = true
		if err := k.Send(wire.ControlChannel, w.hello); err != nil {
			return err
		}
	}
	w.out = c.conn.Flush(w.now, w.out[:0])
	_, err = c.link.Send(w.out)
	return err
}

// A wireless is a link in memory, between machines of one goroutine.
type wireless struct {
	link.Link // for what is not used
	addr      netip.AddrPort
	peers     map[netip.AddrPort]*wireless
	inbox     []link.Datagram
	counters  link.Counters
}

// newWireless makes one more link among peers.
func newWireless(peers map[netip.AddrPort]*wireless) *wireless {
	a := [4]byte{10, 0, byte(len(peers) >> 8), byte(len(peers))}
	l := &wireless{addr: netip.AddrPortFrom(netip.AddrFrom4(a), 1), peers: peers}
	peers[l.addr] = l
	return l
}

func (l *wireless) Receive(batch []link.Datagram) (int, error) {
	n := copy(batch, l.inbox)
	l.inbox = l.inbox[:copy(l.inbox, l.inbox[n:])]
	return n, nil
}

func (l *wireless) Send(batch []link.Datagram) (int, error) {
	for _, d := range batch {
		if to := l.peers[d.Addr]; to != nil {
			to.inbox = append(to.inbox,
				link.Datagram{Addr: l.addr, Data: append([]byte(nil), d.Data...)})
		}
		l.counters.Sent++
		l.counters.SentBytes += uint64(len(d.Data))
	}
	return len(batch), nil
}

func (l *wireless) MaxDatagram() int          { return 1200 }
func (l *wireless) LocalAddr() netip.AddrPort { return l.addr }
func (l *wireless) Counters() link.Counters   { return l.counters }
func (l *wireless) Close() error              { return nil }
