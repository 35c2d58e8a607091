package council

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// This file is about how a decree that has its votes comes into force here.
//
// Votes of a quorum decide. But a quorum may have a liar in it, and a liar may find two quorums
// that have nobody but itself in common. So a member puts a decree in force at once only if of the
// voters that it hears so many have voted for it that any two such sets have two voters in common:
// three of four, four of five, and of three all; or if two others have put it in force. If fewer
// have, it holds the decree: it tells the votes to all whom it hears, votes for no other, and waits
// for as long as it would wait for one that is silent. Whoever knows of votes for another decree
// says so by then. Of two decrees of one ballot those who voted for both have no vote; of two
// ballots that with more votes counts, or the lower. What turns up late does not compete any more:
// some may have put the first in force by then. It is put in force only if another than the one who
// proposed it has done so, whatever votes it has.

// pending is a decree with its votes that waits to be put in force.
type pending struct {
	decree  Decree
	link    Link
	note    []byte
	since   time.Duration
	entered []member.ID // who has put it in force
	late    bool
}

// maxHeld bounds the decrees that wait: of honest members there is one.
const maxHeld = 4

// holding is the decrees that wait to be put in force, the oldest first.
type holding struct {
	list   []*pending
	tellAt time.Duration
	twice  []member.ID // who has voted for two decrees in one ballot
}

func (h *holding) votedTwice(v vote) bool { return contains(h.twice, v.from) }

// of is what is held of a decree, or nil.
func (h *holding) of(decree []byte) *pending {
	for _, q := range h.list {
		if bytes.Equal(q.link.Decree, decree) {
			return q
		}
	}
	return nil
}

// stopped says that this member did not run for a while, in which it heard of no other decree.
func (h *holding) stopped(d time.Duration) {
	for _, q := range h.list {
		q.since += d
	}
}

// belated reports whether a decree came to be known long after another of its number: who proposed
// both may have kept it back until others are about to put the first in force.
func (h *holding) belated(q *pending) bool {
	return q.late && slices.ContainsFunc(h.list,
		func(o *pending) bool { return o != q && o.decree.Epoch == q.decree.Epoch })
}

// enteredByAnother reports whether one who has not proposed it has put it in force.
func (q *pending) enteredByAnother() bool {
	return slices.ContainsFunc(q.entered,
		func(id member.ID) bool { return id != q.link.ballot.id })
}

// another reports whether a decree other than that is held.
func (h *holding) another(d *digest) bool {
	return slices.ContainsFunc(h.list,
		func(q *pending) bool { return sha256.Sum256(q.link.Decree) != *d })
}

// excludes reports whether a decree is held that lacks a member.
func (h *holding) excludes(id member.ID) bool {
	return slices.ContainsFunc(h.list, func(q *pending) bool { return !q.decree.Has(id) })
}

// unproven notes that a member says what it does not prove. For a while nothing of it that costs
// signatures to check is looked at.
func (c *Council) unproven(p *peer) {
	c.stats.Unproven++
	p.doubtedUntil = c.now + c.opt.Resend
}

// learn takes a decree that another says was decided.
func (c *Council) learn(from member.ID, p *peer, m *message) {
	d, err := ReadDecree(m.link.Decree)
	if err != nil || d.Epoch != m.epoch {
		c.stats.Malformed++
		return
	}
	switch {
	case d.Epoch <= c.decree.Epoch:
		c.heard(p, c.now)
		k := &c.past[d.Epoch%keepDecrees]
		if k.epoch == d.Epoch && !bytes.Equal(k.link.Decree, m.link.Decree) {
			c.stats.Split++
			c.catchUp(from, p, d.Epoch)
		}
		return
	case d.Epoch > c.decree.Epoch+1 && d.Epoch-c.decree.Epoch <= keepDecrees:
		return // those before it can be had
	case c.now < p.doubtedUntil:
		c.stats.Unheard++
		return
	}
	if !c.take(from, d, &m.link, m.rest) {
		c.unproven(p)
		return
	}
	c.heard(p, c.now)
	if m.kind == kindDecided {
		p.epoch = max(p.epoch, d.Epoch)
		if q := c.held.of(m.link.Decree); q != nil {
			q.entered = member.Insert(q.entered, from)
			c.ripen()
		}
	}
}

// take checks the proof of a decree that is later than the present one, by whoever tells it, and
// holds it.
func (c *Council) take(by member.ID, d Decree, l *Link, note []byte) bool {
	if q := c.held.of(l.Decree); q != nil && q.link.ballot == l.ballot &&
		!slices.ContainsFunc(l.votes,
			func(v vote) bool { return !slices.Contains(q.link.votes, v) }) {
		if len(note) > 0 {
			q.note = bytes.Clone(note)
		}
		q.late = q.late && c.late(by, l)
		return true // there is no vote that is not known here
	}
	good, ok := proved(c.opt.Keys, &c.decree, &d, l)
	if !ok {
		return false
	}
	link := Link{bytes.Clone(l.Decree), l.ballot, good}
	if d.Epoch != c.decree.Epoch+1 {
		link.votes = slices.Clone(l.votes) // of others than those known here as well
	}
	c.weigh(by, d, &link, bytes.Clone(note))
	return true
}

