package conn

import (
	"crypto/ecdh"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// Client is the end that connects. Like Server it does nothing by itself.
type Client struct {
	machine
	co      ClientOptions
	state   clientState
	servers []netip.AddrPort
	server  int // which is being tried
	keys    handshakeKeys

	probe    probe
	pings    pings
	race     *race // until it is known which server is the nearest
	request  request
	response response
	own      identifier
	digest   [32]byte
	private  *ecdh.PrivateKey // for the server that is being tried, once it has answered
	share    [shareSize]byte  // of it

	began   time.Duration // with this server
	next    time.Duration // when to send again
	wait    time.Duration
	asked   time.Duration // when the first response went out
	sends   int
	reason  Reason // why it ended, or why the last server did not want us
	hint    Reason // what an unproved refusal said
	started bool

	conn *Conn
}

type clientState uint8

const (
	stateRequesting clientState = iota
	stateResponding
	stateConnected
	stateEnded
)

// NewClient makes a client that will connect with a token. It opens no socket; the
// first Flush returns the first datagram.
func NewClient(o ClientOptions) (*Client, error) {
	if err := o.fill(mostBulk); err != nil {
		return nil, err
	}
	servers := o.Servers
	if len(servers) == 0 {
		servers = o.Token.Servers
	}
	if len(servers) == 0 {
		return nil, errors.New(
			"conn: no server to connect to, the token names none: set ClientOptions.Servers")
	}
	if n := len(o.Token.Sealed); n < token.SealedMin || n > token.SealedMax {
		return nil, fmt.Errorf("conn: no token to connect with: %w", token.ErrMalformed)
	}
	fillDuration(&o.ConnectTimeout, 10*time.Second)
	c := &Client{co: o, servers: slices.Clone(servers)}
	c.machine.init(o.Options)
	c.co.Seed = [32]byte{}
	c.keys = deriveHandshake(&o.Token.Secret)
	c.digest = sha256.Sum256(o.Token.Sealed)
	c.own = identifier(c.random.Uint64() & (1<<identifierBits - 1))
	return c, nil
}

// Resending in the handshake goes on quickly for a second and then slows down. A server under a
// flood of requests draws lots whom to answer, so each is a chance.
const (
	resendFirst = 100 * time.Millisecond
	resendQuick = 10
	resendMost  = 500 * time.Millisecond
	// After this many responses without an answer the cookie may be stale.
	responseTries = 4
)

// Receive handles datagrams, as Server.Receive does.
func (c *Client) Receive(now time.Duration, batch []link.Datagram) {
	c.advance(now)
	for i := range batch {
		d := &batch[i]
		b := d.Data
		if len(b) >= dataMin && b[0]&kindData != 0 {
			if c.conn == nil || headerIdentifier(b) != c.own {
				c.stats.Unknown++
				continue
			}
			c.waited = max(0, min(d.Waited, maxStep))
			c.conn.receive(b, d.Addr)
			c.waited = 0
			continue
		}
		c.receiveHandshake(d)
	}
}

// Flush sends what is due and appends the datagrams to out. Their memory is good
// until the next Flush.
func (c *Client) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	c.advance(now)
	c.frames.giveUp()
	switch c.state {
	case stateRequesting, stateResponding:
		c.flushHandshake()
		c.flushPings()
	case stateConnected:
		c.flushProbe()
		c.flushPings()
		c.conn.flush()
		if c.conn.phase == phaseGone {
			c.state = stateEnded
		}
	}
	return c.out.take(out)
}

// Conn is the connection, or nil until Connected was seen.
func (c *Client) Conn() *Conn { return c.conn }

// Ticket is the latest resumption ticket, by which the same player can return after
// a crash of either program, at the servers that the token named or another of their group. Keep it
// where a restarted program finds it and others do not. It works once at each server.
func (c *Client) Ticket() (token.Token, bool) { return c.ticket, c.hasTicket }

// Ledger sums up all bytes, handshake included.
func (c *Client) Ledger() Ledger {
	sum := c.handled
	if c.conn != nil {
		sum.Add(&c.conn.book)
	}
	return sum
}

// Done reports whether the client has ended and has nothing left to send.
func (c *Client) Done() bool { return c.state == stateEnded }

// Reason says why a client that never got in, did not.
func (c *Client) Reason() Reason { return c.reason }

// Close ends the connection, or the attempt to make one.
func (c *Client) Close(reason Reason, note string) {
	if c.conn != nil {
		c.conn.Close(reason, note)
		return
	}
	if c.state != stateEnded {
		c.fail(ReasonLeft)
	}
}

// Deadline is the latest time by which Flush should be called, if nothing comes
// and nothing is sent before.
func (c *Client) Deadline() time.Duration {
	d := c.now + maxStep
	switch c.state {
	case stateRequesting, stateResponding:
		if d = min(d, c.next); c.race != nil {
			d = c.race.next
		}
	case stateConnected:
		d = min(d, c.conn.deadline())
	}
	return c.raw + (max(d, c.now) - c.now)
}

