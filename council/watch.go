package council

import (
	"time"

	"github.com/coeval-dev/coeval/member"
)

// This file is about who is there: beats, silence, and when to succeed a leader.
//
// A member that is not heard for Silence is thought to be gone. Nothing wrong can come of
// being mistaken about that; only decrees count, and they take a quorum. What must be
// avoided is that one member with a bad line disturbs the others. So nobody campaigns
// unless a quorum of the voters says in its beats that it does not hear the leader
// either, and nobody promises anything to another than the leader while it hears the
// leader. A leader that does not hear a quorum says so, and then counts as not heard.

// Heard tells that a member was heard by other means, at some time up to now.
func (c *Council) Heard(id member.ID, at time.Duration) {
	if p := c.peers[id]; p != nil {
		c.heard(p, min(at, c.now))
	}
}

func (c *Council) heard(p *peer, at time.Duration) { p.heard = max(p.heard, at) }

// advance takes the time, which must not run backwards. A member that was itself stopped for
// a while, or whose clock has jumped, must not blame the others for what it has not heard
// meanwhile; nor may it believe that they are still there.
func (c *Council) advance(now time.Duration) {
	gap := now - c.now
	if gap > c.opt.Silence/2 {
		c.wokeAt, c.backAt = now, now
	}
	if gap > c.opt.Resend {
		c.held.stopped(gap - c.opt.Resend)
	}
	c.now = max(c.now, now)
}

// Silent is for how long a member has not been heard, or has not heard this one, as far as this one
// was there to hear it. It is zero for this one, and for strangers.
func (c *Council) Silent(id member.ID) time.Duration {
	if p := c.peers[id]; p != nil && (p.distrusted || p.suspected) {
		return max(c.now, 1000*c.opt.Silence)
	} else if p != nil {
		return c.now - max(p.both(), c.wokeAt)
	}
	return 0
}

// Distrust has a member count as silent from now on, whatever it says: there is evidence that it
// lies, which must be such that all honest members come by it and believe it. They take it out as
// they take out who is silent.
func (c *Council) Distrust(id member.ID) {
	if p := c.peers[id]; p != nil {
		p.distrusted = true
	}
}

// Suspect has a member count as silent until it is no longer suspected, for one that is there and
// does not do its part. Others may see that otherwise, and suspect another: so what it says still
// counts, and so does its vote. A leader that is suspected is succeeded if a quorum suspects it.
func (c *Council) Suspect(id member.ID, suspected bool) {
	if p := c.peers[id]; p != nil {
		p.suspected = suspected
	}
}

// present reports whether a member was heard of late.
func (c *Council) present(id member.ID) bool {
	if id == c.opt.ID {
		return true
	}
	p := c.peers[id]
	return p != nil && !p.distrusted && c.now-p.both() < c.opt.Silence
}

// Quorum reports whether enough voters to decide anything were heard of late. Without,
// this member may be cut off, and the others may have decided to go on without it; as it
// seems when a decree that lacks it waits here to be put in force. A leader gives up a little
// before the others can have given it up: what they say of when they heard it took a while to get
// here.
func (c *Council) Quorum() bool {
	return !c.dismissed && c.decree.Quorum(c.counts) &&
		!c.held.excludes(c.opt.ID)
}

// counts reports whether a member is there. For a leader it must have been heard so lately, and
// have heard this one, that it does not miss this one yet, however long its word was on its way: up
// to an eighth of Silence.
func (c *Council) counts(id member.ID) bool {
	return c.present(id) && (id == c.opt.ID || !c.Leads() ||
		c.now-c.peers[id].both() < c.opt.Silence-c.opt.Silence/8)
}

// leaderThere reports whether the leader is heard, and hears a quorum.
func (c *Council) leaderThere() bool {
	if c.Leads() {
		return c.Quorum()
	}
	p := c.peers[c.decree.Leader]
	// Whether it hears us does not matter here, as long as it hears others: it says if it does not.
	return !p.distrusted && !p.suspected && c.now-max(p.heard, c.wokeAt) < c.opt.Silence &&
		p.flags&flagCutOff == 0
}

// silentOnes lists who has not been heard for too long.
func (c *Council) silentOnes() (list []member.ID) {
	c.others(true, func(id member.ID, _ *peer) {
		if c.Silent(id) >= c.opt.Silence {
			list = member.Insert(list, id)
		}
	})
	return list
}

// beat tells the others what is known here.
func (c *Council) beat() {
	m := message{kind: kindBeat, epoch: c.decree.Epoch, ballot: c.promised}
	if c.doubting {
		m.flags |= flagDoubt
	}
	if !c.Quorum() {
		m.flags |= flagCutOff
	}
	// Learners have nothing to say to each other.
	c.others(c.decree.Votes(c.opt.ID), func(id member.ID, p *peer) {
		m.age = c.age(p)
		c.send(id, &m)
	})
	pause := c.opt.Silence / 6
	if c.doubting {
		pause = min(pause, c.opt.Resend)
	}
	c.beatAt = c.now + pause*7/8 + time.Duration(float64(pause/4)*c.unit())
}

