package conn

import "time"

// outbox holds the reliable messages of one channel from Send until each is
// known to have arrived.
type outbox struct {
	ring[uint16, outMessage]
	base  uint16 // the oldest that has not arrived
	fresh uint16 // the first of which something has never been sent
	next  uint16 // the number of the next message
	lost  int    // messages and fragments that must go again
	bytes int    // of all that has not arrived
	open  int    // bytes of those in [base, fresh)
}

type outMessage struct {
	data   []byte
	packet uint32 // that carried it last
	at     time.Duration
	state  messageState
	pieces *pieces // of a message that is larger than a packet
}

type messageState uint8

const (
	messageQueued messageState = iota
	messageSent
	messageLost
	messageArrived
)

// pieces tracks the fragments of a large message, each on its own.
type pieces struct {
	count   int
	next    int // the first never sent
	arrived bitset
	lost    bitset
	done    int
}

// bitset has a bit for each of up to 256 fragments.
type bitset [maxFragments / 64]uint64

func (b *bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b *bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b *bitset) clear(i int)    { b[i/64] &^= 1 << (i % 64) }

const (
	// messageWindow is how many messages may be under way on a channel, and how far
	// ahead of the first missing one the receiver takes them.
	messageWindow = 256
	outboxFirst   = 4
	maxBacklog    = 4 << 20 // bytes that may wait on a channel
)

// window is how many bytes may be under way on a channel.
func (ch *Channel) window() int { return max(2*ch.MaxMessage, 64<<10) }

func (c *Conn) sendReliable(channel uint8, message []byte) error {
	conf := &c.m.opt.Channels[channel]
	if len(message) > conf.MaxMessage || len(message) > maxFragments*c.fragment {
		return ErrTooLarge
	}
	ch := &c.channels[channel]
	if ch.out == nil {
		ch.out = &outbox{ring: make(ring[uint16, outMessage], outboxFirst)}
	}
	o := ch.out
	waiting := int(o.next - o.base)
	if waiting >= maxQueued || o.bytes+len(message) > max(maxBacklog, conf.MaxMessage) {
		return ErrBacklog
	}
	if waiting == len(o.ring) {
		o.ring = o.resized(o.base, o.next, 2*waiting)
	}
	data := append(c.m.buffers.Get(len(message))[:0], message...)
	msg := o.at(o.next)
	*msg = outMessage{data: data, at: c.m.now}
	if len(message) > c.whole() {
		msg.pieces = &pieces{count: (len(message) + c.fragment - 1) / c.fragment}
	}
	o.next++
	o.bytes += len(message)
	c.unacked |= 1 << channel
	return nil
}

// whole is the largest reliable message that goes in one piece.
func (c *Conn) whole() int { return c.MaxPayload() - reliablePrefix }

// fillReliable puts in reliable messages that were lost or never sent, most urgent
// channel first, and leaves at least spare bytes.
func (c *Conn) fillReliable(f *frames, spare int) {
	if c.waiting&^c.m.unreliable == 0 {
		return
	}
	for _, i := range c.m.order {
		if c.waiting&^c.m.unreliable&(1<<i) == 0 {
			continue
		}
		o := c.channels[i].out
		if o.lost > 0 && !c.fillLost(f, o, i, spare) {
			return
		}
		if !c.fillFresh(f, o, i, spare) {
			return
		}
	}
}

// fillLost puts in what must go again. It returns false when the packet is full.
func (c *Conn) fillLost(f *frames, o *outbox, channel uint8, spare int) bool {
	for n := o.base; n != o.next && o.lost > 0; n++ {
		msg := o.at(n)
		if p := msg.pieces; p != nil {
			for i := 0; i < p.next && o.lost > 0; i++ {
				if !p.lost.has(i) {
					continue
				}
				if !c.addFragment(f, channel, n, msg, i, spare, SentResent) {
					return false
				}
				p.lost.clear(i)
				o.lost--
			}
			continue
		}
		if msg.state != messageLost {
			continue
		}
		if !c.addMessage(f, channel, n, msg, spare, SentResent) {
			return false
		}
		msg.state = messageSent
		o.lost--
	}
	return true
}

// fillFresh puts in what was never sent, as far as the window allows. It returns
// false when the packet is full.
func (c *Conn) fillFresh(f *frames, o *outbox, channel uint8, spare int) bool {
	window := c.m.opt.Channels[channel].window()
	for o.fresh != o.next {
		msg := o.at(o.fresh)
		if int(o.fresh-o.base) >= messageWindow || o.open+len(msg.data) > window && o.open > 0 {
			// The channel rests until something arrives.
			c.waiting &^= 1 << channel
			return true
		}
		if p := msg.pieces; p != nil {
			for ; p.next < p.count; p.next++ {
				if !c.addFragment(f, channel, o.fresh, msg, p.next, spare, SentReliable) {
					return false
				}
			}
		} else if !c.addMessage(f, channel, o.fresh, msg, spare, SentReliable) {
			return false
		}
		msg.state = messageSent
		o.open += len(msg.data)
		o.fresh++
	}
	c.waiting &^= 1 << channel
	return true
}

