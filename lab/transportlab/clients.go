package transportlab

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
)

// crowd is all clients of a run, each with a socket of its own.
type crowd struct {
	spec    *spec
	clock   *lab.Clock
	players []*player
	turns   lab.Turns
	kind    int // of traffic now, as an index of kinds

	window   time.Duration // to be measured, or zero
	from     time.Duration // when it begins
	stamp    byte          // of messages that count
	counting bool
	sample   crowdSample
}

const (
	// Messages begin with a stamp, which tells whether they count, and a number.
	stampSize = 8
	// graceTime is how long messages may take to come back before they count as lost.
	graceTime = 3 * time.Second
	// calmTime passes between connecting and measuring: what happens only once has happened then.
	calmTime = 1500 * time.Millisecond
	// retryAfter is when a client that waits for an echo stops waiting.
	retryAfter = 50 * time.Millisecond
)

// runCrowd makes traffic from open to close.
func runCrowd(d *lab.Desk, s *spec) error {
	c := &crowd{
		spec: s, clock: lab.NewClock(s.every()), turns: lab.Turns{
			Every: s.every(), Clients: s.Clients}, kind: 1}
	defer func() {
		for _, p := range c.players {
			p.link.Close()
		}
	}()
	for i := range s.Clients {
		p, err := c.newPlayer(i)
		if err != nil {
			return fmt.Errorf("client %d: %w", i+1, err)
		}
		c.players = append(c.players, p)
	}
	return d.Work(&lab.Shift{
		Clock: c.clock, Joined: c.joined, Measure: c.measure,
		Joining: lab.Joining{Who: "clients", Calm: calmTime, Most: lab.JoinTime},
		Close:   func() error { return nil },
		Turn: func() error {
			now := c.clock.Now()
			next, err := c.play(now)
			if err == nil && c.measured(now) {
				err = d.Answer(c.sample)
			}
			if rest := next - c.clock.Now(); !s.Saturate && rest > 0 {
				time.Sleep(max(rest, lab.Nap))
			}
			return err
		}})
}

