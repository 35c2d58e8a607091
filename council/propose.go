package council

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// This file is single-decree Paxos (Lamport, The Part-Time Parliament, 1998), once for
// each epoch, with the voters that the decree before names: as in his section 3.3.4 on
// changing the parliament, but with no decree in flight before the last one is known.

// bid is an attempt to have a decree decided.
type bid struct {
	ballot   ballot
	phase    phase
	campaign bool
	suspects []member.ID
	reports  []Report
	promises []promised
	claimed  map[digest][]byte // the decrees that promises are about
	value    []byte            // the decree that is proposed
	digest   digest            // of that
	sign     Signature         // for that
	votes    []vote
	began    time.Duration
	resendAt time.Duration
	enough   bool // a quorum has promised
	enoughAt time.Duration
}

type phase uint8

const (
	preparing phase = iota
	accepting
)

// Propose has the leader bring about a decree, which Owner.Compose will make. The suspects
// are members that may be taken out by it: all voters are asked about them first. It is
// tried for a while, or until some decree is decided, this one or another's: then, if it still is
// wanted, it must be proposed again. It reports whether it will be tried: false for one
// that does not lead, while a proposal with other suspects is under way, or without a
// quorum.
func (c *Council) Propose(now time.Duration, suspects []member.ID) bool {
	c.advance(now)
	if !c.Leads() || !c.Quorum() {
		return false
	}
	if c.wish || c.bid != nil {
		return slices.Equal(c.want, suspects)
	}
	c.wish, c.want = true, slices.Clone(suspects)
	c.pursue()
	return true
}

// Proposing reports whether an attempt to decide is under way here.
func (c *Council) Proposing() bool { return c.wish || c.bid != nil }

// start begins an attempt.
func (c *Council) start(suspects []member.ID, campaign bool) {
	c.stats.Ballots++
	c.topRound = max(c.topRound, c.promised.round) + 1
	c.bid = &bid{
		ballot: ballot{c.topRound, c.opt.ID}, campaign: campaign, suspects: slices.Clone(suspects),
		began: c.now, claimed: map[digest][]byte{},
	}
	c.promised = c.bid.ballot
	c.bid.reports = []Report{{c.opt.ID, c.opt.Owner.Report(c.bid.suspects)}}
	c.bid.promises = []promised{c.ownPromise(c.bid.ballot)}
	if !c.backed.ballot.none() {
		c.bid.claimed[c.backed.digest] = c.backedValue
	}
	c.say()
	c.onward()
}

// ownPromise is the promise that this member makes for a ballot.
func (c *Council) ownPromise(b ballot) promised {
	k := &c.backed
	return promised{c.opt.ID, *k, c.signed(statePromise, b, k.ballot, &k.digest)}
}

// say sends what the attempt asks for to all who have not answered.
func (c *Council) say() {
	b := c.bid
	b.resendAt = c.now + c.opt.Resend
	m := message{
		kind: kindPrepare, epoch: c.decree.Epoch + 1, ballot: b.ballot, suspects: b.suspects}
	if b.phase == accepting {
		m = message{kind: kindAccept, epoch: c.decree.Epoch + 1, ballot: b.ballot, decree: b.value,
			sign: b.sign, promises: b.promises}
	}
	data := m.append(nil)
	c.others(false, func(id member.ID, _ *peer) {
		if b.phase == preparing && !b.promisedBy(id) || b.phase == accepting && !b.votedBy(id) {
			c.out = append(c.out, Message{id, data})
		}
	})
}

func (b *bid) promisedBy(id member.ID) bool {
	return slices.ContainsFunc(b.reports, func(r Report) bool { return r.From == id })
}

func (b *bid) votedBy(id member.ID) bool {
	return slices.ContainsFunc(b.votes, func(v vote) bool { return v.from == id })
}

// pursue repeats what was not answered, and starts what is due.
func (c *Council) pursue() {
	b := c.bid
	if b == nil {
		switch {
		case !c.wish || c.now < c.retryAt || !c.caughtUp():
		case c.Leads() && c.Quorum():
			c.start(c.want, false)
		default:
			c.wish = false // by the time it is possible, something else may be wanted
		}
		return
	}
	c.onward()
	if c.bid != b || c.now < b.resendAt {
		return
	}
	if b.phase == preparing && c.now-b.began > 2*c.opt.Silence {
		c.bid, c.wish = nil, false // who is silent, and what is wanted, may have changed
		if b.campaign {
			c.retryAt = c.now + c.backoff()
		}
		return
	}
	c.say()
}

