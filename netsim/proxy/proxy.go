package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/internal/heap"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/netsim"
)

// Options are for New. Listen and To are needed.
type Options struct {
	Listen     string            // where clients send to, such as ":5000"
	To         string            // where the server is, such as "127.0.0.1:4000"
	Conditions netsim.Conditions // Up is from client to server
	Seed       uint64
	Clients    int           // how many at once at most; 1024 when zero
	Idle       time.Duration // a client silent for so long is forgotten; a minute when zero
}

// Proxy stands between clients and a server.
type Proxy struct {
	o     Options
	to    netip.AddrPort
	front link.Link
	start time.Time

	mu         sync.Mutex
	conditions netsim.Conditions
	cut        bool
	clients    map[netip.AddrPort]*client
	met        uint64 // clients ever
	refused    uint64 // datagrams of clients beyond the limit
	past       [2]netsim.Stats
	due        heap.Heap[time.Duration, parcel] // by the time of each; equal times keep their order
	queued     uint64                           // datagrams that were ever due
	one        [1]link.Datagram
	free       [][]byte
	closed     bool
	sooner     chan struct{} // something is due earlier than all before
	running    sync.WaitGroup
}

// parcel is a datagram on its way.
type parcel struct {
	client *client
	dir    int
	data   []byte
}

// client is one sender, with its own socket towards the server.
type client struct {
	addr  netip.AddrPort
	back  *net.UDPConn
	paths [2]*netsim.Path
	seen  time.Duration
}

// The two directions.
const (
	up = iota
	down
)

const largest = 65507 // what a datagram can be

// New opens the proxy's port. Nothing is forwarded until Run.
func New(o Options) (*Proxy, error) {
	o.Clients, o.Idle = cmp.Or(o.Clients, 1024), cmp.Or(o.Idle, time.Minute)
	to, err := udp.Resolve(context.Background(), o.To)
	if err != nil {
		return nil, fmt.Errorf("where to forward: %w", err)
	}
	front, err := udp.Listen(o.Listen, udp.Options{MaxDatagram: largest})
	if err != nil {
		return nil, fmt.Errorf("where to listen: %w", err)
	}
	return &Proxy{
		o: o, to: to, front: front, start: time.Now(), conditions: o.Conditions,
		clients: make(map[netip.AddrPort]*client),
		sooner:  make(chan struct{}, 1),
	}, nil
}

// Addr is where clients send to.
func (p *Proxy) Addr() netip.AddrPort { return p.front.LocalAddr() }

// Run forwards until the context ends, then closes all sockets.
func (p *Proxy) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.close)
	defer stop()
	p.running.Go(p.deliver)
	err := p.receive()
	p.close()
	p.running.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (p *Proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.front.Close()
	for _, c := range p.clients {
		c.back.Close()
	}
	p.wake()
}

// wake makes deliver look again.
func (p *Proxy) wake() {
	select {
	case p.sooner <- struct{}{}:
	default:
	}
}

// receive takes what clients send.
func (p *Proxy) receive() error {
	batch := make([]link.Datagram, 32)
	for {
		if _, err := p.front.Wait(-1); err != nil {
			return err
		}
		n, err := p.front.Receive(batch)
		if err != nil {
			return err
		}
		p.mu.Lock()
		for _, d := range batch[:n] {
			if c := p.client(d.Addr); c != nil {
				c.seen = p.now()
				p.pass(c, up, d.Data)
			} else {
				p.refused++
			}
		}
		p.mu.Unlock()
	}
}

// answer takes what the server sends to one client, on one socket.
func (p *Proxy) answer(c *client, socket *net.UDPConn) {
	buf := make([]byte, largest)
	for {
		n, err := socket.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// The server's port is closed. It may be restarting; until then each datagram to
			// it brings one such complaint, so this does not spin.
			continue
		}
		p.mu.Lock()
		p.pass(c, down, buf[:n])
		p.mu.Unlock()
	}
}

func (p *Proxy) now() time.Duration { return time.Since(p.start) }

// client finds or admits one. It returns nil when there are too many.
func (p *Proxy) client(addr netip.AddrPort) *client {
	if c := p.clients[addr]; c != nil || p.closed {
		return c
	}
	if len(p.clients) >= p.o.Clients {
		p.forget()
		if len(p.clients) >= p.o.Clients {
			return nil
		}
	}
	c := &client{addr: addr}
	if !p.connect(c) {
		return nil
	}
	p.met++
	for dir, profile := range []netsim.Profile{p.conditions.Up, p.conditions.Down} {
		c.paths[dir] = netsim.NewPath(profile, p.o.Seed+(2*p.met+uint64(dir))*0x9e3779b97f4a7c15)
		if p.cut {
			c.paths[dir].Cut()
		}
	}
	p.clients[addr] = c
	return c
}

// connect opens a client's socket towards the server.
func (p *Proxy) connect(c *client) bool {
	socket, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.to))
	if err != nil {
		return false
	}
	_ = socket.SetReadBuffer(1 << 20)
	c.back = socket
	p.running.Go(func() { p.answer(c, socket) })
	return true
}

// forget drops clients that have been silent for long.
func (p *Proxy) forget() {
	for addr, c := range p.clients {
		if p.now()-c.seen > p.o.Idle {
			for dir := range c.paths {
				p.past[dir] = p.past[dir].Add(c.paths[dir].Stats())
			}
			c.back.Close()
			delete(p.clients, addr)
		}
	}
}

// pass asks a path what becomes of a datagram and schedules it.
func (p *Proxy) pass(c *client, dir int, data []byte) {
	fate := c.paths[dir].Pass(p.now(), len(data))
	for i := range fate.Copies {
		var b []byte
		if k := len(p.free); k > 0 {
			b, p.free = p.free[k-1], p.free[:k-1]
		}
		b = append(b[:0], data...)
		if i == 0 && fate.Flip >= 0 {
			b[fate.Flip/8] ^= 1 << (fate.Flip % 8)
		}
		p.queued++
		p.due = p.due.Push(heap.Item[time.Duration, parcel]{
			Key: fate.At[i], Order: p.queued, Value: parcel{c, dir, b}})
		if p.due[0].Order == p.queued {
			p.wake()
		}
	}
}

// deliver sends what is due, when it is due.
func (p *Proxy) deliver() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return
		}
		wait := time.Second // to forget silent clients now and then
		for len(p.due) > 0 {
			if wait = p.due[0].Key - p.now(); wait > 0 {
				break
			}
			var first heap.Item[time.Duration, parcel]
			first, p.due = p.due.Pop()
			p.send(first.Value)
		}
		if len(p.due) == 0 {
			p.forget()
			wait = time.Second
		}
		p.mu.Unlock()
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-p.sooner:
		}
	}
}

// send puts one datagram on the wire. What the system does not take is lost, as
// it would be without a proxy.
func (p *Proxy) send(i parcel) {
	if i.dir == up {
		_, _ = i.client.back.Write(i.data)
	} else {
		p.one[0] = link.Datagram{Addr: i.client.addr, Data: i.data}
		_, _ = p.front.Send(p.one[:])
	}
	p.free = append(p.free, i.data)
}
