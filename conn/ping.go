package conn

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// A ping measures the way to a server without connecting to it. It is a request, as that of any
// stranger, and the server's challenge with the nonce of the request is the answer. The challenge
// is not answered, so the server stores nothing; it is shorter than the request, so nobody can be
// made to send more than was received; and whoever has not seen the request cannot make it.
type ping struct {
	addr  netip.AddrPort
	nonce [nonceSize]byte
	sent  time.Duration // by the client's clock, or unsent
}

// A Pong is the answer of a server to a ping.
type Pong struct {
	Addr netip.AddrPort
	Trip time.Duration // there and back, and what the server took
}

// pings are those of one client.
type pings struct {
	open     []ping // the oldest first
	answered []Pong // since they were asked for
}

const (
	unsent = time.Duration(-1)
	// maxPings bounds how many may be open; the oldest is forgotten for another.
	maxPings = 64
)

// Ping has a server be measured, with the next Flush; see Pongs. There need not be a connection.
// It takes 64 bytes. A server is to be asked some times, as a ping or its answer may be lost.
func (c *Client) Ping(addr netip.AddrPort) {
	if c.state == stateEnded || !addr.IsValid() {
		return
	}
	if len(c.pings.open) == maxPings {
		c.pings.open = slices.Delete(c.pings.open, 0, 1)
	}
	p := ping{addr: addr, sent: unsent}
	c.random.Read(p.nonce[:])
	c.pings.open = append(c.pings.open, p)
}

// Pongs appends the answers that came since it was called last.
func (c *Client) Pongs(list []Pong) []Pong {
	if c.race != nil {
		return list // they are the race's
	}
	list = append(list, c.pings.answered...)
	c.pings.answered = c.pings.answered[:0]
	return list
}

// flushPings sends what Ping asked for.
func (c *Client) flushPings() {
	for i := range c.pings.open {
		if p := &c.pings.open[i]; p.sent == unsent {
			p.sent = c.now
			r := request{protocol: c.opt.Protocol, version: c.opt.Version, nonce: p.nonce}
			c.reply(p.addr, requestSize, r.append)
		}
	}
}

// receivePong takes the answer to a ping, and says whether a datagram is one.
func (c *Client) receivePong(d *link.Datagram) bool {
	var ch challenge
	if len(c.pings.open) == 0 || !ch.parse(d.Data) {
		return false
	}
	i := slices.IndexFunc(c.pings.open, func(p ping) bool {
		return p.nonce == ch.nonce && p.addr == d.Addr && p.sent != unsent
	})
	if i < 0 {
		return false
	}
	trip := c.now - c.pings.open[i].sent - max(0, min(d.Waited, maxStep))
	c.pings.open = slices.Delete(c.pings.open, i, i+1)
	if len(c.pings.answered) < maxPings {
		c.pings.answered = append(c.pings.answered, Pong{d.Addr, max(trip, 0)})
	}
	return true
}

// A race finds out which of several servers is the nearest, before the client connects to it. All
// are pinged some times. A server that has not answered when the nearest has done so a few times,
// and a little later, is further away, or is reached badly.
type race struct {
	places []raced
	began  time.Duration
	next   time.Duration // when all are pinged again
	rounds int
}

// raced is one of the servers of a race.
type raced struct {
	addr  netip.AddrPort
	trips []time.Duration
}

const (
	raceRounds = 5
	raceEvery  = 40 * time.Millisecond
	raceEnough = 3 // answers that tell how far a server is
	// raceMost is how long a race takes if nobody answers often enough.
	raceMost = 600 * time.Millisecond
)

// startRace begins to measure, if there is a choice.
func (c *Client) startRace() {
	if !c.co.Nearest || len(c.servers) < 2 {
		return
	}
	c.race = &race{began: c.now, next: c.now}
	for _, a := range c.servers {
		c.race.places = append(c.race.places, raced{addr: a})
	}
}

// racing goes on with a race, and says whether it goes on. In the end the servers are in the order
// in which they are to be tried.
func (c *Client) racing() bool {
	r := c.race
	if r == nil {
		return false
	}
	if c.now >= r.next {
		r.next = c.now + raceEvery
		if r.rounds < raceRounds {
			r.rounds++
			for _, p := range r.places {
				c.Ping(p.addr)
			}
		}
	}
	for _, g := range c.pings.answered {
		for i := range r.places {
			if p := &r.places[i]; p.addr == g.Addr {
				p.trips = append(p.trips, g.Trip)
			}
		}
	}
	c.pings.answered = c.pings.answered[:0]
	slices.SortStableFunc(r.places, func(a, b raced) int { return cmp.Compare(a.far(), b.far()) })
	// Someone as near as the best would have answered by now, unless much was lost.
	best := &r.places[0]
	if len(best.trips) >= raceEnough && r.rounds == raceRounds &&
		c.now-r.began > raceRounds*raceEvery+best.far() || c.now-r.began > raceMost {
		for i := range r.places {
			c.servers[i] = r.places[i].addr
		}
		c.race = nil
		c.began, c.next = c.now, c.now
		return false
	}
	return true
}

// far is the median of what was measured; a server that answered less than the others may be near,
// but is not reached well, and one that never answered is the last.
func (p *raced) far() time.Duration {
	if len(p.trips) == 0 {
		return time.Hour
	}
	list := slices.Clone(p.trips)
	slices.Sort(list)
	far := list[len(list)/2]
	if lack := raceEnough - len(list); lack > 0 {
		far += time.Duration(lack) * raceEvery
	}
	return far
}