// flushHandshake sends the request or the response again when it is time.
func (c *Client) flushHandshake() {
	if !c.started {
		c.started = true
		c.try()
		c.startRace()
	}
	if c.race != nil {
		if c.racing() {
			return
		}
		c.try()
	}
	if c.now-c.began > c.co.ConnectTimeout {
		c.nextServer(ReasonTimeout)
		if c.state == stateEnded {
			return
		}
	}
	if c.now < c.next {
		return
	}
	addr := c.servers[c.server]
	if c.state == stateRequesting || c.sends >= responseTries {
		// After some responses without an answer the server may have been started anew,
		// and know nothing of its cookie. So ask for another as well.
		c.reply(addr, requestSize, c.request.append)
	}
	if c.state == stateResponding {
		if c.sends == 0 {
			c.asked = c.now
		}
		c.reply(addr, responseMax, func(b []byte) []byte { return c.response.append(b, &c.keys) })
	}
	c.sends++
	c.next = c.now + c.wait
	if c.sends >= resendQuick {
		c.wait = min(c.wait*3/2, resendMost)
	}
}

// try starts with a server, with a nonce of its own.
func (c *Client) try() {
	c.state = stateRequesting
	c.began, c.next, c.wait, c.sends = c.now, c.now, resendFirst, 0
	c.request = request{protocol: c.opt.Protocol, version: c.opt.Version}
	c.random.Read(c.request.nonce[:])
	c.response, c.private = response{}, nil
}

// nextServer gives up on a server, and altogether if it was the last.
func (c *Client) nextServer(reason Reason) {
	if reason == ReasonTimeout && c.hint != ReasonNone {
		reason = c.hint // unproved, but the best explanation there is
	}
	c.hint = ReasonNone
	c.reason = reason
	if c.server++; c.server < len(c.servers) {
		c.try()
		return
	}
	c.fail(reason)
}

func (c *Client) fail(reason Reason) {
	c.state = stateEnded
	c.reason = reason
	c.emit(Disconnected, nil).Reason = reason
}

func (c *Client) receiveHandshake(d *link.Datagram) {
	if len(d.Data) == 0 {
		c.stats.Malformed++
		return
	}
	if c.receiveProbe(d.Data) || c.receivePong(d) {
		return
	}
	if c.state > stateResponding || !c.started || d.Addr != c.servers[c.server] {
		c.stats.Strangers++ // or late
		return
	}
	switch d.Data[0] {
	case kindChallenge:
		c.receiveChallenge(d)
	case kindAccept:
		c.receiveAccept(d)
	case kindRefusal:
		c.receiveRefusal(d)
	default:
		c.stats.Malformed++
	}
}

func (c *Client) receiveChallenge(d *link.Datagram) {
	var ch challenge
	if !ch.parse(d.Data) {
		c.stats.Malformed++
		return
	}
	if ch.nonce != c.request.nonce {
		c.stats.Strangers++
		return
	}
	if c.state == stateRequesting {
		c.state = stateResponding
		c.next, c.wait, c.sends = c.now, resendFirst, 0
	} else if c.sends >= responseTries && ch.cookie != c.response.cookie {
		c.next = c.now // it was asked for, since the old one seems to be stale
	}
	if c.private == nil {
		var random [shareSize]byte
		c.random.Read(random[:])
		c.random.Forget()
		c.private, c.share = newShare(&random)
	}
	c.response = response{request: c.request, cookie: ch.cookie, client: c.own,
		datagram: uint16(c.opt.Datagram), share: c.share, sealed: c.co.Token.Sealed}
}

func (c *Client) receiveAccept(d *link.Datagram) {
	var a accept
	if !a.parse(d.Data) {
		c.stats.Malformed++
		return
	}
	if a.client != c.own {
		c.stats.Strangers++
		return
	}
	if c.private == nil || !a.proved(&c.keys, c.request.nonce[:]) {
		c.stats.Forged++
		return
	}
	shared, ok := agree(c.private, &a.share)
	t := transcript{protocol: c.opt.Protocol, version: c.opt.Version, clientNonce: c.request.nonce,
		serverNonce: a.serverNonce, client: c.own, sealedDigest: c.digest, clientShare: c.share,
		serverShare: a.share}
	chain := deriveSession(&c.co.Token.Secret, &shared, &t)
	keys := chain.keys()
	if !ok || !a.open(&keys.toClient) || int(a.datagram) > c.opt.Datagram {
		c.stats.Forged++
		return
	}
	c.state, c.private = stateConnected, nil
	c.conn = newConn(&c.machine, phaseOpen, c.own, a.server, d.Addr, int(a.datagram))
	c.conn.beginKeys(chain)
	// What the handshake took is a first guess, if a resend does not blur it.
	if c.sends == 1 {
		trip := c.now - c.asked
		c.conn.measure.smooth, c.conn.measure.latest, c.conn.measure.deviation = trip, trip, trip/2
		c.conn.measure.handshake = trip
	}
	// Speak at once, whatever the send rate, since the server waits to hear the keys used.
	c.conn.lastData = c.now - c.opt.KeepAlive
	c.emit(Connected, c.conn)
}

func (c *Client) receiveRefusal(d *link.Datagram) {
	var r refusal
	if !r.parse(d.Data) {
		c.stats.Malformed++
		return
	}
	if r.nonce != c.request.nonce {
		c.stats.Strangers++
		return
	}
	if !r.proved(&c.keys) {
		// Anyone on the way could have made it. Go on trying, but remember what it said.
		c.stats.RefusalHints++
		c.hint = r.reason
		return
	}
	c.nextServer(r.reason)
}
