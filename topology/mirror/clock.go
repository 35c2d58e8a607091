package mirror

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// A clock keeps the group's time: tick n is due n tick lengths after its zero. Each mirror has one
// of its own and keeps it with those of the others.
//
// Packets carry their sender's raw clock, which is only ever echoed, and its idea of the group's
// time; with an echo they give the difference of two mirrors' group times to within half of a round
// trip, and much better where both ways are alike. A mirror follows the median of all, itself
// included, so that no single one that is wrong, or lies, can lead the others astray. Two mirrors
// have no median worth the name; there the überserver is right.
//
// The time never goes back and never jumps while the mirror takes part: it is slewed. If the
// machine's own clock jumped or stood still, the mirror cannot know which, and is unsure until
// enough others have told it what the time is.
type clock struct {
	local  time.Duration // the machine's time without its jumps
	last   time.Duration // what the machine said last
	steady time.Duration // the machine's time, but that it never goes back
	begun  bool
	offset time.Duration // group time is local time and this
	group  time.Duration // as last told
	unsure bool
	since  time.Duration // local: when it became so
	judged time.Duration // local: when offsets were last looked at
	jumps  int
	peers  map[member.ID]*distance
	all    []time.Duration // scratch

	toldAt time.Duration // steady: when others were last told the time
	turn   int           // whose clock was echoed then
}

const (
	// clockStall is a silence of the driver after which it is unknown whether time stood still or
	// jumped.
	clockStall = 500 * time.Millisecond
	// clockTold is how often each of the others is told the time.
	clockTold = 100 * time.Millisecond
	// clockEvery is how often offsets are looked at.
	clockEvery = 100 * time.Millisecond
	// clockSlew is the most that the time is moved then: one percent.
	clockSlew = time.Millisecond
	// clockStep is a difference that no slewing would take away in time.
	clockStep = 150 * time.Millisecond
	// clockMemory is for how long a sample counts.
	clockMemory = 3 * time.Second
	// clockSamples is how many others' words, or of how many exchanges, a mirror needs to be sure
	// again.
	clockSamples = 3
	// clockPatience is how long an unsure mirror waits for most of the others, before those that
	// have spoken are enough.
	clockPatience = time.Second
)

// A distance is what is known about one other mirror's clock.
type distance struct {
	// The last packet of it: its raw clock, to be echoed, and when it came by the group's time.
	raw   uint32
	came  time.Duration
	heard bool
	// Samples of its group time less our local time, each with its round trip.
	list []offsetSample
	next int
	n    int // since the clock became unsure
}

type offsetSample struct {
	at    time.Duration // local
	diff  time.Duration
	round time.Duration
	sure  bool // the other was
}

func newClock() clock { return clock{peers: map[member.ID]*distance{}} }

// reset forgets the group, but not how much time has passed.
func (c *clock) reset() {
	old := *c
	*c = newClock()
	c.begun, c.last, c.steady, c.local, c.judged, c.jumps = old.begun, old.last, old.steady,
		old.local, old.local, old.jumps
	c.toldAt, c.turn = old.toldAt, old.turn
}

// advance takes the machine's time. The überserver is whom to follow where there are only two.
func (c *clock) advance(now time.Duration, uber member.ID) {
	if !c.begun {
		c.begun, c.last = true, now
	}
	d := now - c.last
	c.last = now
	c.steady += max(d, 0)
	if d < 0 || d > clockStall {
		c.jumps++
		d = 0
		if len(c.peers) > 0 { // alone it does not matter what the time is
			c.doubt()
		}
	}
	c.local += d
	if c.local-c.judged >= clockEvery {
		c.judged = c.local
		c.follow(uber)
	}
	if !c.unsure {
		c.group = max(c.group, c.local+c.offset)
	}
}

// doubt forgets what was known about others, until they say it anew.
func (c *clock) doubt() {
	c.unsure, c.since = true, c.local
	for _, p := range c.peers {
		p.list, p.next, p.n = p.list[:0], 0, 0
	}
}

// enter begins anew with a group, at a time that is over there. What this clock said before it was
// of the group is nobody's time: it may be far ahead, where the machine runs for longer.
func (c *clock) enter(t time.Duration) {
	c.group = t
	c.doubt()
}

// back is told that the others are in touch again. An unsure clock has not been waiting for them
// while they were not.
func (c *clock) back() {
	if c.unsure {
		c.doubt()
	}
}

// now is the group's time.
func (c *clock) now() time.Duration { return c.group }

// set makes it a time of the group now.
func (c *clock) set(t time.Duration) {
	c.offset = t - c.local
	c.group = t
	c.unsure = false
}

// raw is what packets carry to be echoed, in microseconds.
func (c *clock) raw() uint32 { return uint32(c.local / time.Microsecond) }

// peer finds or makes what is known about another.
func (c *clock) peer(m member.ID) *distance {
	p := c.peers[m]
	if p == nil {
		p = &distance{list: make([]offsetSample, 0, 32)}
		c.peers[m] = p
	}
	return p
}

// forget drops one who is gone.
func (c *clock) forget(m member.ID) {
	delete(c.peers, m)
	if len(c.peers) == 0 {
		c.unsure = false // whatever it says is the time
	}
}

