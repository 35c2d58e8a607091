package mirror

import (
	"time"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A congestion is what this mirror does about lines that carry less than mirrors have to say. Most
// of what they send is not commands but what is around each packet; so fewer packets with more
// in each take half of the bytes and less, and cost some milliseconds of sight. How much less often
// this one sends, stretch, rises while package crimp reports that the group suffers, and falls when
// it has not for a while. What is sent in advance against loss shrinks with it, since loss that
// comes of too much is not mended by more. Where none of that helps, nobody new is let in here.
type congestion struct {
	level   float64       // as reported last, from 0 to 1
	stretch float64       // 1 to stretchMost
	looked  time.Duration // steady: when it was last looked at
	well    time.Duration // since when the group does not suffer
	most    time.Duration // since when all that can be done is done, and it suffers; zero if not
	refused uint64        // newcomers that were not let in
	told    bool          // that mirrors send less
	idle    bool          // nothing is done about it
}

const (
	congestLook = 250 * time.Millisecond
	// Congestion above and below which something is done; see crimp.Group.Congestion.
	congestHigh = 1.0 / 3
	congestLow  = 0.15
	// Above this nothing that is done helps: on a narrow line, a third is what a large packet makes
	// the next small one wait.
	congestFull = 0.6
	// By how much the time between packets grows at each look, and falls when all has been well
	// for wellTime.
	stretchMore = 1.5
	stretchLess = 0.8
	stretchMost = 8
	wellTime    = 2 * time.Second
	// fullTime is how long it may go on at the most before nobody new is let in: what is reported
	// is smoothed over packets, of which there are few by then.
	fullTime = 10 * time.Second
	// forwardShare is how many bytes may be sent in advance for each that is sent anyway.
	forwardShare = 2
)

// relieve looks at how the group does, and sends more or less.
func (m *Mirror) relieve() {
	c := &m.congest
	now := m.clock.steady
	if now-c.looked < congestLook || c.idle {
		return
	}
	c.looked, c.stretch = now, max(c.stretch, 1)
	c.level = m.group.node.Group().Congestion()
	was := c.stretch
	switch {
	case c.level > congestHigh:
		c.stretch = min(c.stretch*stretchMore, stretchMost)
		c.well = now
	case c.level > congestLow:
		c.well = now
	case now-c.well >= wellTime:
		c.stretch = max(c.stretch*stretchLess, 1)
	}
	if c.stretch < stretchMost || c.level <= congestHigh {
		c.most = 0
	} else if c.most == 0 && c.level > congestFull {
		c.most = now
	}
	if c.stretch != was {
		m.group.node.Group().SetAllowance(forwardShare / (c.stretch * c.stretch))
	}
	if high := c.stretch >= 2; high && !c.told {
		c.told = true
		m.tell(News{Kind: Congested,
			Text: "packets to other mirrors wait or are lost; fewer are sent"})
	} else if c.told && c.stretch == 1 {
		c.told = false
		m.tell(News{Kind: Relieved})
	}
}

// full says that lines are so bad, whatever is done, that nobody new is let in.
func (c *congestion) full(now time.Duration) bool { return c.most != 0 && now-c.most >= fullTime }

// sendEvery is how often commands are passed on at present.
func (m *Mirror) sendEvery() time.Duration {
	return min(time.Duration(float64(m.opt.SendEvery)*max(m.congest.stretch, 1)),
		max(m.opt.SendEvery, 10*m.game.TickLength()))
}

// turnsAway refuses a client who has no player yet, if lines to the other mirrors are overloaded.
// Who comes from another mirror is let in.
func (m *Mirror) turnsAway(client uint64) bool {
	if !m.congest.full(m.clock.steady) || m.roll.registry.clients[client] != nil {
		return false
	}
	m.congest.refused++
	m.decides(server.Decision{Kind: server.Deny, Client: client, Reason: wire.ReasonNoSeat,
		Text: "the lines from here to the other mirrors are overloaded; try another mirror"})
	return true
}

// A CongestionReport says how the lines to other mirrors do, and what is done about it.
type CongestionReport struct {
	// Level is how much the group suffers from what it sends itself, 0 to 1.
	Level float64
	// SendEvery is how often commands are passed on at present.
	SendEvery time.Duration
	// Full says that no new players are let in; Refused counts those that were not.
	Full    bool
	Refused uint64
}

// Congestion tells how the lines to other mirrors do.
func (m *Mirror) Congestion() CongestionReport {
	c := &m.congest
	return CongestionReport{c.level, m.sendEvery(), c.full(m.clock.steady), c.refused}
}
