package conn

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// A simDisk is a journal of used tokens that takes its time, by the clock of a simulated network.
type simDisk struct {
	net   *netsim.Net
	slow  time.Duration // how long a mark takes at most
	away  time.Duration // until when nothing becomes durable
	full  bool          // no mark is taken
	marks []token.Mark
	due   []time.Duration // when each is durable; that of one before is no later
}

func (d *simDisk) Mark(m token.Mark) (uint64, bool) {
	if d.full {
		return 0, false
	}
	at := d.net.Now() + d.net.Rand().Duration(d.slow+1)
	if n := len(d.due); n > 0 {
		at = max(at, d.due[n-1])
	}
	d.marks, d.due = append(d.marks, m), append(d.due, max(at, d.away))
	return uint64(len(d.marks)), true
}

func (d *simDisk) Marked() uint64 {
	i := slices.IndexFunc(d.due, func(at time.Duration) bool { return at > d.net.Now() })
	if i < 0 {
		i = len(d.due)
	}
	return uint64(i)
}

// has says whether it is durable that a token, or a ticket, was used.
func (d *simDisk) has(client uint64, resumed bool) bool {
	return slices.ContainsFunc(d.marks[:d.Marked()], func(m token.Mark) bool {
		return m.Client == client && m.Resumed == resumed
	})
}

// crash is what the next program finds: what was durable, and as chance has it some of what was not
// said to be.
func (d *simDisk) crash() *simDisk {
	n := int(d.Marked())
	n += d.net.Rand().IntN(len(d.marks) - n + 1)
	return &simDisk{net: d.net, slow: d.slow, marks: d.marks[:n:n],
		due: make([]time.Duration, n)}
}

// A gated is a server whose used tokens are on a disk, which is killed and started again.
type gated struct {
	*pair
	t     *testing.T
	disk  *simDisk
	lives int
}

func newGated(t *testing.T, n *netsim.Net, disk *simDisk) *gated {
	g := &gated{t: t, disk: disk}
	g.pair = newPair(t, n, pairOptions{server: func(o *ServerOptions) { o.Used = NewUsed(disk) }})
	return g
}

// kill ends the server without a word, and starts another at its address with what the disk has.
func (g *gated) kill() {
	g.t.Helper()
	addr := g.sp.ep.LocalAddr()
	g.sp.ep.Close()
	g.lives++
	g.disk = g.disk.crash()
	o := ServerOptions{Options: testOptions(g.net.Seed()*2 + uint64(1001+g.lives)),
		Keys: []token.Key{testKey}, Addresses: []netip.AddrPort{addr}}
	o.Used = NewUsed(g.disk)
	o.Used.Kept(g.disk.marks, 0, 0)
	server, err := NewServer(o)
	if err != nil {
		g.t.Fatal(err)
	}
	g.server, g.sc = server, nil
	g.sp = &party{ep: g.net.EndpointAt(fmt.Sprint("server", g.lives), addr), machine: server,
		on: g.sp.on}
	g.sp.start()
}

// try has somebody come with a token, and gives what came of it.
func (g *gated) try(name string, tok token.Token) (*Client, error) {
	_, c := g.again(g.t, name, tok, g.server)
	if !g.net.RunUntil(40*time.Second, func() bool {
		return c.Conn() != nil || c.Reason() != ReasonNone
	}) {
		return nil, fmt.Errorf("%s hears nothing: %+v", name, g.server.Stats())
	}
	return c, nil
}

// TestUsedAfterACrash: over networks of every kind, with a disk that is slow, away or full for a
// while, a server is killed at a random moment. Nobody was in before it was durable that the token
// was used; so a token that has let someone in lets nobody in afterwards, and the player's ticket
// does. A token that let nobody in is still good, or counts as used if its mark came to be written.
func TestUsedAfterACrash(t *testing.T) {
	for _, cond := range []netsim.Conditions{netsim.WiFi, hostile} {
		t.Run(cond.Name, func(t *testing.T) {
			simtest.Run(t, seeds(40), func(n *netsim.Net) error {
				n.Use(cond)
				return usedAfterACrash(t, n)
			})
		})
	}
}

func usedAfterACrash(t *testing.T, n *netsim.Net) error {
	r := n.Rand()
	disk := &simDisk{net: n, slow: []time.Duration{0, 20 * time.Millisecond, 2 * time.Second,
		9 * time.Second}[r.IntN(4)]}
	if r.Chance(0.25) {
		disk.away = r.Duration(12 * time.Second)
	}
	if disk.full = r.Chance(0.1); disk.full {
		n.After(r.Duration(3*time.Second), func() { disk.full = false })
	}
	g := newGated(t, n, disk)
	tok := g.client.co.Token
	var early error
	in := func() bool { return g.client.Conn() != nil || g.sc != nil }
	n.RunUntil(r.Duration(8*time.Second)+time.Millisecond, func() bool {
		if in() && !disk.has(7, false) {
			early = fmt.Errorf("somebody is in at %v, and the token's mark is not durable", n.Now())
		}
		return early != nil
	})
	was, heard := in(), g.client.Conn() != nil
	ticket, can := g.client.Ticket()
	if early != nil {
		return early
	}
	g.kill()
	durable := len(g.disk.marks) > 0
	if was && !durable {
		return fmt.Errorf("the mark is lost, and somebody was in")
	}
	g.cp.ep.Close() // the player's program as well
	if err := g.afterwards(tok, durable); err != nil {
		return err
	}
	if heard && can {
		c, err := g.try("back", ticket)
		if err != nil || c.Conn() == nil {
			return fmt.Errorf("the ticket is refused: %v, %v", c.Reason(), err)
		}
	}
	return nil
}