func (c *Conn) addMessage(f *frames, channel uint8, n uint16, msg *outMessage, spare int,
	purpose Purpose) bool {
	if f.room(reliablePrefix)-spare < len(msg.data) {
		return false
	}
	head := c.m.opt.Channels[channel].Mode.frame()<<4 | channel
	var prefix [reliablePrefix]byte
	be.PutUint16(prefix[:], n)
	f.add(head, prefix[:], msg.data, purpose)
	msg.packet = c.sent.next
	c.sent.note(reliableRef(channel, n, 0))
	return true
}

func (c *Conn) addFragment(f *frames, channel uint8, n uint16, msg *outMessage, i, spare int,
	purpose Purpose) bool {
	from := i * c.fragment
	to := min(from+c.fragment, len(msg.data))
	if f.room(fragmentPrefix)-spare < to-from {
		return false
	}
	var prefix [fragmentPrefix]byte
	be.PutUint16(prefix[:], n)
	prefix[2], prefix[3] = byte(i), byte(msg.pieces.count-1)
	f.add(frameFragment<<4|channel, prefix[:], msg.data[from:to], purpose)
	c.sent.note(reliableRef(channel, n, uint8(i)))
	return true
}

// fillRide repeats small reliable messages that are under way, oldest first and
// within a share of the packet, so that what was sent reliably before an unreliable
// message comes before it even if the packet in between is lost. DOOM III's
// message channel does this without a limit.
func (c *Conn) fillRide(f *frames, spare int) {
	if c.unacked == 0 {
		return
	}
	share := c.m.opt.RideShare
	for _, i := range c.m.order {
		if c.unacked&(1<<i) == 0 {
			continue
		}
		o := c.channels[i].out
		for n := o.base; n != o.fresh; n++ {
			msg := o.at(n)
			if msg.state != messageSent || msg.pieces != nil || msg.packet == c.sent.next {
				continue
			}
			if share -= 1 + 2 + reliablePrefix + len(msg.data); share < 0 {
				return
			}
			if !c.addMessage(f, i, n, msg, spare, SentRidden) {
				return
			}
		}
	}
}

func (c *Conn) messageArrived(channel uint8, n uint16, fragment uint8) {
	o := c.channels[channel].out
	if o == nil || n-o.base >= o.next-o.base {
		return // has arrived in another packet before
	}
	msg := o.at(n)
	if p := msg.pieces; p != nil {
		i := int(fragment)
		if p.arrived.has(i) {
			return
		}
		p.arrived.set(i)
		if p.lost.has(i) {
			p.lost.clear(i)
			o.lost--
		}
		if p.done++; p.done < p.count {
			return
		}
	} else if msg.state == messageLost {
		o.lost--
	}
	if msg.state == messageArrived {
		return
	}
	msg.state = messageArrived
	o.bytes -= len(msg.data)
	c.m.buffers.Put(msg.data)
	size := len(msg.data)
	msg.data, msg.pieces = nil, nil
	// Bytes stay charged to the window until everything before has arrived too, since
	// that is how long the receiver may have to hold them.
	msg.packet = uint32(size)
	for o.base != o.fresh && o.at(o.base).state == messageArrived {
		o.open -= int(o.at(o.base).packet)
		o.base++
	}
	if o.base == o.next {
		c.unacked &^= 1 << channel
		if len(o.ring) > 8*outboxFirst {
			o.ring = make(ring[uint16, outMessage], outboxFirst)
		}
	} else if o.fresh != o.next {
		c.waiting |= 1 << channel
	}
}

func (c *Conn) messageLost(channel uint8, n uint16, fragment uint8, packet uint32) {
	o := c.channels[channel].out
	if o == nil || n-o.base >= o.next-o.base {
		return
	}
	msg := o.at(n)
	if p := msg.pieces; p != nil {
		if i := int(fragment); !p.arrived.has(i) && !p.lost.has(i) {
			p.lost.set(i)
			o.lost++
		}
	} else {
		if msg.state != messageSent || msg.packet != packet {
			return // has arrived, or has gone again since
		}
		msg.state = messageLost
		o.lost++
	}
	c.waiting |= 1 << channel
}