// heard takes the clocks in a packet of another, which has just come.
func (c *clock) heard(m member.ID, raw uint32) {
	p := c.peer(m)
	p.raw, p.came, p.heard = raw, c.local, true
}

// told takes the clocks that another has put into a packet, with an echo of ours if it is our turn.
func (c *clock) told(m, self member.ID, h *header) {
	if !h.clock {
		return
	}
	c.heard(m, h.raw)
	if h.echoed == self && h.echoRaw != 0 {
		c.echoed(m, h.echoRaw, h.held, h.group, !h.unsure)
	}
}

// tell puts clocks into a packet, ten times a second for each of the others, with an echo for one
// of them in turn.
func (c *clock) tell(h *header, others peers) {
	if len(others) == 0 || c.steady-c.toldAt < clockTold/time.Duration(len(others)) {
		return
	}
	c.toldAt = c.steady
	h.clock, h.unsure, h.group, h.raw = true, c.unsure, c.telling(), c.raw()
	c.turn = (c.turn + 1) % len(others)
	id := others[c.turn].id
	if d := c.peers[id]; d != nil && d.heard {
		h.echoed, h.echoRaw, h.held = id, d.raw, c.local-d.came
	}
}

// telling is the group's time as told to others: what this clock would say if it were sure, where
// it is not.
func (c *clock) telling() time.Duration { return max(c.local+c.offset, time.Microsecond) }

// echoed takes an echo of our raw clock: how long the other held it, its group time when it sent
// this, and whether it is sure of that.
func (c *clock) echoed(m member.ID, raw uint32, held, theirs time.Duration, sure bool) {
	round := time.Duration(int32(c.raw()-raw))*time.Microsecond - held
	if round < 0 || round > 10*time.Second || held > 10*time.Second {
		return
	}
	p := c.peer(m)
	s := offsetSample{at: c.local, round: round, diff: theirs + round/2 - c.local, sure: sure}
	if len(p.list) < cap(p.list) {
		p.list = append(p.list, s)
	} else {
		p.list[p.next] = s
	}
	p.next = (p.next + 1) % cap(p.list)
	p.n++
}

// best is the sample of late with the shortest round trip: it knows best. What others are not sure
// of counts only if that is wanted.
func (p *distance) best(local time.Duration, unsure bool) (offsetSample, bool) {
	var b offsetSample
	ok := false
	for _, s := range p.list {
		if local-s.at <= clockMemory && (s.sure || unsure) && (!ok || s.round < b.round) {
			b, ok = s, true
		}
	}
	return b, ok
}

// reference is by how much the others are ahead, if enough of them have said so.
func (c *clock) reference(uber member.ID) (diff time.Duration, ok bool) {
	diff, ok = c.consult(uber, false)
	if !ok && c.unsure && c.local-c.since > 2*clockPatience {
		// Nobody is sure: all machines stood still at once. What they would say is all there is.
		return c.consult(uber, true)
	}
	return diff, ok
}

// consult asks the others, or also those who are not sure.
func (c *clock) consult(uber member.ID, unsure bool) (diff time.Duration, ok bool) {
	c.all = c.all[:0]
	exchanges := 0
	for _, p := range c.peers {
		if b, ok := p.best(c.local, unsure); ok {
			c.all = append(c.all, b.diff-c.offset)
			exchanges = max(exchanges, p.n)
		}
	}
	if len(c.all) == 0 || c.unsure && exchanges < clockSamples {
		return 0, false
	}
	if len(c.peers) == 1 {
		if p := c.peers[uber]; p == nil && !(c.unsure && !unsure) {
			return 0, true // the other follows
		}
		return c.all[0], true
	}
	if c.unsure && !unsure && len(c.all) < (len(c.peers)+2)/2 && c.local-c.since < clockPatience {
		return 0, false // not yet most of them
	}
	if !c.unsure || unsure {
		c.all = append(c.all, 0) // ours is as good as any
	}
	slices.Sort(c.all)
	mid := len(c.all) / 2
	if len(c.all)%2 == 1 {
		return c.all[mid], true
	}
	return (c.all[mid-1] + c.all[mid]) / 2, true
}

// follow moves the time towards that of the others.
func (c *clock) follow(uber member.ID) {
	diff, ok := c.reference(uber)
	if !ok {
		return
	}
	if c.unsure {
		c.offset += diff
		c.unsure = false
		return
	}
	if diff > clockStep || diff < -clockStep {
		c.doubt()
		return
	}
	c.offset += max(min(diff/4, clockSlew), -clockSlew)
}

// A ClockReport says how well a mirror's clock is kept with the others'.
type ClockReport struct {
	// Offset is by how much the others' time is ahead of ours now, at the median. Bound is the most
	// that it can be wrong: half of the round trip to the furthest of them, which it would be if
	// one way took no time at all.
	Offset, Bound time.Duration
	// Unsure says that the clock jumped or stood still, and that others have not yet said what the
	// time is: nothing is stamped meanwhile.
	Unsure bool
	// Jumps counts how often it did.
	Jumps int
}

func (c *clock) report(uber member.ID) ClockReport {
	r := ClockReport{Unsure: c.unsure, Jumps: c.jumps}
	r.Offset, _ = c.reference(uber)
	for _, p := range c.peers {
		if b, ok := p.best(c.local, false); ok {
			r.Bound = max(r.Bound, b.round/2)
		}
	}
	return r
}