// play lets all play whose turn has come, and says when the next one's is.
func (c *crowd) play(now time.Duration) (next time.Duration, err error) {
	if !c.spec.Saturate {
		every := c.spec.every()
		return c.turns.Take(now, every/10, every-every/10,
			func(i int) error { return c.players[i].play(c.clock.Now()) })
	}
	for _, p := range c.players {
		if err := p.playOn(c.clock.Now()); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func (c *crowd) joined() bool {
	return !slices.ContainsFunc(c.players, func(p *player) bool {
		c := p.client.Conn()
		return c == nil || !c.Open()
	})
}

// measure changes to a kind of traffic, and counts its messages from soon on. To begin with,
// everyone may send several at once.
func (c *crowd) measure(o lab.Order) error {
	now := c.clock.Now()
	c.kind = max(slices.Index(kinds, o.Kind), 0)
	c.window, c.from = o.Window, now+lab.ChangeTime/2
	c.stamp = max(c.stamp+1, 1)
	c.sample = crowdSample{}
	for range o.Burst {
		for _, p := range c.players {
			if err := p.send(now); err != nil {
				return err
			}
		}
	}
	return nil
}

// measured reports whether the window is over and all that counted is back, or given up.
func (c *crowd) measured(now time.Duration) bool {
	until := c.from + c.window
	c.counting = c.window != 0 && now >= c.from && now < until
	if c.window == 0 || now < until || c.sample.Delivered < c.sample.Offered && now < until+
		graceTime {
		return false
	}
	c.window = 0
	return true
}

// player is one client. The same socket serves the connection and the floor.
type player struct {
	crowd   *crowd
	link    link.Link
	client  *conn.Client
	batch   []link.Datagram
	out     []link.Datagram
	message []byte
	sent    [3]uint32 // by kind: number of the last message
	heard   [3]uint32 // number of the last that came back
	waiting time.Duration
}

func (c *crowd) newPlayer(i int) (*player, error) {
	tok, err := token.ParseText(c.spec.Tokens[i])
	if err != nil {
		return nil, err
	}
	client, err := conn.NewClient(conn.ClientOptions{Options: c.spec.options(c.clock), Token: tok})
	if err != nil {
		return nil, err
	}
	host := netip.AddrPortFrom(c.spec.Server.Addr(), 0)
	l, err := udp.Listen(host.String(), udp.Options{ReadBuffer: 256 << 10, WriteBuffer: 256 << 10})
	if err != nil {
		return nil, err
	}
	p := &player{
		crowd: c, link: l, client: client, batch: make([]link.Datagram, 8),
		message: make([]byte, c.spec.Size)}
	for i := range p.message {
		p.message[i] = byte(i)
	}
	return p, nil
}

// play hears what has come back and sends one message.
func (p *player) play(now time.Duration) error {
	if err := p.receive(now); err != nil {
		return err
	}
	return p.send(now)
}

// playOn sends the next message as soon as the last has come back.
func (p *player) playOn(now time.Duration) error {
	if err := p.receive(now); err != nil {
		return err
	}
	if kind := p.crowd.kind; p.heard[kind] == p.sent[kind] || now > p.waiting {
		p.waiting = now + retryAfter
		return p.send(now)
	}
	return nil
}

func (p *player) receive(now time.Duration) error {
	for {
		n, err := p.link.Receive(p.batch)
		if err != nil {
			return err
		}
		for i := range n {
			if d := &p.batch[i]; d.Addr == p.crowd.spec.Floor {
				if err := p.hear(0, d.Data); err != nil {
					return err
				}
			} else {
				p.client.Receive(now, p.batch[i:i+1])
			}
		}
		for _, e := range p.client.Events() {
			switch {
			case e.Kind == conn.Message && e.Channel == channels[kindReliable]:
				err = p.hear(2, e.Data)
			case e.Kind == conn.Message:
				err = p.hear(1, e.Data)
			case e.Kind == conn.Disconnected:
				err = fmt.Errorf("a client lost its connection: %v", e.Reason)
			}
			if err != nil {
				return err
			}
		}
		if n < len(p.batch) {
			return nil
		}
	}
}

// hear takes an echo, and sees that it is one.
func (p *player) hear(kind int, data []byte) error {
	n := uint32(0)
	if len(data) == len(p.message) {
		n = binary.BigEndian.Uint32(data[4:])
	}
	if n == 0 || n > p.sent[kind] || string(data[stampSize:]) != string(p.message[stampSize:]) {
		return fmt.Errorf("%s: an echo is not what was sent", kinds[kind])
	}
	if kinds[kind] == kindReliable && n != p.heard[kind]+1 {
		return fmt.Errorf("reliable message %d came back after %d", n, p.heard[kind])
	}
	p.heard[kind] = n
	if data[0] == p.crowd.stamp {
		p.crowd.sample.Delivered++
	}
	return nil
}

func (p *player) send(now time.Duration) error {
	c := p.crowd
	p.message[0] = 0
	if c.counting {
		p.message[0] = c.stamp
	}
	binary.BigEndian.PutUint32(p.message[4:], p.sent[c.kind]+1)
	p.out = p.out[:0]
	switch cn := p.client.Conn(); {
	case kinds[c.kind] == kindFloor:
		p.out = append(p.out, link.Datagram{Addr: c.spec.Floor, Data: p.message})
		p.offer()
	case cn != nil && cn.Open():
		if err := cn.Send(channels[kinds[c.kind]], p.message); err != nil {
			return err
		}
		p.offer()
		fallthrough
	default:
		p.out = p.client.Flush(now, p.out)
	}
	_, err := link.SendAll(p.link, p.out)
	return err
}

// offer counts a message on its way.
func (p *player) offer() {
	c := p.crowd
	p.sent[c.kind]++
	if c.counting {
		c.sample.Offered++
	}
}