// takeBeat learns what another knows, and helps it if it knows less.
func (c *Council) takeBeat(from member.ID, p *peer, m *message) {
	p.epoch = max(p.epoch, m.epoch)
	p.beat, p.flags = c.now, m.flags
	c.echoed(p, m.age)
	if m.epoch != c.decree.Epoch {
		p.open, p.flags = ballot{}, p.flags&^flagDoubt
	} else {
		if p.open.none() {
			p.openAt = c.now
		}
		p.open = m.ballot
		c.topRound = max(c.topRound, m.ballot.round)
	}
	switch {
	case m.epoch < c.decree.Epoch:
		c.catchUp(from, p, m.epoch+1)
	case m.epoch > c.decree.Epoch:
		c.ask(from, p)
	}
}

// catchUp gives a member the decree that it lacks, with its proof. If that is so long ago that it
// is not kept, the newest: whoever knows enough of those who voted for it can go on from there.
func (c *Council) catchUp(to member.ID, p *peer, epoch uint32) {
	if c.now-p.told < c.opt.Resend {
		return
	}
	p.told = c.now
	k := &c.past[epoch%keepDecrees]
	if k.epoch != epoch {
		k = &c.past[c.decree.Epoch%keepDecrees]
		c.send(to, &message{kind: kindOut, epoch: c.decree.Epoch})
	}
	c.send(to, &message{kind: kindDecided, epoch: k.epoch, link: k.link})
	if k.epoch < c.decree.Epoch {
		p.told = c.now - c.opt.Resend // there is more; it will ask
	}
}

// tellOut tells a former member that it is one: by the decree after those that it knows, or by
// word alone if that is not kept.
func (c *Council) tellOut(to member.ID, p *peer, knows uint32) {
	if c.now-p.told < c.opt.Resend {
		return
	}
	p.told = c.now
	note := c.opt.Owner.Farewell(to)
	m := message{kind: kindOut, epoch: c.decree.Epoch, rest: note[:min(len(note), maxNote)]}
	if k := &c.past[(knows+1)%keepDecrees]; k.epoch == knows+1 && len(k.link.votes) > 0 {
		m.kind, m.epoch, m.link = kindDecided, k.epoch, k.link
	}
	c.send(to, &m)
}

// Greet shows a member what is known here without waiting for the next beat: one that has just come
// within reach, and may wait for it.
func (c *Council) Greet(now time.Duration, id member.ID) {
	c.advance(now)
	if p := c.peers[id]; p != nil && !c.dismissed && c.decree.Has(id) {
		c.ask(id, p)
	}
}

// ask shows one that knows more what is known here, so that it tells.
func (c *Council) ask(to member.ID, p *peer) {
	if c.now-p.asked < c.opt.Resend {
		return
	}
	p.asked = c.now
	c.send(to,
		&message{kind: kindBeat, epoch: c.decree.Epoch, ballot: c.promised, age: c.age(p)})
}

// watch notices that the leader is gone, and succeeds it when it is time.
func (c *Council) watch() {
	c.regain()
	if c.leaderThere() {
		if c.doubting {
			c.doubting = false
			c.beatAt = c.now
		}
		if c.bid != nil && c.bid.campaign && c.bid.phase == preparing {
			c.bid = nil // it has come back
		}
		c.clearUp()
		return
	}
	if !c.doubting {
		c.doubting, c.doubtAt = true, c.now
		c.beatAt = c.now
		c.delay = c.turn()
	}
	if c.bid != nil || !c.decree.MayLead(c.opt.ID) || c.Leads() || c.now < c.doubtAt+c.delay ||
		c.now < c.retryAt {
		return
	}
	agree := func(id member.ID) bool {
		if id == c.opt.ID {
			return true
		}
		p := c.peers[id]
		return c.present(id) && p.flags&flagDoubt != 0 && c.now-p.beat < c.opt.Silence
	}
	if c.decree.Quorum(agree) {
		c.stats.Campaigns++
		c.start(c.silentOnes(), true)
	}
}

// turn is how long to leave the campaign to others: the lowest that is there goes first.
func (c *Council) turn() time.Duration {
	rank := 0
	c.others(false, func(id member.ID, _ *peer) {
		if id < c.opt.ID && c.decree.MayLead(id) && c.present(id) && id != c.decree.Leader {
			rank++
		}
	})
	step := max(c.opt.Silence/4, 2*c.opt.Resend)
	return time.Duration(float64(step) * (float64(rank) + c.unit()/2))
}

// clearUp has a leader decide something when an attempt was left undone, another's or its own: its
// promises still bind voters, and what they froze stays frozen.
func (c *Council) clearUp() {
	if !c.Leads() || c.bid != nil || c.wish {
		return
	}
	open := false
	c.others(false, func(_ member.ID, p *peer) {
		open = open || !p.open.none() && c.now-p.openAt > c.opt.Silence/2 &&
			c.now-p.beat < c.opt.Silence
	})
	if open || !c.promised.none() {
		c.wish, c.want = true, c.silentOnes()
	}
}
