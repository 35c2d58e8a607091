package conn

import "time"

// Send queues a message on a channel. It goes with the next Flush, or a later one
// if the budget or the send rate says so; unreliable messages that do not fit the
// budget then are dropped. The message is copied.
func (c *Conn) Send(channel uint8, message []byte) error {
	if c.phase != phaseOpen {
		return ErrClosed
	}
	if int(channel) >= len(c.channels) {
		return ErrChannel
	}
	ch, mode := &c.channels[channel], c.m.opt.Channels[channel].Mode
	if !mode.reliable() && len(message) > c.MaxPayload() {
		return ErrTooLarge
	}
	switch mode {
	case Unreliable:
		if len(ch.queue) >= maxQueued || len(c.queued)+len(message) > maxQueuedBytes {
			return ErrBacklog
		}
		if cap(ch.queue) == 0 {
			ch.queue = make([]span, 0, queuedFirst)
		}
		from := uint32(len(c.queued))
		c.queued = append(c.queued, message...)
		ch.queue = append(ch.queue, span{from, uint32(len(c.queued))})
	case Newest:
		ch.latest = append(ch.latest[:0], message...)
	default:
		if err := c.sendReliable(channel, message); err != nil {
			return err
		}
	}
	c.waiting |= 1 << channel
	return nil
}

// What may wait to be sent on one channel, and unreliably on one connection.
const (
	queuedFirst    = 8
	maxQueued      = 1024
	maxQueuedBytes = 256 << 10
)

// Compose opens a packet for one unreliable or newest-only message that the caller
// writes in place. Reliable messages that wait are put in front of it as far as
// want bytes remain for the message. The caller appends to the empty slice it gets,
// within its capacity, and passes the result to Commit before it does anything else
// with the machine; otherwise the packet goes without the message.
func (c *Conn) Compose(now time.Duration, channel uint8, want int) ([]byte, error) {
	if c.phase != phaseOpen {
		return nil, ErrClosed
	}
	if int(channel) >= len(c.channels) {
		return nil, ErrChannel
	}
	mode := c.m.opt.Channels[channel].Mode
	if mode.reliable() {
		return nil, ErrMode
	}
	if want > c.MaxPayload() {
		return nil, ErrTooLarge
	}
	c.m.advance(now)
	c.fillBucket()
	f := &c.m.frames
	f.begin(c, ackRoomMax)
	spare := 1 + 2 + want // the message's head, and the length of the frame before it
	c.fillControl(f, spare)
	c.fillRide(f, spare)
	c.fillReliable(f, spare)
	f.flush(false)
	f.empty, f.elicits = false, true
	f.buf[f.n] = mode.frame()<<4 | channel
	c.book.Sent[SentFraming]++
	f.n++
	f.compose = true
	return f.buf[f.n:f.n:f.limit], nil
}

// Commit sends the packet that Compose opened, with the message that was written,
// and returns its number; the events Arrived and Lost will tell what became of it. The
// message must begin where Compose said.
func (c *Conn) Commit(message []byte) PacketNumber {
	f := &c.m.frames
	if !f.compose || f.conn != c || f.n+len(message) > f.limit {
		panic("conn: Commit without Compose, or of more than Compose gave")
	}
	f.compose = false
	if len(message) > 0 && &message[0] != &f.buf[f.n] {
		copy(f.buf[f.n:], message) // append has moved it; slower, but right
	}
	purpose := SentUnreliable
	if f.buf[f.n-1]>>4&7 == frameNewest {
		purpose = SentNewest
	}
	c.book.Sent[purpose] += uint64(len(message))
	f.n += len(message)
	f.packet.composed = true
	n := f.close()
	c.paced()
	return PacketNumber(n)
}

