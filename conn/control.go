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
	every := clockEvery
	if c.clocksSent < clockSamples {
		every = clockQuick
	}
	if c.m.now-c.lastClock >= every && f.room(0)-spare >= 8 {
		c.lastClock = c.m.now
		c.clocksSent++
		be.PutUint64(c.m.clock[:], uint64(c.m.raw/time.Microsecond))
		f.add(frameControl<<4|controlClock, nil, c.m.clock[:], SentControl)
	}
}

func (c *Conn) fillWanted(f *frames, spare int) {
	if c.control&(1<<wantAnswer) != 0 && f.room(0)-spare >= len(c.answer) {
		c.control &^= 1 << wantAnswer
		f.add(frameControl<<4|controlAnswer, nil, c.answer[:], SentControl)
		f.elicits = true
	}
	if c.control&(1<<wantTicket) != 0 && f.room(0)-spare >= len(c.ticket) {
		c.control &^= 1 << wantTicket
		f.add(frameControl<<4|controlTicket, nil, c.ticket, SentControl)
		f.elicits = true
		c.sent.note(controlRef(wantTicket))
	}
	if c.control&(1<<wantCancelOut) != 0 && f.room(0)-spare >= 2 {
		c.control &^= 1 << wantCancelOut
		f.add(frameControl<<4|controlBulkCancel, nil, c.bulkOut.canceled[:], SentControl)
		f.elicits = true
		c.sent.note(controlRef(wantCancelOut))
	}
	if c.control&(1<<wantCancelIn) != 0 && f.room(0)-spare >= 2 {
		c.control &^= 1 << wantCancelIn
		f.add(frameControl<<4|controlBulkCancel, nil, c.bulkIn.canceled[:], SentControl)
		f.elicits = true
		c.sent.note(controlRef(wantCancelIn))
	}
}

func (c *Conn) controlArrived(which int) {
	if which == wantTicket && c.control&(1<<wantTicket) == 0 {
		c.ticket = nil
	}
}

func (c *Conn) controlLost(which int) {
	if which == wantTicket && c.ticket == nil {
		return
	}
	c.control |= 1 << which
}

// takeControl handles a control frame. It returns false if the peer broke the rules.
func (c *Conn) takeControl(which uint8, body []byte, from netip.AddrPort) bool {
	switch which {
	case controlPing:
		return len(body) == 0
	case controlClock:
		if len(body) != 8 {
			return false
		}
		// A clock may be negative, but not so far out that arithmetic overflows.
		if us := int64(be.Uint64(body)); us > -1<<52 && us < 1<<52 {
			c.hearClock(time.Duration(us) * time.Microsecond)
		}
		return true
	case controlChallenge:
		if len(body) != len(c.answer) {
			return false
		}
		copy(c.answer[:], body)
		c.control |= 1 << wantAnswer
		c.urgent = true
		return true
	case controlAnswer:
		if len(body) != len(c.answer) {
			return false
		}
		c.takeAnswer(body, from)
		return true
	case controlClose:
		if len(body) < 1 || len(body) > 1+maxNote {
			return false
		}
		c.peerCloses(Reason(body[0]), body[1:])
		return true
	case controlTicket:
		if c.server != nil {
			return false
		}
		t, err := token.Parse(body)
		if err != nil {
			return false
		}
		c.m.ticket, c.m.hasTicket = t, true
		c.m.emit(TicketReceived, c)
		return true
	case controlBulkCancel:
		if len(body) != 2 || body[1] > 1 {
			return false
		}
		if body[1] == 0 {
			c.peerCanceledIn(BulkID(body[0]))
		} else {
			c.peerCanceledOut(BulkID(body[0]))
		}
		return true
	}
	return false
}
