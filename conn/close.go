package conn

import "time"

// closing is the end of a connection: whoever ends it says so until the other has
// acknowledged, or a little while has passed.
type closing struct {
	news   []byte // what a close frame holds: the reason, and a note
	ticket []byte // that has not arrived: who is sent elsewhere at once needs it there
	packet uint32 // the first that carried the news
	until  time.Duration
	next   time.Duration
	again  bool // draining: acknowledge at the next flush
}

const (
	maxNote     = 200
	closeLinger = 2 * time.Second
)

// Close ends the connection, now. The peer is told the reason and up to 200 bytes
// of note, over and over until it knows or two seconds have passed, so the machine should be
// flushed for that long, or until Client.Done says that it need not. What was sent
// before and has not arrived yet is lost; to lose nothing, wait until Unacked is zero.
func (c *Conn) Close(reason Reason, note string) {
	if c.phase != phaseOpen && c.phase != phaseHalfOpen {
		return
	}
	if reason == ReasonNone {
		reason = ReasonLeft
	}
	ticket := c.ticket
	c.end(reason, []byte(note[:min(len(note), maxNote)]), true)
	c.closing.ticket = ticket
}

// Unacked is how many reliable messages and transfers have not arrived yet.
func (c *Conn) Unacked() int {
	n := 0
	for i := range c.channels {
		if o := c.channels[i].out; o != nil {
			n += int(o.next - o.base)
		}
	}
	return n + len(c.bulkOut.queue)
}

// end ends the connection on this side.
func (c *Conn) end(reason Reason, note []byte, tell bool) {
	wasOpen := c.phase == phaseOpen
	c.phase = phaseGone
	if tell {
		c.phase = phaseClosing
		c.closing = closing{
			news: append([]byte{byte(reason)}, note...), until: c.m.now + closeLinger,
			next: c.m.now}
	}
	c.finish(wasOpen, reason, note)
}

// peerCloses handles the news that the other side has ended the connection.
func (c *Conn) peerCloses(reason Reason, note []byte) {
	wasOpen := c.phase == phaseOpen
	c.phase = phaseDraining
	c.closing = closing{until: c.m.now + closeLinger/2, again: true}
	c.finish(wasOpen, reason, note)
}

// finish lets go of all that a connection held, and tells the layer above.
func (c *Conn) finish(wasOpen bool, reason Reason, note []byte) {
	for i := range c.channels {
		ch := &c.channels[i]
		if o := ch.out; o != nil {
			for n := o.base; n != o.next; n++ {
				c.m.buffers.Put(o.at(n).data)
			}
		}
		if in := ch.in; in != nil {
			for _, h := range in.held {
				c.m.buffers.Put(h.data)
			}
			for _, p := range in.partials {
				c.m.buffers.Put(p.data)
			}
		}
		*ch = channel{}
	}
	c.waiting, c.unacked, c.control, c.urgent = 0, 0, 0, false
	c.queued, c.ticket = nil, nil
	c.bulkOut, c.bulkIn = bulkSender{}, bulkReceiver{}
	// Verdicts that are still open never come.
	c.sent.forgetAll()
	if wasOpen || c.server == nil {
		e := c.m.emit(Disconnected, c)
		e.Reason = reason
		e.Data = note
	}
	if c.server != nil {
		c.server.left(c)
	}
}

// flushClosing repeats the news, or confirms that it was heard.
func (c *Conn) flushClosing() {
	now := c.m.now
	g := &c.closing
	if now >= g.until {
		c.phase = phaseGone
		return
	}
	if c.phase == phaseDraining {
		if g.again {
			g.again = false
			f := &c.m.frames
			f.begin(c, ackRoomMax)
			f.close()
		}
		return
	}
	if now < g.next {
		return
	}
	g.next = now + min(max(c.measure.smooth/2, 30*time.Millisecond), 250*time.Millisecond)
	f := &c.m.frames
	f.begin(c, ackRoomMax)
	if g.ticket != nil && f.room(0) >= len(g.ticket)+4+len(g.news) {
		f.control(controlTicket, g.ticket)
	}
	f.control(controlClose, g.news)
	n := f.close()
	if g.packet == 0 {
		g.packet = n
	}
	c.sent.forgetAll()
}

// receiveClosing handles what still comes after the end.
func (c *Conn) receiveClosing(form int, plain []byte) {
	if c.phase == phaseDraining {
		c.closing.again = true // the peer has not heard that we heard
		return
	}
	a, low, rest, ok := parseAck(form, plain)
	if !ok || a.form == ackNone || c.closing.packet == 0 {
		return
	}
	n, ok := expand(c.sent.next-1, low)
	if ok && n >= c.closing.packet && n < c.sent.next {
		c.phase = phaseGone // the peer knows
		return
	}
	// Both ends may close at the same time.
	for len(rest) > 0 {
		head, _, next, ok := readFrame(rest)
		if !ok {
			return
		}
		if head&^frameLength == frameControl<<4|controlClose {
			c.phase = phaseDraining
			c.closing.again = true
			return
		}
		rest = next
	}
}
