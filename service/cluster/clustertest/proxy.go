package clustertest

import (
	"net"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// Server starts a NATS server with JetStream as operators run it, on loopback, and gives its URL.
func Server(t testing.TB) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true,
		StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	must(t, err)
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(waitLong) {
		t.Fatal("the NATS server does not start")
	}
	return s.ClientURL()
}

// A Proxy passes on connections to a server, and can hold back what passes.
type Proxy struct {
	// URL is where clients reach the server through it.
	URL    string
	target string
	listen net.Listener

	mu    sync.Mutex
	moved *sync.Cond
	held  [2]bool // to the server, to the client
	conns map[net.Conn]bool
	ended bool
	wg    sync.WaitGroup
}

// Through starts a proxy to the server of a URL that Server gave.
func Through(t testing.TB, url string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &Proxy{URL: "nats://" + l.Addr().String(), target: url[len("nats://"):], listen: l,
		conns: map[net.Conn]bool{}}
	p.moved = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		p.Hold(false, false)
		p.Cut()
		p.wg.Wait()
	})
	return p
}

func (p *Proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		ended := p.ended
		p.mu.Unlock()
		if ended {
			p.Cut()
		}
		p.wg.Go(func() { p.copy(0, server, client) })
		p.wg.Go(func() { p.copy(1, client, server) })
	}
}

func (p *Proxy) copy(way int, to, from net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		for p.held[way] && p.conns[to] {
			p.moved.Wait()
		}
		p.mu.Unlock()
		if err == nil {
			_, err = to.Write(b[:n])
		}
		if err != nil {
			_, _ = to.Close(), from.Close() // either may have been closed
			return
		}
	}
}

// Hold holds back what goes to the server, or what comes from it, until it is told otherwise.
func (p *Proxy) Hold(toServer, toClient bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = [2]bool{toServer, toClient}
	p.moved.Broadcast()
}

// Cut closes all connections. What was held back is lost.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // it may have been closed
	}
	clear(p.conns)
	p.moved.Broadcast()
}
