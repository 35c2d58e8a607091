package council

import (
	"time"

	"github.com/coeval-dev/coeval/member"
)

// This file is about being heard. A line may pass one way only; a leader that hears everybody and
// that nobody hears would lead on while the others elect another. So a member counts as there up to
// when two things are known: that it was heard, and that it has heard this one. Beats say to each
// when it was last heard, and Echoed tells what is known by other means.
//
// One thing does not depend on being heard: whether the leader is there. A member does not turn to
// another leader for Silence after it has heard the present one, and the leader knows when that was
// from what it has been told. So it stops before they turn away, whatever is lost on the way.

// ageUnit is what a beat counts the time in since the receiver was last heard.
const ageUnit = time.Millisecond

// mostAge stands for longer than that.
const mostAge = 1<<16 - 1

// Echoed tells that a member has heard this one, at some time up to now.
func (c *Council) Echoed(id member.ID, at time.Duration) {
	if p := c.peers[id]; p != nil {
		p.echo = max(p.echo, min(at, c.now))
	}
}

// age is for how long a member has not been heard here, as a beat tells it. One that has just come
// is given time as if it had been heard, and is not told that it was.
func (c *Council) age(p *peer) uint16 {
	if !p.met {
		return mostAge
	}
	return uint16(min((c.now-p.heard)/ageUnit, mostAge))
}

// echoed takes what a beat says of when this member was heard.
func (c *Council) echoed(p *peer, age uint16) {
	if age < mostAge {
		p.echo = max(p.echo, c.now-time.Duration(age)*ageUnit)
	}
}

// both is up to when a member was heard, and had heard this one.
func (p *peer) both() time.Duration { return min(p.heard, p.echo) }

// Absent lists the other members that are not there: they have not been heard for Silence, or have
// not heard this one.
func (c *Council) Absent() (list []member.ID) {
	c.others(true, func(id member.ID, _ *peer) {
		if !c.counts(id) && (c.decree.Votes(c.opt.ID) || c.decree.Votes(id)) {
			list = member.Insert(list, id)
		}
	})
	return list
}

// regain notices that a quorum is there again after it was not. Those that are not yet may be about
// to be: when lines come back they do so one after the other. So they are given as much time as if
// this member had been stopped itself, and what was proposed about them before is given up, unless
// somebody may have accepted it.
func (c *Council) regain() {
	quorum := c.Quorum()
	if quorum && c.apart {
		c.wokeAt = c.now
		if c.bid != nil && c.bid.phase == preparing {
			c.bid = nil
		}
		c.wish, c.want = false, nil
	}
	c.apart = !quorum
}
