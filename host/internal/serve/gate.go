//go:build !js

package serve

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// How many connections a site has at once, and how many of them one address may have; this machine
// itself may have all. Those that became something else, as WebSockets do, do not count.
const (
	mostConns    = 512
	connsOfEach  = 64
	headerTime   = 5 * time.Second
	requestTime  = 10 * time.Second
	answerTime   = 15 * time.Second
	idleTime     = 30 * time.Second
	headersLimit = 16 << 10
)

// A gate is a listener that has so many connections and no more. When all are taken, the oldest of
// the address that has most of them gives way, so that whoever holds on to connections only keeps
// themselves out.
type gate struct {
	net.Listener
	refusals *Refusals

	most int

	mu     sync.Mutex
	open   map[net.Conn]visitor
	counts map[netip.Addr]int // of each source
}

type visitor struct {
	source netip.Addr
	since  time.Time
}

func newGate(l net.Listener, most int, r *Refusals) *gate {
	return &gate{Listener: l, refusals: r, most: most, open: map[net.Conn]visitor{},
		counts: map[netip.Addr]int{}}
}

// Accept gives the next connection for which there is room.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		gone, ok := g.enter(c, time.Now())
		if gone != nil {
			_ = gone.Close()
		}
		if ok {
			return c, nil
		}
		_ = c.Close()
	}
}

// enter says whether a connection may stay, and which has to go for it.
func (g *gate) enter(c net.Conn, now time.Time) (gone net.Conn, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	source := sourceOf(addrOf(c.RemoteAddr().String()))
	switch {
	case source.IsValid() && g.counts[source] >= connsOfEach:
		g.refusals.Count("connections_of_one_address")
		gone = g.oldest(source)
	case len(g.open) >= g.most:
		g.refusals.Count("connections")
		most := source
		for s, n := range g.counts {
			if n > g.counts[most] {
				most = s
			}
		}
		if gone = g.oldest(most); gone == nil {
			return nil, false
		}
	}
	if gone != nil {
		g.remove(gone)
	}
	g.open[c] = visitor{source, now}
	g.counts[source]++
	return gone, true
}

// oldest is the connection of an address that has been there for longest, or nil.
func (g *gate) oldest(source netip.Addr) (found net.Conn) {
	for c, v := range g.open {
		if v.source == source && (found == nil || v.since.Before(g.open[found].since)) {
			found = c
		}
	}
	return found
}

// remove forgets a connection.
func (g *gate) remove(c net.Conn) {
	v, ok := g.open[c]
	if !ok {
		return
	}
	delete(g.open, c)
	if g.counts[v.source]--; g.counts[v.source] == 0 {
		delete(g.counts, v.source)
	}
}

// state is told by the web server what becomes of connections.
func (g *gate) state(c net.Conn, s http.ConnState) {
	if s != http.StateClosed && s != http.StateHijacked {
		return
	}
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(c)
}

// addrOf is the address of someone who asks over HTTP.
func addrOf(remote string) netip.Addr {
	if a, err := netip.ParseAddrPort(remote); err == nil {
		return a.Addr().Unmap()
	}
	a, _ := netip.ParseAddr(remote)
	return a.Unmap()
}

// sourceOf is what an address counts for; this machine itself is not limited.
func sourceOf(a netip.Addr) netip.Addr {
	if !a.IsValid() || a.IsLoopback() {
		return netip.Addr{}
	}
	return link.SourceOf(a)
}

// Refusals count what was refused over HTTP, by reason.
type Refusals struct {
	mu    sync.Mutex
	count map[string]uint64
}

// Count counts one more.
func (r *Refusals) Count(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = map[string]uint64{}
	}
	r.count[why]++
}

// All are the counts, those that are zero included.
func (r *Refusals) All() map[string]uint64 {
	out := map[string]uint64{
		"connections": 0, "connections_of_one_address": 0, "tokens": 0, "tokens_of_one_address": 0,
		"watchers": 0, "origin": 0, "other_pages": 0, "brought_tokens": 0,
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for why, n := range r.count {
		out[why] = n
	}
	return out
}

// A rate lets so many things pass in a second, and some at once.
type rate struct {
	left float64
	at   time.Time
}

func (r *rate) pass(now time.Time, each, atOnce float64) bool {
	if r.at.IsZero() {
		r.left = atOnce
	}
	r.left = min(r.left+each*max(now.Sub(r.at), 0).Seconds(), atOnce)
	r.at = now
	if r.left < 1 {
		return false
	}
	r.left--
	return true
}

// rates are those of many addresses. It remembers so many of them; of those that it forgets it
// knows nothing, and lets them pass as new.
type rates struct{ of map[netip.Addr]*rate }

const mostRates = 4096

func (r *rates) pass(source netip.Addr, now time.Time, each, atOnce float64) bool {
	if !source.IsValid() {
		return true
	}
	x := r.of[source]
	if x == nil {
		if r.of == nil {
			r.of = map[netip.Addr]*rate{}
		}
		if len(r.of) >= mostRates {
			r.forget()
		}
		x = &rate{}
		r.of[source] = x
	}
	return x.pass(now, each, atOnce)
}

// forget forgets the one of a few that has been silent for longest.
func (r *rates) forget() {
	var worst netip.Addr
	n := 0
	for a, x := range r.of {
		if !worst.IsValid() || x.at.Before(r.of[worst].at) {
			worst = a
		}
		if n++; n == 16 {
			break
		}
	}
	delete(r.of, worst)
}