// caughtUp reports whether all who are there know the newest decree, or have had time to.
// Decrees that follow each other faster than a member can learn them would leave it behind.
func (c *Council) caughtUp() bool {
	if c.now-c.entered > c.opt.Silence {
		return true
	}
	up := true
	c.others(true, func(id member.ID, p *peer) {
		up = up && (p.epoch >= c.decree.Epoch || !c.present(id) || contains(c.want, id))
	})
	return up
}

// backoff is the pause after a ballot that came to nothing. It grows, and differs between
// members, so that two that outbid each other come to an end.
func (c *Council) backoff() time.Duration {
	c.losses = min(c.losses+1, 5)
	return time.Duration(float64(c.opt.Resend<<c.losses) * (0.5 + c.unit()))
}

// prepare answers one who wants to propose.
func (c *Council) prepare(from member.ID, m *message) {
	c.topRound = max(c.topRound, m.ballot.round)
	alive := from != c.decree.Leader && c.leaderThere()
	if m.ballot.id != from || m.ballot.less(c.promised) || alive {
		no := message{kind: kindRefuse, epoch: m.epoch, ballot: m.ballot, other: c.promised}
		if alive {
			no.flags = refuseAlive
		}
		c.send(from, &no)
		return
	}
	c.yield(m.ballot)
	c.promised = m.ballot
	report := c.opt.Owner.Report(m.suspects)
	own := c.ownPromise(m.ballot)
	c.send(from, &message{kind: kindPromise, epoch: m.epoch, ballot: m.ballot, claim: own.claim,
		decree: c.backedValue, sign: own.sign, rest: report[:min(len(report), MaxReport)]})
}

// yield gives up an attempt of our own for a higher one.
func (c *Council) yield(to ballot) {
	if c.bid != nil && c.bid.ballot.less(to) {
		c.stats.Outbid++
		c.bid = nil
		c.retryAt = c.now + c.opt.Silence/2 + c.backoff()
	}
}

// accept answers one who proposes.
func (c *Council) accept(from member.ID, m *message) {
	c.topRound = max(c.topRound, m.ballot.round)
	if m.ballot.less(c.promised) {
		c.send(from,
			&message{kind: kindRefuse, epoch: m.epoch, ballot: m.ballot, other: c.promised})
		return
	}
	sum := digest(sha256.Sum256(m.decree))
	if m.ballot != c.accepted {
		if !c.mayPropose(from, m, &sum) {
			return
		}
		c.yield(m.ballot)
		c.promised, c.accepted, c.value = m.ballot, m.ballot, slices.Clone(m.decree)
		c.backed, c.backedValue = claim{m.ballot, sum, vote{from, m.sign}}, c.value
		c.vows()
	} else if sum != sha256.Sum256(c.value) {
		c.stats.Unproven++ // a ballot has one decree
		return
	}
	yes := message{kind: kindAccepted, epoch: m.epoch, ballot: m.ballot,
		sign: c.signed(stateVote, m.ballot, ballot{}, &sum)}
	c.vote(Message{from, yes.append(nil)})
}

// mayPropose reports whether a proposal is one that this voter may vote for.
func (c *Council) mayPropose(from member.ID, m *message, sum *digest) bool {
	d, err := ReadDecree(m.decree)
	if err != nil || d.Epoch != m.epoch || m.ballot.id != from {
		c.stats.Malformed++
		return false
	}
	p := c.peers[from]
	if c.held.another(sum) {
		return false // what has the votes of a quorum is not voted down
	}
	if c.now < p.doubtedUntil {
		c.stats.Unheard++
		return false
	}
	if c.opt.Approve != nil && !c.opt.Approve(&c.decree, &d) || !c.justified(m, sum) {
		c.unproven(p)
		return false
	}
	return true
}

// promise takes a voter's promise.
func (c *Council) promise(from member.ID, m *message) {
	b := c.bid
	if b.phase != preparing || b.promisedBy(from) {
		return
	}
	made := promised{from, m.claim, m.sign}
	if !m.claim.ballot.none() {
		d, err := ReadDecree(m.decree)
		if err != nil || d.Epoch != m.epoch || sha256.Sum256(m.decree) != m.claim.digest {
			c.stats.Malformed++
			return
		}
	}
	if !c.makes(b.ballot, &made) {
		c.unproven(c.peers[from])
		return
	}
	if !m.claim.ballot.none() {
		b.claimed[m.claim.digest] = slices.Clone(m.decree)
	}
	b.promises = append(b.promises, made)
	b.reports = append(b.reports, Report{from, slices.Clone(m.rest)})
	c.onward()
}

