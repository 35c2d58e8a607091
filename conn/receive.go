package conn

import "net/netip"

// receive handles a data packet that names this connection: the way from datagram
// to message, top to bottom.
func (c *Conn) receive(data []byte, from netip.AddrPort) {
	m := c.m
	n, ok := expand(c.received.largest, uint16(data[3])<<8|uint16(data[4]))
	if !ok || n == 0 {
		m.stats.TooOld++
		return
	}
	switch c.received.check(n) {
	case freshSeen:
		m.stats.Replayed++
		if c.stage != trialNone {
			c.copied(n, data, from)
		}
		return
	case freshOld:
		m.stats.TooOld++
		return
	}
	d := &c.open
	other := data[0]&keyPhase != c.opens
	if other {
		if d = c.otherKeys(n); d == nil {
			m.stats.Forged++
			return
		}
	}
	sealed := data[dataHeader:]
	plain, err := d.aead.Open(sealed[:0], d.number(n), sealed, data[:dataHeader])
	if err != nil {
		m.stats.Forged++
		return
	}
	if other {
		c.follow(n, d)
	}

	// From here on the packet is the peer's own, and new.
	newest := n > c.received.largest
	c.received.note(n, m.now-m.waited, c.sent.next)
	c.lastHeard = m.now
	c.current = n
	c.measure.tripFresh = false
	c.book.Received += uint64(len(data))
	c.book.ReceivedPackets++
	switch c.phase {
	case phaseHalfOpen:
		c.confirm()
	case phaseClosing, phaseDraining:
		c.receiveClosing(int(data[0]&ackFormMask)>>ackFormShift, plain)
		return
	case phaseGone:
		return
	}
	if (from != c.route.addr || c.stage != trialNone) && c.server != nil {
		c.heardAt(from, n, newest, len(data))
	}

	ack, low, rest, ok := parseAck(int(data[0]&ackFormMask)>>ackFormShift, plain)
	if !ok {
		c.violate()
		return
	}
	if !c.takeAck(&ack, low) {
		m.stats.FalseAcks++
		c.violate()
		return
	}
	if len(rest) == 0 {
		return
	}
	if !c.takeFrames(rest, from) && c.phase == phaseOpen {
		c.violate()
		return
	}
	if c.received.unsaid >= ackNow && c.phase == phaseOpen {
		c.sendBare(false)
	}
}

// takeFrames delivers what a packet holds: first all that is reliable, so that it
// comes before what is not, then the rest. It returns false if the peer broke the
// rules.
func (c *Conn) takeFrames(frames []byte, from netip.AddrPort) bool {
	elicits, more := false, false
	for b := frames; len(b) > 0; {
		head, body, rest, ok := readFrame(b)
		if !ok {
			return false
		}
		b = rest
		kind, channel := head>>4&7, head&15
		if kind == frameControl {
			elicits = elicits || channel != controlClock
			if !c.takeControl(channel, body, from) {
				return false
			}
			if c.phase != phaseOpen {
				return true
			}
			continue
		}
		elicits = true
		if kind == frameBulk {
			if !c.takeChunk(channel == bulkStart, body) {
				return false
			}
			continue
		}
		if int(channel) >= len(c.channels) {
			return false
		}
		mode := c.m.opt.Channels[channel].Mode
		switch {
		case kind == frameFragment && mode.reliable():
			if !c.takeFragment(channel, body) {
				return false
			}
		case kind != mode.frame():
			return false
		case mode.reliable():
			if !c.takeReliable(channel, be.Uint16(body), body[reliablePrefix:]) {
				return false
			}
		default:
			// Nearly always it is the only one, and then there is no need to come back.
			if len(b) > 0 || more {
				more = true
				continue
			}
			c.takeUnreliable(channel, mode, body)
		}
	}
	if more {
		c.takeRest(frames)
	}
	if elicits {
		r := &c.received
		if r.waiting == 0 {
			r.waitingAt = c.m.now
		}
		r.waiting++
	}
	return true
}

// takeRest delivers the unreliable messages of a packet that takeFrames has been through.
func (c *Conn) takeRest(b []byte) {
	for len(b) > 0 {
		head, body, rest, _ := readFrame(b)
		b = rest
		if kind, channel := head>>4&7, head&15; kind == frameUnreliable || kind == frameNewest {
			c.takeUnreliable(channel, c.m.opt.Channels[channel].Mode, body)
		}
	}
}

func (c *Conn) takeUnreliable(channel uint8, mode Mode, body []byte) {
	if mode == Newest {
		ch := &c.channels[channel]
		if c.current < ch.newest {
			c.book.Late++
			return
		}
		ch.newest = c.current
	}
	c.deliver(channel, body)
}
