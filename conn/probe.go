package conn

import "time"

// A probe finds out whether a server that says nothing is there at all: one that was started anew
// knows nothing of its connections, and answers none of their packets. But it answers a request,
// as it would that of any stranger, by a challenge with the nonce of the request, which nobody
// makes who has not seen it. The challenge is not answered, so nothing comes of it at a server
// that still has the connection.
type probe struct {
	nonce    [nonceSize]byte
	drawn    bool
	due      bool
	answered time.Duration // by the client's clock, or 0
}

// Probe sends a request to the server of a connection that says nothing. Call it some times a
// second; see ProbeAnswered.
func (c *Client) Probe() {
	if c.state != stateConnected {
		return
	}
	if !c.probe.drawn {
		c.probe.drawn = true
		c.random.Read(c.probe.nonce[:])
	}
	c.probe.due = true
}

// ProbeAnswered says for how long it has been known that the server is there and answers strangers,
// without a word to this connection since. It is false if that is not known, or the server has said
// something.
func (c *Client) ProbeAnswered() (ago time.Duration, ok bool) {
	if p := &c.probe; c.state == stateConnected && p.answered != 0 {
		return c.now - p.answered, c.conn.Silence() > c.now-p.answered
	}
	return 0, false
}

// flushProbe sends what Probe asked for.
func (c *Client) flushProbe() {
	if !c.probe.due {
		return
	}
	c.probe.due = false
	r := request{protocol: c.opt.Protocol, version: c.opt.Version, nonce: c.probe.nonce}
	c.reply(c.conn.Addr(), requestSize, r.append)
}

// receiveProbe takes the answer to a probe, and says whether a datagram is one.
func (c *Client) receiveProbe(b []byte) bool {
	var ch challenge
	if p := &c.probe; c.state != stateConnected || !p.drawn || !ch.parse(b) ||
		ch.nonce != p.nonce {
		return false
	}
	if c.probe.answered == 0 || c.conn.Silence() <= c.now-c.probe.answered {
		c.probe.answered = c.now
	}
	return true
}
