package conn

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
)

// Control frames that wait to be sent, as bits of Conn.control. All but the answer
// to a path's challenge go again when lost.
const (
	wantAnswer = iota
	wantTicket
	wantCancelOut // our transfer, which we gave up
	wantCancelIn  // the peer's transfer, which we do not want
)

// fillControl puts in the control frames that wait, and our clock from time to time,
// leaving at least spare bytes.
func (c *Conn) fillControl(f *frames, spare int) {
	if c.control != 0 {
		c.fillWanted(f, spare)
	}
	q, every := &c.measure, clockEvery
	if q.clocksSent < clockSamples || q.smooth-q.base() > c.queueAllowed()/2 {
		every = clockQuick // so that the peer can tell on which of the two ways there is a queue
	}
	if c.m.now-q.lastClock >= every && f.room(0)-spare >= 8 {
		q.lastClock = c.m.now
		q.clocksSent++
		be.PutUint64(c.m.clock[:], uint64(c.m.raw/time.Microsecond))
		f.control(controlClock, c.m.clock[:])
	}
}

func (c *Conn) fillWanted(f *frames, spare int) {
	for want, x := range [...]struct {
		kind byte
		body []byte
	}{
		wantAnswer:    {controlAnswer, c.answer[:]},
		wantTicket:    {controlTicket, c.ticket},
		wantCancelOut: {controlBulkCancel, c.bulkOut.canceled[:]},
		wantCancelIn:  {controlBulkCancel, c.bulkIn.canceled[:]},
	} {
		if c.control&(1<<want) == 0 || f.room(0)-spare < len(x.body) {
			continue
		}
		c.control &^= 1 << want
		f.control(x.kind, x.body)
		if want != wantAnswer {
			c.sent.note(controlRef(want))
		}
	}
}

func (c *Conn) controlArrived(which int) {
	if which == wantTicket && c.control&(1<<wantTicket) == 0 {
		c.ticket = nil
		if c.server != nil {
			c.server.used.markTicket(c)
		}
	}
}

func (c *Conn) controlLost(which int) {
	if which == wantTicket && c.ticket == nil {
		return
	}
	c.control |= 1 << which
}

// controlSizes are the least and the most bytes that each control frame has.
var controlSizes = [...][2]int{
	controlPing:       {0, 0},
	controlClock:      {8, 8},
	controlChallenge:  {8, 8},
	controlAnswer:     {8, 8},
	controlClose:      {1, 1 + maxNote},
	controlTicket:     {0, maxDatagram},
	controlBulkCancel: {2, 2},
}

// takeControl handles a control frame. It returns false if the peer broke the rules.
func (c *Conn) takeControl(which uint8, body []byte, from netip.AddrPort) bool {
	if int(which) >= len(controlSizes) || len(body) < controlSizes[which][0] ||
		len(body) > controlSizes[which][1] {
		return false
	}
	switch which {
	case controlClock:
		// A clock may be negative, but not so far out that arithmetic overflows.
		if us := int64(be.Uint64(body)); us > -1<<52 && us < 1<<52 {
			c.hearClock(time.Duration(us) * time.Microsecond)
		}
	case controlChallenge:
		if c.server != nil {
			return false
		}
		if from != c.route.addr {
			// Who brought it wants the client to answer for an address that is not the client's.
			c.m.stats.Misled++
			break
		}
		copy(c.answer[:], body)
		c.control |= 1 << wantAnswer
		c.urgent = true
	case controlAnswer:
		c.takeAnswer(body, from)
	case controlClose:
		c.peerCloses(Reason(body[0]), body[1:])
	case controlTicket:
		t, err := token.Parse(body)
		if c.server != nil || err != nil {
			return false
		}
		c.m.ticket, c.m.hasTicket = t, true
		c.m.emit(TicketReceived, c)
	case controlBulkCancel:
		switch body[1] {
		case 0:
			c.peerCanceledIn(BulkID(body[0]))
		case 1:
			c.peerCanceledOut(BulkID(body[0]))
		default:
			return false
		}
	}
	return true
}