// weigh holds a proved decree, and puts it in force if it need not wait.
func (c *Council) weigh(by member.ID, d Decree, l *Link, note []byte) {
	h := &c.held
	q := h.of(l.Decree)
	switch {
	case q == nil && len(h.list) == maxHeld:
		return
	case q == nil:
		q = &pending{decree: d, link: *l, note: note, since: c.now, late: c.late(by, l)}
		// Mostly the votes that lack come at once. Where there is another, all should know.
		h.tellAt = c.now
		if h.list = append(h.list, q); len(h.list) == 1 {
			h.tellAt += c.opt.Resend / 2
		}
	case q.link.ballot == l.ballot:
		for _, v := range l.votes {
			q.link.votes = insertVote(q.link.votes, v)
		}
	case len(l.votes) > len(q.link.votes):
		q.link = *l
	}
	if len(note) > 0 {
		q.note = note
	}
	q.late = q.late && c.late(by, l)
	for _, o := range h.list {
		if o == q || q.late || o.late || o.decree.Epoch != d.Epoch {
			continue
		}
		c.stats.Split++
		for _, v := range q.link.votes {
			if o.link.ballot == q.link.ballot && o.link.votedBy(v.from) {
				h.twice = member.Insert(h.twice, v.from)
			}
		}
	}
	c.ripen()
}

// late reports whether it is too late for a decree, told by a member, to compete with the first
// that is held. Who has proposed it may tell some in time and others not. Those who are told in
// time pass it on at once, so what another passes on has as much time more as that takes.
func (c *Council) late(by member.ID, l *Link) bool {
	if len(c.held.list) == 0 {
		return false
	}
	most := c.opt.Silence / 2
	if by != 0 && by != l.ballot.id {
		most += c.opt.Silence / 4
	}
	return c.now-c.held.list[0].since > most
}

// justBack reports whether this member was stopped until now: others may have gone on without it,
// and what it hears first is not what they have put in force.
func (c *Council) justBack() bool {
	return c.backAt != 0 && c.now-c.backAt < c.opt.Silence/2
}

// ripe reports whether so many of the voters that are heard have voted that any two such sets have
// two voters in common, or all of them have. Where two or fewer are heard a quorum is all there
// can be, and of two members no two can be told different things.
func (c *Council) ripe(l *Link) bool {
	heard, voted := 0, 0
	for _, id := range c.decree.Voters {
		if c.present(id) || c.now-c.wokeAt < c.opt.Silence {
			heard++
			if l.votedBy(id) {
				voted++
			}
		}
	}
	return heard <= 2 || voted >= min(heard, (heard+3)/2)
}

// ripen puts in force what need not wait, or has waited long enough, and tells others what waits.
func (c *Council) ripen() {
	h := &c.held
	if len(h.list) == 0 || c.dismissed {
		return
	}
	var best *pending
	for _, q := range h.list {
		votes := slices.DeleteFunc(slices.Clone(q.link.votes), h.votedTwice)
		l := Link{q.link.Decree, q.link.ballot, votes}
		if len(q.entered) < 2 && !c.decree.Quorum(l.votedBy) {
			continue
		}
		atOnce := c.ripe(&l) && !c.justBack() && (!h.belated(q) || q.enteredByAnother())
		if len(q.entered) >= 2 || atOnce {
			c.force(q)
			return
		}
		if !q.late && (best == nil || len(votes) > len(best.link.votes) ||
			len(votes) == len(best.link.votes) && l.ballot.less(best.link.ballot)) {
			best = q
		}
	}
	if c.now-h.list[0].since >= c.opt.Silence {
		if best != nil {
			c.force(best)
		} else {
			h.list = nil // nothing of it counts; another ballot will do
		}
		return
	}
	if c.now >= h.tellAt {
		h.tellAt = c.now + c.opt.Resend
		c.others(false, func(id member.ID, _ *peer) {
			for _, q := range h.list {
				if c.present(id) && !q.late {
					c.send(id, &message{kind: kindHeld, epoch: q.decree.Epoch, link: q.link})
				}
			}
		})
	}
}

// force puts a decree in force.
func (c *Council) force(q *pending) {
	c.held.list = nil
	if b := c.bid; b != nil && b.phase == accepting && b.ballot == q.link.ballot {
		c.conclude(q.decree, &q.link)
	} else if q.decree.Has(c.opt.ID) {
		c.enter(q.decree, &q.link)
	} else {
		c.dismissed, c.note = true, q.note
	}
}

// claimedOut takes a member's word that this one is out, without proof: it counts if a quorum says
// so. They say it of one that has missed more decrees than they keep.
func (c *Council) claimedOut(from member.ID, m *message) {
	if m.epoch <= c.decree.Epoch {
		return
	}
	c.stats.Claimed++
	c.outs = member.Insert(c.outs, from)
	if c.decree.Quorum(func(id member.ID) bool { return contains(c.outs, id) }) {
		c.dismissed, c.note = true, bytes.Clone(m.rest)
	}
}

// Teach gives a member a decree that was decided, with its proof, by other means than messages
// between members: one that knows nobody any more who is still there cannot hear of it otherwise.
// It need not be the next one; then Decided has a gap. It reports whether it is proved.
func (c *Council) Teach(now time.Duration, l *Link) bool {
	c.advance(now)
	d, err := ReadDecree(l.Decree)
	if c.dismissed || err != nil || d.Epoch <= c.decree.Epoch {
		return false
	}
	if !c.take(0, d, l, nil) {
		c.stats.Unproven++
		return false
	}
	return true
}

// Past is the decree of an epoch with its proof, or false if it is not kept.
func (c *Council) Past(epoch uint32) (Link, bool) {
	k := &c.past[epoch%keepDecrees]
	return k.link, k.epoch == epoch
}
