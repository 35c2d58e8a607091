package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
)

// crowd is all clients of a run, each with a socket of its own.
type crowd struct {
	spec    *partSpec
	start   time.Time
	players []*player
	turns   int // whose turn it is, counted from the beginning
	kind    int // of traffic now, as an index of kinds

	window    time.Duration // to be measured, or zero
	from      time.Duration // when it begins
	stamp     byte          // of messages that count
	counting  bool
	offered   uint64
	delivered uint64
}

// kinds of traffic, each of which numbers its messages by itself.
var kinds = [...]string{kindFloor, kindUnreliable, kindReliable}

const (
	// Messages begin with a stamp, which tells whether they count, and a number.
	stampSize = 8
	// crowdNap is the shortest time worth sleeping for.
	crowdNap = 500 * time.Microsecond
	// crowdGrace is how long messages may take to come back before they count as lost.
	crowdGrace = 3 * time.Second
	// joinTime is how long the clients may take to connect.
	joinTime = 20 * time.Second
	// settleTime passes between connecting and measuring: what happens only once has happened then.
	settleTime = 1500 * time.Millisecond
	// retryAfter is when a client that waits for an echo stops waiting.
	retryAfter = 50 * time.Millisecond
)

// runCrowd makes traffic from open to close.
func runCrowd(d *desk, spec *partSpec) error {
	c := &crowd{spec: spec, start: tickStart(spec.every()), kind: 1}
	defer func() {
		for _, p := range c.players {
			p.link.Close()
		}
	}()
	for i := range spec.Clients {
		p, err := c.newPlayer(i)
		if err != nil {
			return fmt.Errorf("client %d: %w", i+1, err)
		}
		c.players = append(c.players, p)
	}
	settled := time.Duration(0)
	answered := false
	for {
		now := time.Since(c.start)
		o, ok, err := d.next()
		switch {
		case err != nil:
			return err
		case ok && o.Do == doClose:
			return nil
		case ok && o.Do == doMeasure:
			c.measure(now, &o)
			if err := c.burst(now, o.Burst); err != nil {
				return err
			}
		}
		if err := c.play(now); err != nil {
			return err
		}
		switch {
		case answered:
		case settled == 0 && c.joined():
			settled = now + settleTime
		case settled == 0 && now > joinTime:
			return errors.New("not all clients could connect: this machine is too busy, take fewer clients")
		case settled != 0 && now >= settled:
			answered = true
			if err := d.answer(nil, nil); err != nil {
				return err
			}
		}
		if c.measured(now) {
			if err := d.answer(crowdSample{c.offered, c.delivered}, nil); err != nil {
				return err
			}
		}
		if !spec.Saturate {
			if rest := c.due(c.turns) - time.Since(c.start); rest > 0 {
				time.Sleep(max(rest, crowdNap))
			}
		}
	}
}

// due is when turn n comes: the clients take turns, evenly spread over the tick. They
// leave out the moment at which the server drains its socket, so that each
// tick brings one message of each: otherwise those who come just then would bring two at one tick
// and none at the next, and what is counted for a message would depend on chance.
func (c *crowd) due(n int) time.Duration {
	every, clients := c.spec.every(), len(c.players)
	const around = 10 // a part of the tick, before and after
	spread := every - 2*every/around
	return time.Duration(n/clients)*every + every/around + spread*time.Duration(n%clients)/time.Duration(clients)
}

// play lets all play whose turn has come. Where the clock has run away by more than a
// tick, whole ticks are left out, so that nobody plays twice at once.
func (c *crowd) play(now time.Duration) error {
	if c.spec.Saturate {
		for _, p := range c.players {
			if err := p.playOn(time.Since(c.start)); err != nil {
				return err
			}
		}
		return nil
	}
	if late := now - c.due(c.turns) - c.spec.every(); late > 0 {
		c.turns += (int(late/c.spec.every()) + 1) * len(c.players)
	}
	for c.due(c.turns) <= now {
		p := c.players[c.turns%len(c.players)]
		if err := p.play(time.Since(c.start)); err != nil {
			return err
		}
		c.turns++
	}
	return nil
}

func (c *crowd) joined() bool {
	for _, p := range c.players {
		if c := p.client.Conn(); c == nil || !c.Open() {
			return false
		}
	}
	return true
}

// measure changes to a kind of traffic, and counts its messages from soon on.
func (c *crowd) measure(now time.Duration, o *order) {
	c.kind = max(slices.Index(kinds[:], o.Kind), 0)
	c.window, c.from = o.Window, now+changeTime/2
	c.stamp = max(c.stamp+1, 1)
	c.offered, c.delivered = 0, 0
}

// burst lets everyone send several messages at once.
func (c *crowd) burst(now time.Duration, messages int) error {
	for range messages {
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
	if c.window == 0 || now < until || c.delivered < c.offered && now < until+crowdGrace {
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
	sent    [len(kinds)]uint32 // number of the last message
	heard   [len(kinds)]uint32 // number of the last that came back
	waiting time.Duration
}

func (c *crowd) newPlayer(i int) (*player, error) {
	tok, err := token.ParseText(c.spec.Tokens[i])
	if err != nil {
		return nil, err
	}
	client, err := conn.NewClient(conn.ClientOptions{Options: c.spec.options(c.start), Token: tok})
	if err != nil {
		return nil, err
	}
	host := netip.AddrPortFrom(c.spec.Server.Addr(), 0)
	l, err := udp.Listen(host.String(), udp.Options{ReadBuffer: 256 << 10, WriteBuffer: 256 << 10})
	if err != nil {
		return nil, err
	}
	p := &player{crowd: c, link: l, client: client, batch: make([]link.Datagram, 8), message: make([]byte, c.spec.Size)}
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
			case e.Kind == conn.Message && e.Channel == channelReliable:
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
		p.crowd.delivered++
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
		if err := cn.Send(channelOf(kinds[c.kind]), p.message); err != nil {
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
		c.offered++
	}
}
