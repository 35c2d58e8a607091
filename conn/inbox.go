package conn

import "slices"

// inbox puts the reliable messages of one channel in order, or at least sees that
// each is delivered once.
type inbox struct {
	next     uint16                    // the first not yet received
	got      bitset                    // bit n modulo 256: message n has come ahead of next
	held     ring[uint16, heldMessage] // ordered: those
	partials []*partial                // large messages of which fragments have come
	bytes    int                       // held and partial
}

type heldMessage struct {
	data []byte
	full bool
}

// partial is a large message of which some fragments have come.
type partial struct {
	message uint16
	count   int
	done    int
	got     bitset
	data    []byte
	size    int // known with the last fragment
}

// ahead says how far message n is ahead of next; below zero, it has been received.
func (in *inbox) ahead(n uint16) int {
	d := int(int16(n - in.next))
	if d >= 0 && d < messageWindow && in.got.has(int(n%messageWindow)) {
		return -1
	}
	return d
}

func (c *Conn) inbox(channel uint8) *inbox {
	ch := &c.channels[channel]
	if ch.in == nil {
		ch.in = &inbox{}
	}
	return ch.in
}

// takeReliable handles a reliable message that came in one piece. It returns
// false if the peer broke the rules.
func (c *Conn) takeReliable(channel uint8, n uint16, data []byte) bool {
	in := c.inbox(channel)
	ahead := in.ahead(n)
	if ahead < 0 {
		c.book.Duplicates++
		return true
	}
	if ahead >= messageWindow || len(data) > c.m.opt.Channels[channel].MaxMessage {
		return false
	}
	return c.complete(channel, in, n, ahead, data, false)
}

// complete delivers a message, or holds it until those before it have come. It lies in a buffer of
// the machine if own says so, and otherwise in the packet at hand.
func (c *Conn) complete(channel uint8, in *inbox, n uint16, ahead int, data []byte, own bool) bool {
	conf := &c.m.opt.Channels[channel]
	if ahead == 0 {
		in.next++
	} else {
		in.got.set(int(n % messageWindow))
	}
	if ahead > 0 && conf.Mode == Ordered {
		in.bytes += len(data)
		if !own {
			if in.bytes > 2*conf.window() {
				return false
			}
			data = append(c.m.buffers.Get(len(data))[:0], data...)
		}
		in.hold(n, ahead, data)
		return true
	}
	c.deliver(channel, data)
	if own {
		c.m.lent = append(c.m.lent, data)
	}
	if ahead == 0 {
		c.deliverHeld(channel, in, conf.Mode)
	}
	return true
}

// hold keeps a complete message until those before it have come.
func (in *inbox) hold(n uint16, d int, own []byte) {
	if d >= len(in.held) {
		size := 8
		for size <= d {
			size *= 2
		}
		in.held = in.held.resized(in.next, in.next+uint16(len(in.held)), size)
	}
	*in.held.at(n) = heldMessage{own, true}
}

// deliverHeld delivers, or for unordered channels passes over, what has come
// ahead and is now next.
func (c *Conn) deliverHeld(channel uint8, in *inbox, mode Mode) {
	for i := int(in.next % messageWindow); in.got.has(i); i = (i + 1) % messageWindow {
		in.got.clear(i)
		if mode == Ordered {
			h := in.held.at(in.next)
			in.bytes -= len(h.data)
			c.deliver(channel, h.data)
			c.m.lent = append(c.m.lent, h.data)
			*h = heldMessage{}
		}
		in.next++
	}
	if in.bytes == 0 && len(in.held) > 8 {
		// A burst is over. Empty messages take no bytes, so look before dropping.
		if !slices.ContainsFunc(in.held, func(h heldMessage) bool { return h.full }) {
			in.held = nil
		}
	}
}

// takeFragment handles one fragment of a large message. It returns false if the
// peer broke the rules.
func (c *Conn) takeFragment(channel uint8, body []byte) bool {
	n := be.Uint16(body)
	index, count := int(body[2]), int(body[3])+1
	data := body[fragmentPrefix:]
	in := c.inbox(channel)
	ahead := in.ahead(n)
	if ahead < 0 {
		c.book.Duplicates++
		return true
	}
	conf := &c.m.opt.Channels[channel]
	last := index == count-1
	if ahead >= messageWindow || count < 2 || index >= count || len(data) == 0 ||
		len(data) > c.fragment || !last && len(data) != c.fragment ||
		(count-1)*c.fragment >= conf.MaxMessage {
		return false
	}
	at := slices.IndexFunc(in.partials, func(p *partial) bool { return p.message == n })
	if at < 0 {
		if in.bytes += count * c.fragment; in.bytes > 2*conf.window()+c.fragment {
			return false
		}
		at = len(in.partials)
		in.partials = append(in.partials,
			&partial{message: n, count: count, data: c.m.buffers.Get(count * c.fragment)})
	}
	p := in.partials[at]
	if p.count != count {
		return false
	}
	if p.got.has(index) {
		c.book.Duplicates++
		return true
	}
	p.got.set(index)
	p.done++
	copy(p.data[index*c.fragment:], data)
	if last {
		p.size = index*c.fragment + len(data)
		if p.size > conf.MaxMessage {
			return false
		}
	}
	if p.done < count {
		return true
	}
	in.partials = slices.Delete(in.partials, at, at+1)
	in.bytes -= count * c.fragment
	return c.complete(channel, in, n, ahead, p.data[:p.size], true)
}

// deliver hands out a message.
func (c *Conn) deliver(channel uint8, data []byte) {
	e := c.m.emit(Message, c)
	e.Channel = channel
	e.Packet = PacketNumber(c.current)
	e.Data = data
	c.book.Messages++
}