// straggle is how long to wait, once there is a quorum, for voters that are there as well.
// The more reports there are, the fewer have to take something back.
func (c *Council) straggle() time.Duration { return 2 * c.opt.Resend }

// onward goes on to propose when enough have promised.
func (c *Council) onward() {
	b := c.bid
	// Those who may be about to go do not count: what the others rely on must be held by one
	// who stays.
	if b.phase != preparing ||
		!c.decree.Quorum(func(id member.ID) bool {
			return b.promisedBy(id) && !contains(b.suspects, id)
		}) {
		return
	}
	if !b.enough {
		b.enough, b.enoughAt = true, c.now
	}
	all := true
	for _, id := range c.decree.Voters {
		all = all && (b.promisedBy(id) || contains(b.suspects, id) || !c.present(id))
	}
	if !all && c.now < b.enoughAt+c.straggle() {
		return
	}
	slices.SortFunc(b.reports, func(x, y Report) int { return int(x.From) - int(y.From) })
	slices.SortFunc(b.promises, func(x, y promised) int { return int(x.from) - int(y.from) })
	if must := bound(b.promises); !must.ballot.none() {
		b.value = b.claimed[must.digest] // what may have been decided must be proposed again
	} else {
		d := c.opt.Owner.Compose(&c.decree, b.suspects, b.reports)
		if d.Epoch != c.decree.Epoch+1 || d.Check() != nil {
			// the owner does not keep to what it says; nothing can be decided
			c.bid, c.wish = nil, false
			c.retryAt = c.now + c.opt.Silence
			return
		}
		b.value = d.Append(nil)
	}
	b.phase = accepting
	b.digest = sha256.Sum256(b.value)
	b.sign = c.signed(stateProposal, b.ballot, ballot{}, &b.digest)
	c.accepted, c.value = b.ballot, b.value
	if c.vows(); c.mayVote() {
		b.votes = []vote{c.ownVote()}
	}
	c.say()
	c.decideIf()
}

// acceptedBy takes a voter's vote.
func (c *Council) acceptedBy(from member.ID, m *message) {
	b := c.bid
	if b.phase != accepting || b.votedBy(from) {
		return
	}
	v := vote{from, m.sign}
	if !c.genuine(stateVote, b.ballot, ballot{}, &b.digest, &v) {
		c.unproven(c.peers[from])
		return
	}
	b.votes = insertVote(b.votes, v)
	c.backed, c.backedValue = claim{b.ballot, b.digest, v}, b.value
	c.decideIf()
}

// refused learns why a voter does not go along.
func (c *Council) refused(m *message) {
	c.topRound = max(c.topRound, m.other.round)
	if c.bid.ballot.less(m.other) {
		c.stats.Outbid++
		c.bid = nil
		c.retryAt = c.now + c.backoff()
	}
}

// decideIf puts the decree in force and tells everybody, if enough have voted for it.
func (c *Council) decideIf() {
	b := c.bid
	if !c.decree.Quorum(b.votedBy) {
		return
	}
	d, err := ReadDecree(b.value)
	if err != nil {
		return // cannot be: it was checked when it came, or made here
	}
	c.weigh(0, d, &Link{Decree: b.value, ballot: b.ballot, votes: slices.Clone(b.votes)}, nil)
}

// conclude puts a decree in force whose votes this member has put together.
func (c *Council) conclude(d Decree, l *Link) {
	c.stats.Decided++
	before := c.decree
	stays := d.Has(c.opt.ID)
	if stays {
		c.enter(d, l)
		c.author, c.pushAt = true, c.now+c.opt.Resend/2
	}
	data := (&message{kind: kindDecided, epoch: d.Epoch, link: *l}).append(nil)
	for id := range c.othersOf(&d) {
		c.out = append(c.out, Message{id, data})
		if p := c.peers[id]; p != nil {
			p.told = c.now
		}
	}
	for id := range c.othersOf(&before) {
		if !d.Has(id) && stays {
			c.tellOut(id, c.peers[id], before.Epoch)
		}
	}
	c.dismissed = !stays
}

// push repeats a decree for a while to those who have not shown that they know it. Others
// act on it already, so they should not have to wait for the next beat.
func (c *Council) push() {
	if !c.author || c.now < c.pushAt {
		return
	}
	c.author = false
	k := &c.past[c.decree.Epoch%keepDecrees]
	c.others(true, func(id member.ID, p *peer) {
		if p.epoch < c.decree.Epoch && c.now-c.entered < c.opt.Silence {
			c.author = true
			p.told = c.now
			c.send(id, &message{kind: kindDecided, epoch: k.epoch, link: k.link})
		}
	})
	c.pushAt = c.now + c.opt.Resend/2
}
