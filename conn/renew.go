package conn

import (
	"encoding/hex"
	"fmt"
	"time"
)

// Keys are renewed while a connection goes on. Those of a connection are a chain: each secret makes
// the keys of its generation and the secret of the next, and is forgotten with it. A bit in each
// packet tells the parity of its generation. Either end may begin the next one by sealing with it;
// the other follows when the first such packet opens, so there is no pause and nothing to agree on.
// Numbers go on, so all packets of a generation have lower numbers than those of the next.

// renewal is what an end knows of the generations before and after the one that it opens with.
// Either it seals with that one too, or, if ahead is set, it has begun the next.
type renewal struct {
	chain  chain         // the secret of the generation that is opened with
	next   *session      // the keys of the one after, once they were needed
	before *direction    // opens what is late, of the one before
	until  time.Duration // when that is over
	from   uint32        // the first packet of the peer's that was opened with this one
	at     time.Duration // when
	ahead  bool
}

const (
	// renewAfter packets sealed with one key, the next follows. Both ways share a key, so it seals
	// no more than 2^28 even if they renew at the same time.
	renewAfter = 1 << 27
	// renewGap is the least time between two generations; who renews in less is not followed yet.
	// So a peer cannot have keys made as fast as it sends.
	renewGap = time.Second
	// keepBefore is for how long the keys before open what is late.
	keepBefore = 3 * time.Second
)

// beginKeys starts with the first generation.
func (c *Conn) beginKeys(ch chain) {
	c.renewal = renewal{chain: ch, at: c.m.now}
	s := ch.keys()
	c.seal, c.open = c.sides(&s)
	c.renewFrom = c.sent.next + c.m.opt.renewAfter
	c.logKeys(&ch)
}

// sides says which direction of a session an end seals, and which it opens.
func (c *Conn) sides(s *session) (seal, open direction) {
	if c.server != nil {
		return s.toClient, s.toServer
	}
	return s.toServer, s.toClient
}

// makeNext sees that there are keys of the next generation.
func (c *Conn) makeNext() {
	r := &c.renewal
	if r.next == nil {
		ch := r.chain.next()
		s := ch.keys()
		r.next = &s
		c.logKeys(&ch)
	}
}

// wear is called when so many packets were sealed that something must be done: to begin the next
// generation, or to end the connection because the peer has never followed to this one, or because
// numbers run out.
func (c *Conn) wear() {
	r := &c.renewal
	switch {
	case c.sent.next >= maxNumber-1:
		c.worn = true
	case r.ahead:
		// The peer has not followed yet. There is as long a time again for it.
		c.worn = c.sent.next-c.renewFrom >= c.m.opt.renewAfter
	case c.m.now-r.at >= 2*renewGap:
		c.makeNext()
		r.ahead = true
		c.sealNext()
	}
}

// sealNext seals with the next generation from now on.
func (c *Conn) sealNext() {
	c.seal, _ = c.sides(c.renewal.next)
	c.phaseBit ^= keyPhase
	c.renewFrom = c.sent.next + min(c.m.opt.renewAfter, maxNumber-c.sent.next)
	c.m.stats.Renewals++
}

// otherKeys finds the keys for packet n, which is not of the generation that is opened with: the
// one before if its number is lower than those of this one, else the next. Nil if there are none.
func (c *Conn) otherKeys(n uint32) *direction {
	r := &c.renewal
	if n < r.from {
		if c.m.now >= r.until {
			return nil
		}
		return r.before
	}
	if c.m.now-r.at < renewGap {
		return nil
	}
	c.makeNext()
	if c.server != nil {
		return &r.next.toServer
	}
	return &r.next.toClient
}

// follow is called when packet n was opened with keys that otherKeys found. If they are the next
// generation's, it is the one from now on.
func (c *Conn) follow(n uint32, d *direction) {
	r := &c.renewal
	if d == r.before {
		return
	}
	if !r.ahead {
		c.sealNext()
	}
	old := c.open
	_, c.open = c.sides(r.next)
	c.opens ^= keyPhase
	*r = renewal{chain: r.chain.next(), before: &old, until: c.m.now + keepBefore, from: n,
		at: c.m.now}
}

// forgetKeys drops keys that are not needed any more.
func (c *Conn) forgetKeys() {
	if r := &c.renewal; r.before != nil && c.m.now >= r.until {
		r.before = nil
	}
}

// logKeys tells the keys of a generation to whoever debugs.
func (c *Conn) logKeys(ch *chain) {
	if c.m.opt.KeyLog == nil {
		return
	}
	client, server := c.own, c.peer
	if c.server != nil {
		client, server = server, client
	}
	key, iv := ch.material()
	c.m.opt.KeyLog(fmt.Sprintf("COEVAL %05x %05x %s %s", uint32(client), uint32(server),
		hex.EncodeToString(key), hex.EncodeToString(iv)))
}
