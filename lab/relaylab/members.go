package relaylab

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/relay"
)

// crowd is all members of all matches.
type crowd struct {
	spec    *spec
	clock   *lab.Clock
	members []*bot
	gangs   []*gang
}

// gang is a share of the members, whole matches of them, driven by one goroutine.
type gang struct {
	turns   lab.Turns
	members []*bot
}

// bot is one member, with a socket of its own.
type bot struct {
	crowd  *crowd
	link   link.Link
	client *relay.Client
	first  *bot // who creates the match
	asked  bool
	in     *relay.Welcome
	plays  bool
	rows   uint64
	random uint32
	batch  []link.Datagram
	out    []link.Datagram
	item   [8]byte
}

const (
	game = "coeval bench relay"
	// ahead is how many rows the members command ahead, beside what goes with one packet.
	ahead = 3
)

// runMembers plays from open to close.
func runMembers(d *lab.Desk, s *spec) error {
	c := &crowd{spec: s, clock: lab.NewClock(step)}
	c.clock.SetPace(s.Pace, time.Now())
	every := time.Second / time.Duration(s.Send)
	n := max(1, min(runtime.NumCPU()-1, s.Matches))
	for range n {
		c.gangs = append(c.gangs, &gang{turns: lab.Turns{Every: every}})
	}
	defer func() {
		for _, b := range c.members {
			b.link.Close()
		}
	}()
	for i := range s.Matches * s.Players {
		b, err := c.newBot(i)
		if err != nil {
			return fmt.Errorf("member %d: %w", i+1, err)
		}
		c.members = append(c.members, b)
		b.first = c.members[i/s.Players*s.Players]
		g := c.gangs[i/s.Players%n]
		g.members = append(g.members, b)
		g.turns.Clients++
	}
	var began uint64
	w := lab.Shift{
		Clock: c.clock, Turn: c.turn, Close: func() error { return nil },
		Begin: func() { began = c.count() },
		End:   func() any { return membersSample{c.count() - began} },
		Joined: func() bool {
			for _, b := range c.members {
				if !b.plays {
					return false
				}
			}
			return true
		},
		Joining: lab.Joining{Who: "matches", Calm: 300 * time.Millisecond, Most: 3 * lab.JoinTime},
	}
	w.Measure = func(o lab.Order) error {
		w.Window.Set(c.clock.Now()+lab.ChangeTime, o.Window)
		return nil
	}
	return d.Work(&w)
}

func (c *crowd) count() (rows uint64) {
	for _, b := range c.members {
		rows += b.rows
	}
	return rows
}

func (c *crowd) newBot(i int) (*bot, error) {
	tok, err := token.ParseText(c.spec.Tokens[i])
	if err != nil {
		return nil, err
	}
	o := conn.ClientOptions{Options: c.spec.options(c.clock), Token: tok,
		ConnectTimeout: 3 * lab.JoinTime}
	client, err := relay.NewClient(o)
	if err != nil {
		return nil, err
	}
	l, err := udp.Listen(netip.AddrPortFrom(c.spec.Server.Addr(), 0).String(),
		udp.Options{ReadBuffer: 64 << 10, WriteBuffer: 64 << 10})
	if err != nil {
		return nil, err
	}
	return &bot{crowd: c, link: l, client: client, random: uint32(i)*2654435761 + 1,
		batch: make([]link.Datagram, 8)}, nil
}

// turn lets every gang play a few milliseconds, and waits for all: between turns nobody plays, so
// that orders and counts need no locks.
func (c *crowd) turn() error {
	const stretch = 8 * time.Millisecond
	until := c.clock.Now() + stretch
	errs := make([]error, len(c.gangs))
	var wg sync.WaitGroup
	for i, g := range c.gangs {
		wg.Go(func() {
			for errs[i] == nil && c.clock.Now() < until {
				var next time.Duration
				next, errs[i] = g.turns.Take(c.clock.Now(), 0, g.turns.Every,
					func(k int) error { return g.members[k].play(c.clock.Now()) })
				if rest := next - c.clock.Now(); rest > 0 {
					c.clock.Sleep(max(rest, lab.Nap))
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// play hears what has come, commands as many ticks as have passed, and sends.
func (b *bot) play(now time.Duration) error {
	for {
		n, err := b.link.Receive(b.batch)
		if err != nil {
			return err
		}
		b.client.Receive(now, b.batch[:n])
		if err := b.handle(); err != nil {
			return err
		}
		if n < len(b.batch) {
			break
		}
	}
	for _, ok := b.client.NextRow(); ok; _, ok = b.client.NextRow() {
		b.rows++
		b.plays = true
	}
	if err := b.ask(); err != nil {
		return err
	}
	if b.in != nil {
		s := b.crowd.spec
		each := s.Rate / s.Send
		for n := 0; n < 2*each &&
			b.client.Ahead() < min(ahead+each+b.client.Owed(), relay.MaxAhead); n++ {
			if _, err := b.client.Submit(b.command()); err != nil {
				return err
			}
			if n+1 >= each && b.client.Ahead() >= ahead {
				break
			}
		}
	}
	b.out = b.client.Flush(now, b.out[:0])
	_, err := link.SendAll(b.link, b.out)
	return err
}

// ask creates the match, or joins the one that the first created.
func (b *bot) ask() (err error) {
	switch s := b.crowd.spec; {
	case b.asked:
	case b.first == b:
		b.asked = true
		err = b.client.Create(relay.Match{Game: game, Seats: uint8(s.Players),
			Start: uint8(s.Players), Rate: uint8(s.Rate), SendRate: uint8(s.Send)}, relay.Entry{})
	case b.first.in != nil:
		b.asked = true
		err = b.client.Join(b.first.in.Code, game, relay.Rows, [relay.SecretSize]byte{},
			relay.Entry{})
	}
	return err
}

func (b *bot) handle() error {
	for _, e := range b.client.Events() {
		switch e.Kind {
		case relay.Welcomed:
			b.in = e.Welcome
			return b.client.Ready()
		case relay.Refused:
			return fmt.Errorf("a member is refused: %s", e.Text)
		case relay.Ended:
			return fmt.Errorf("a member lost its connection: %s", relay.ReasonText(e.Reason))
		}
	}
	return nil
}

// command is an item: 2.3 bytes in the mean in nine of ten ticks, and nothing otherwise.
func (b *bot) command() []byte { return item(&b.random, b.item[:]) }

func item(random *uint32, buf []byte) []byte {
	x := *random
	x ^= x << 13
	x ^= x >> 17
	x ^= x << 5
	*random = x
	n := 0
	if x%10 != 0 {
		n = 2
		switch y := x / 10 % 10; {
		case y == 0:
			n = 1
		case y < 5:
			n = 3
		}
	}
	for i := range n {
		buf[i] = byte(x >> (8 * i))
	}
	return buf[:n]
}
