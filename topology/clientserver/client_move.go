package clientserver

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/wire"
)

// This file is how a client goes on at another server: because the one it plays at is silent, has stopped, or asks it to.

const (
	// mostTries is how many servers are tried at once.
	mostTries = 3
	// settleTime is how long it may take after a move until whatever the new server does not tell of is taken for gone.
	settleTime = time.Second
	// tickSlack is by how much the time of two servers of one game may differ.
	tickSlack = 3 * time.Second
	// partTime is how long a server that was left is told so.
	partTime = 2 * time.Second
	// roundPause is what passes before servers are asked again that did not let the client in.
	roundPause = 500 * time.Millisecond
)

// Places are the other servers of the game that the client knows of, the best first.
func (c *Client) Places() []wire.Place { return slices.Clone(c.places) }

// Moving says whether the client is looking for another server to go on at.
func (c *Client) Moving() bool { return c.lost != nil || len(c.tries) > 0 }

// away says whether there is reason to look for another server: it was asked to move, or has to, or hears nothing.
func (c *Client) away() bool { return c.target.Addr.IsValid() || c.adrift() }

// adrift says whether any other server is better than this one.
func (c *Client) adrift() bool { return c.lost != nil || c.unwanted || c.silent() }

// silent says whether the server should have been heard by now, and was not.
func (c *Client) silent() bool {
	w := c.way
	if c.opt.Silence < 0 || len(c.places) == 0 || !w.alive() {
		return false
	}
	wait := c.opt.Silence + w.conn.Conn().Quality().RoundTrip
	return w.due && c.now-w.asked > wait || c.now-w.heard > wait+keepAlive(&c.opt.Conn)
}

func keepAlive(o *conn.Options) time.Duration {
	if o.KeepAlive > 0 {
		return o.KeepAlive
	}
	return time.Second // as package conn has it
}

// tend begins to connect elsewhere when there is reason to.
func (c *Client) tend(passed time.Duration) {
	w := c.way
	w.listen(c.now)
	if passed > stall {
		w.heard += passed - stall // it was this program that slept; where it does so again and again, some of it counts
	}
	if len(c.parting) > 0 {
		c.leaveBehind()
	}
	if c.phase == Ended {
		return
	}
	if c.lost != nil && c.now >= c.retry {
		c.phase, c.err, c.byServer = Ended, c.lost, true
		return
	}
	if !c.away() {
		return // the server is heard again; what has been begun goes on
	}
	if n := len(c.tries); n == mostTries || n > 0 && c.now-c.tries[n-1].since < c.patience() || c.now < c.next {
		return
	}
	if p, wished, ok := c.choose(); ok {
		c.try(p, wished)
	}
}

// patience is how long one server is given before another is tried beside it.
func (c *Client) patience() time.Duration { return max(c.opt.Silence, 300*time.Millisecond) }

// choose says which server to try next, and whether the client was asked to go there. When all have been, it waits and begins anew.
func (c *Client) choose() (p wire.Place, wished, ok bool) {
	if p = c.target; p.Addr.IsValid() {
		c.target = wire.Place{}
		if !c.taken(p.Addr) {
			return p, true, true
		}
	}
	if !c.adrift() {
		return p, false, false
	}
	list := c.places
	if home := c.way.addr(); c.lost != nil && home.IsValid() && !slices.ContainsFunc(list, func(p wire.Place) bool { return p.Addr == home }) {
		list = append(slices.Clip(list), wire.Place{Addr: home}) // it may be back
	}
	for c.turn < len(list) {
		p = list[c.turn]
		c.turn++
		if !c.taken(p.Addr) && !c.barred[p.Addr] {
			return p, false, true
		}
	}
	c.turn, c.next = 0, c.now+roundPause
	return p, false, false
}

// taken says whether a server is being tried, or is the one that is played at.
func (c *Client) taken(a netip.AddrPort) bool {
	return c.lost == nil && c.way.addr() == a || slices.ContainsFunc(c.tries, func(w *way) bool { return w.place.Addr == a })
}

// try begins to connect to another server.
func (c *Client) try(p wire.Place, wished bool) {
	l, own := c.opt.Link, false
	if c.opt.Dial != nil {
		var err error
		if l, err = c.opt.Dial(p); err != nil || l == nil {
			c.stats.Failed++
			c.bar(p)
			return
		}
		own = true
	}
	w, err := c.open(l, c.ticket, p)
	if err != nil {
		c.stats.Failed++
		if own {
			_ = l.Close()
		}
		return
	}
	w.own, w.wished = own, wished
	c.tries = append(c.tries, w)
}

// bar remembers a server that cannot be reached from here at all.
func (c *Client) bar(p wire.Place) {
	if c.barred == nil {
		c.barred = map[netip.AddrPort]bool{}
	}
	c.barred[p.Addr] = true
}

// drop gives up a way that was tried.
func (c *Client) drop(w *way) {
	if i := slices.Index(c.tries, w); i >= 0 {
		c.tries = slices.Delete(c.tries, i, i+1)
	}
	c.part(w)
}

// lose notes that the connection that is played by is no more, if there is another server to go on at.
func (c *Client) lose(err error, to netip.AddrPort) bool {
	if c.lost != nil {
		return true
	}
	if to.IsValid() {
		c.target = wire.Place{Addr: to}
	}
	if c.opt.Return < 0 || len(c.places) == 0 && len(c.tries) == 0 && !c.target.Addr.IsValid() {
		return false
	}
	c.lost, c.retry, c.turn, c.next = err, c.now+c.opt.Return, 0, 0
	if c.phase != Playing {
		c.phase = Connecting
	}
	return true
}

// movedTo reads the address in the note of a server that says goodbye.
func movedTo(note string) netip.AddrPort {
	word, _, _ := strings.Cut(note, " ")
	a, err := netip.ParseAddrPort(word)
	if err != nil {
		return netip.AddrPort{}
	}
	return a
}

// cut is told that a link has ended.
func (c *Client) cut(w *way, err error) {
	err = fmt.Errorf("clientserver: the way to the server has ended: %w", err)
	switch {
	case w != c.way:
		if errors.Is(err, link.ErrAddr) || errors.Is(err, link.ErrNoPeer) {
			c.bar(w.place)
		}
		if slices.Contains(c.tries, w) {
			c.failed(w)
		}
	case c.opt.Dial == nil || !c.lose(err, netip.AddrPort{}): // another way would need the same link
		c.end(err)
	}
}
