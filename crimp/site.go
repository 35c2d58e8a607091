package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// With Options.Carry, members of one site may hear each other by IP multicast; that they do is
// never assumed. Each sends a beacon with what it tells of lines, and sends it to the group's
// address alone: who takes one has evidence that this member's multicast comes to it, and tells
// the maker so, with the lines and so by unicast. A packet for all goes by multicast once, if two
// members or more have said that they hear it, and to each of the others by itself.
//
// Beacons are small and few, and what passes them need not pass packets. So a member that has
// said that it hears another watches what comes: where the other's packets stop, or many are
// lost, it takes its word back, and does not give it again for a while. Requests, repairs and
// whispers go by unicast in any case.
//
// The body of a beacon is the sender's clock in microseconds, 4.

// cast is what is known of multicast between this member and another of its site.
type cast struct {
	beacons replayWindow
	heard   time.Duration // when its last beacon came
	row     int           // its beacons that came, without a long gap between them
	came    time.Duration // when a packet came as it was first sent
	gap     time.Duration // between two of those, smoothed
	// said is what we have told it: that we hear its multicast. It has been so since saidAt.
	said   bool
	saidAt time.Duration
	// Its packets did not come although we had said so: until then we do not say it again.
	holdTo time.Duration
	hold   time.Duration
	hears  bool // it says that it hears ours
	covers bool // it is sent to by multicast, with this Flush
}

const (
	beaconBody = 4
	// Multicast is relied on after so many beacons in a row.
	rowCast = 3
	// A member of which nothing comes for so many of the usual gaps between its packets is not
	// heard.
	castGap = 6
	// A share of packets lost above which multicast is not relied on.
	castLoss = 0.3
	// How long multicast that failed is not relied on, at first and at most: twice as long each
	// time, and from the beginning when it has worked for the longest time.
	castHold    = time.Second
	castHoldMax = time.Minute
	// castLeast is how many others must hear it: for one, a datagram of its own is as short.
	castLeast = 2
)

// flagCast in a line's message says that the receiver's multicast is heard.
const flagCast = 1

// atSite reports whether a member may hear our multicast, and we its own.
func (g *Group) atSite(p *peer) bool {
	return g.opt.Carry && p.present && p.card.Site == g.self.card.Site && g.multicasts()
}

// Casts lists the members to whom packets go by multicast.
func (g *Group) Casts() (list []member.ID) {
	for _, p := range g.peers {
		if p.cast.covers {
			list = append(list, p.id)
		}
	}
	return list
}

// watchSite looks at what comes by multicast, and decides who is sent to by it.
func (g *Group) watchSite() {
	if g.self == nil || !g.opt.Carry || !g.multicasts() {
		return
	}
	near, covered := false, 0
	for _, p := range g.peers {
		c := &p.cast
		if !g.atSite(p) {
			p.cast = cast{beacons: c.beacons}
			continue
		}
		near = true
		g.judgeCast(p)
		if c.covers = c.hears && g.joined(p.id); c.covers {
			covered++
		}
	}
	if covered < castLeast {
		for _, p := range g.peers {
			p.cast.covers = false
		}
	}
	if t := g.lines.table; t != nil {
		t.Often(near)
	}
}

// judgeCast decides what we say of a member's multicast.
func (g *Group) judgeCast(p *peer) {
	c := &p.cast
	if c.said && g.castFails(p) {
		if g.now-c.saidAt > castHoldMax {
			c.hold = 0
		}
		c.hold = min(max(2*c.hold, castHold), castHoldMax)
		c.holdTo = g.now + c.hold
		g.stats.CastLost++
	}
	says := c.row >= rowCast && g.now-c.heard < g.castAge() && g.now >= c.holdTo
	if says == c.said {
		return
	}
	if c.said, c.saidAt = says, g.now; g.lines.table != nil {
		g.lines.table.Hasten(g.now)
	}
}

// castAge is how old the last beacon of who is heard may be.
func (g *Group) castAge() time.Duration { return g.opt.History / 4 * 3 / 4 }

// castFails reports whether a member's packets do not come, though its beacons may.
func (g *Group) castFails(p *peer) bool {
	if g.now-p.cast.heard >= g.castAge() {
		return false // that is reason enough by itself
	}
	if p.lossRate > castLoss && g.now-p.cast.saidAt > castHold {
		return true
	}
	// What it sent by unicast before it knew may still be on the way.
	since := max(p.cast.came, p.cast.saidAt+2*p.delay.oneWay())
	return p.cast.gap > 0 && g.now-since > castGap*p.cast.gap+p.margin()
}

// cameByCast notes that a packet has come as it was first sent. Requests are no sign: they go by
// unicast.
func (c *cast) cameByCast(now, most time.Duration) {
	gap := min(now-c.came, most)
	if c.gap += (gap - c.gap) / 8; c.came == 0 {
		c.gap = 0
	}
	c.came = now
}

// sendBeacon sends a beacon by multicast, if anybody may hear it.
func (g *Group) sendBeacon() {
	if g.self == nil || g.sending == nil {
		return
	}
	for _, p := range g.peers {
		if !g.atSite(p) {
			continue
		}
		e := g.sending
		b := g.buffers.Get(e.bodyAt + beaconBody + sealSize + sealSlack)[:e.bodyAt]
		b = be.AppendUint32(b, g.clock())
		b = g.seal(e, &header{kind: kindBeacon, number: g.count(kindBeacon)}, b)
		g.post(b, toSite, SentLine)
		return
	}
}

// takeBeacon takes a beacon that its maker made.
func (g *Group) takeBeacon(p *peer, body []byte) {
	c := bits.CursorOver(body)
	var clock uint32
	if c.U32(&clock); !c.Done() {
		g.stats.Malformed++
		return
	}
	if !g.atSite(p) {
		return
	}
	if g.now-p.cast.heard >= g.castAge() {
		p.cast.row = 0
	}
	p.cast.heard = g.now
	p.cast.row++
}

// saidCast takes what a member says of our multicast.
func (g *Group) saidCast(from member.ID, flags byte) {
	if p := g.byID[from]; p != nil && g.self != nil && g.atSite(p) {
		p.cast.hears = flags&flagCast != 0
	}
}

// castFlags is what we say to a member of its multicast.
func (g *Group) castFlags(to member.ID) byte {
	if p := g.byID[to]; p != nil && p.cast.said {
		return flagCast
	}
	return 0
}