// afterwards tries a token at the server that was started again.
func (g *gated) afterwards(tok token.Token, used bool) error {
	c, err := g.try("again", tok)
	switch {
	case err != nil:
		return err
	case used && c.Reason() != ReasonTokenUsed:
		return fmt.Errorf("a token that was used before: let in %t, %v", c.Conn() != nil,
			c.Reason())
	case !used && c.Conn() == nil && (c.Reason() != ReasonUnready || g.disk.slow < markPatience):
		return fmt.Errorf("a token that was never used: %v", c.Reason())
	}
	return nil
}

// TestNotReady: while the disk takes nothing, somebody new is told after a while that the server is
// not ready, and gets in with the same token when the disk is back; meanwhile the token is nobody
// else's, and a player with a ticket does not depend on the disk.
func TestNotReady(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint("full=", full), func(t *testing.T) {
			simtest.Run(t, seeds(20), func(n *netsim.Net) error {
				n.Use(netsim.WiFi)
				return notReady(t, n, full)
			})
		})
	}
}

func notReady(t *testing.T, n *netsim.Net, full bool) error {
	disk := &simDisk{net: n}
	g := newGated(t, n, disk)
	if err := g.tryConnect(); err != nil {
		return err
	}
	if !n.RunUntil(20*time.Second, func() bool { _, ok := g.client.Ticket(); return ok }) {
		return fmt.Errorf("no ticket")
	}
	ticket, _ := g.client.Ticket()
	disk.full, disk.away = full, time.Hour
	fresh := testToken(t, 8, func(g *token.Grant) { g.Servers = nil })
	c, err := g.try("newcomer", fresh)
	if err != nil || c.Reason() != ReasonUnready || g.server.Stats().Refusals[ReasonUnready] == 0 {
		return fmt.Errorf("without a disk a newcomer is told %v, %v", c.Reason(), err)
	}
	if len(g.server.exchanges.by)+len(g.server.exchanges.asked) > 0 || g.server.Len() != 1 {
		return fmt.Errorf("something is left of who was turned away: %d", g.server.Len())
	}
	g.cp.ep.Close()
	if c, err = g.try("returned", ticket); err != nil || c.Conn() == nil {
		return fmt.Errorf("without a disk a player with a ticket is told %v, %v", c.Reason(), err)
	}
	disk.full, disk.away = false, 0
	for i := range disk.due {
		disk.due[i] = min(disk.due[i], n.Now())
	}
	if c, err = g.try("once more", fresh); err != nil || c.Conn() == nil {
		return fmt.Errorf("with the disk back, the same token: %v, %v", c.Reason(), err)
	}
	if c, err = g.try("somebody else", fresh); err != nil || c.Reason() != ReasonTokenUsed {
		return fmt.Errorf("the same token for somebody else: %v, %v", c.Reason(), err)
	}
	if len(disk.marks) == 0 || !disk.has(8, false) {
		return fmt.Errorf("the mark is not on the disk")
	}
	return nil
}

// TestTicketIsMarkedWithTheNext: that a ticket was used is written down when its player has the
// next one, and not before: a crash in between leaves the player a ticket that is good.
func TestTicketIsMarkedWithTheNext(t *testing.T) {
	simtest.Run(t, seeds(30), func(n *netsim.Net) error {
		n.Use(hostile)
		g := newGated(t, n, &simDisk{net: n})
		if err := g.tryConnect(); err != nil {
			return err
		}
		if !n.RunUntil(20*time.Second, func() bool { _, ok := g.client.Ticket(); return ok }) {
			return fmt.Errorf("no ticket")
		}
		ticket, _ := g.client.Ticket()
		g.cp.ep.Close()
		g.sc = nil
		back, c := g.again(t, "returned", ticket, g.server)
		early := false
		n.RunUntil(n.Rand().Duration(3*time.Second)+time.Millisecond, func() bool {
			next, ok := c.Ticket()
			early = early || g.disk.has(7, true) && (!ok || next.Text() == ticket.Text())
			return early
		})
		if early {
			return fmt.Errorf("a ticket is marked before its player has the next")
		}
		next, ok := c.Ticket()
		if !ok {
			next = ticket
		}
		g.kill()
		back.ep.Close()
		last, err := g.try("after the crash", next)
		if err != nil || last.Conn() == nil {
			return fmt.Errorf("the player's ticket is refused: %v, %v", last.Reason(), err)
		}
		return nil
	})
}