// flush sends what is due on a connection.
func (c *Conn) flush() {
	now := c.m.now
	switch c.phase {
	case phaseClosing, phaseDraining:
		c.flushClosing()
		return
	case phaseHalfOpen:
		if now-c.since > c.m.opt.Timeout {
			c.end(ReasonTimeout, nil, false)
		}
		return
	case phaseGone:
		return
	}
	if now-c.lastHeard > c.m.opt.Timeout {
		c.m.stats.TimedOut++
		c.end(ReasonTimeout, nil, true)
		return
	}
	s := &c.sent
	if s.base != s.next {
		if s.gap {
			c.findLost()
		}
		if at, ok := s.oldestPending(); ok && now-at >= c.patience() {
			c.giveUp()
		}
		s.forget(now)
	}
	if c.lastData > c.lastAck && now-c.lastAck > 2*c.m.opt.Timeout {
		c.m.stats.NoAcks++
		c.end(ReasonNoAcks, nil, true)
		return
	}
	if c.worn {
		c.end(ReasonWornOut, nil, true)
		return
	}
	if c.renewAt != 0 && now >= c.renewAt {
		c.server.issueTicket(c)
	}
	if c.stage != trialNone {
		c.flushTrial()
	}
	c.weighLoss()
	c.fillBucket()

	if c.due() && c.waiting != 0 || c.urgent || c.bulkOut.ready() && c.due() {
		c.sendWaiting()
	}
	if c.ackDue() {
		c.sendBare(false)
	}
	if now-c.lastData >= c.m.opt.KeepAlive || c.bare() || c.probe && c.lastData != now {
		c.sendBare(true)
	}
	c.probe = false
	c.rate.endFlush()
}

// slim gives back, from time to time, the memory that a burst has left behind.
func (c *Conn) slim() {
	c.sent.shrink()
	c.forgetKeys()
	if c.waiting == 0 && cap(c.queued) > 4<<10 {
		c.queued = nil
		for i := range c.channels {
			c.channels[i].queue = nil
		}
	}
}

// ackSoon is how long an acknowledgement waits for something to ride on. Where our
// own packets are further apart than that but regular, it waits for the next of them.
const (
	ackSoon = 25 * time.Millisecond
	ackLate = 200 * time.Millisecond
	// ackMany received packets are acknowledged at the next Flush, so that a transfer
	// does not stall.
	ackMany = 16
	// ackNow received packets are acknowledged at once, before the peer's packets
	// outrun what an acknowledgement can tell.
	ackNow = 128
)

func (c *Conn) ackDue() bool {
	r := &c.received
	if r.waiting == 0 {
		return false
	}
	return r.waiting >= ackMany || c.m.now-r.waitingAt >= c.ackWait()
}

func (c *Conn) ackWait() time.Duration {
	if c.m.now-c.lastData > ackLate || c.sendGap == 0 {
		return ackSoon
	}
	return min(max(c.sendGap*3/2, ackSoon), ackLate)
}

// bare reports whether a control frame waits that nothing has carried yet.
func (c *Conn) bare() bool { return c.control != 0 && c.due() }

// sendBare sends an acknowledgement with no more than control frames, or, if ping
// is set, something that asks for an acknowledgement.
func (c *Conn) sendBare(ping bool) {
	f := &c.m.frames
	f.begin(c, ackFixed+ackBytes[ackForms-1])
	c.fillControl(f, 0)
	if (ping || c.m.now-c.lastData >= c.m.opt.KeepAlive) && !f.elicits {
		f.control(controlPing, nil)
	}
	f.close()
}

// sendWaiting sends packets until nothing waits or the budget is spent.
func (c *Conn) sendWaiting() {
	f := &c.m.frames
	sent := false
	due := c.due()
	for c.urgent || c.rate.bucket > 0 && c.room() > 0 {
		c.urgent = false
		f.begin(c, ackRoomMax)
		c.fillControl(f, 0)
		ridden := 0
		if due {
			// What rides is promised, so it is not held to the budget, nor at the expense
			// of what it rides in front of.
			free := 0
			if c.mayRide() {
				free = f.used()
				c.fillRide(f, c.nextUnreliable())
				if free = f.used() - free; free > 0 {
					ridden = f.used()
				}
			}
			free -= f.used()
			c.fillReliable(f, 0)
			// What is reliable may overdraw the budget by a packet, lest one that is larger than
			// the budget ever is waits forever; and so may anything where the budget is full.
			if free += f.used(); c.rate.bucket < c.rate.size()*3/4 {
				f.restrict(c.room() + float64(free))
			}
			c.fillUnreliable(f)
			if c.waiting == 0 {
				c.fillBulk(f)
			}
		}
		if f.empty {
			f.abandon()
			break
		}
		// Nothing new fits the budget: a further packet would only say again what this one does.
		again := f.used() == ridden
		f.close()
		sent = true
		if again || c.waiting == 0 && !c.bulkOut.ready() {
			break
		}
	}
	if !due {
		return
	}
	if sent {
		c.paced()
	}
	c.rate.starved = c.rate.starved || c.waiting != 0
	c.dropUnreliable()
}

// mayRide reports whether reliable messages under way should be repeated in the
// next packet: in front of unreliable messages always, since that is promised; with
// others where packets have been lost of late and there is plenty of budget, because
// then it mends the next loss sooner. Elsewhere it would only double what is sent.
func (c *Conn) mayRide() bool {
	if c.waiting&c.m.unreliable != 0 {
		return true
	}
	return c.waiting != 0 && !c.bulkOut.ready() &&
		(c.measure.outLost > 0 || c.measure.lossOut > rideLoss) &&
		c.rate.bucket > c.rate.size()*3/4
}

// nextUnreliable is how much room the unreliable message takes that is to go next, with its head
// and the length of what rides in front of it. A message that is as large as a packet goes alone.
func (c *Conn) nextUnreliable() int {
	if c.waiting&c.m.unreliable == 0 {
		return 0
	}
	for _, i := range c.m.order {
		if c.waiting&c.m.unreliable&(1<<i) == 0 {
			continue
		}
		ch := &c.channels[i]
		if c.m.opt.Channels[i].Mode == Newest {
			return 1 + 2 + len(ch.latest)
		}
		return 1 + 2 + int(ch.queue[0].to-ch.queue[0].from)
	}
	return 0
}

// rideLoss is the share of lost packets below which a path counts as sound.
const rideLoss = 1.0 / 512

// fillUnreliable puts in waiting unreliable messages, most urgent channel first.
func (c *Conn) fillUnreliable(f *frames) {
	if c.waiting&c.m.unreliable == 0 {
		return
	}
	for _, i := range c.m.order {
		if c.waiting&c.m.unreliable&(1<<i) == 0 {
			continue
		}
		ch := &c.channels[i]
		if c.m.opt.Channels[i].Mode == Newest {
			if f.room(0) < len(ch.latest) {
				return
			}
			f.add(frameNewest<<4|i, nil, ch.latest, SentNewest)
			c.waiting &^= 1 << i
			continue
		}
		n := 0
		for n < len(ch.queue) {
			message := c.queued[ch.queue[n].from:ch.queue[n].to]
			if f.room(0) < len(message) {
				break
			}
			f.add(frameUnreliable<<4|i, nil, message, SentUnreliable)
			n++
		}
		ch.queue = ch.queue[:copy(ch.queue, ch.queue[n:])]
		if len(ch.queue) > 0 {
			return // what is less urgent waits for the next packet
		}
		c.waiting &^= 1 << i
	}
}

// dropUnreliable drops what did not fit the budget. Newest-only messages wait, as
// a newer one may yet replace them.
func (c *Conn) dropUnreliable() {
	if c.waiting&c.m.unreliable != 0 {
		for _, i := range c.m.order {
			if c.waiting&(1<<i) == 0 || c.m.opt.Channels[i].Mode != Unreliable {
				continue
			}
			ch := &c.channels[i]
			c.book.Dropped += uint64(len(ch.queue))
			ch.queue = ch.queue[:0]
			c.waiting &^= 1 << i
		}
	}
	c.queued = c.queued[:0]
}
