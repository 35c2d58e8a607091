package council

import "slices"

// A voter that comes back after a crash must know what it may have helped to decide: others may
// have gone on with it. So where there is a disk, a vote is given only once the disk has it. What
// was promised need not be there: who crashed votes no more under its number.

// remembering is the last vote of this member, on its way to the disk.
type remembering struct {
	number  uint64   // of the last vote
	known   uint64   // up to which the disk has them
	waiting *Message // that says it to the one who proposed, or nil
}

// Vow is the number of this member's last vote, and the decree that it is for. Numbers grow; the
// decree is nil if the epoch that it was for is decided, or nothing was voted for yet.
func (c *Council) Vow() (number uint64, decree []byte) { return c.memory.number, c.value }

// Remembered tells, with [Options.Remembers], that the votes up to a number are on the disk.
func (c *Council) Remembered(number uint64) {
	m := &c.memory
	m.known = max(m.known, min(number, m.number))
	if m.known < m.number || c.dismissed {
		return
	}
	if m.waiting != nil {
		c.out = append(c.out, *m.waiting)
		m.waiting = nil
	}
	if b := c.bid; b != nil && b.phase == accepting && !b.votedBy(c.opt.ID) {
		b.votes = insertVote(b.votes, c.ownVote())
		c.decideIf()
	}
}

// vows notes that this member votes for a decree that it did not vote for yet.
func (c *Council) vows() {
	c.memory.number++
	c.memory.waiting = nil
}

// mayVote says whether this member's last vote may be told.
func (c *Council) mayVote() bool {
	return !c.opt.Remembers || c.memory.known >= c.memory.number
}

// vote tells the one who proposed that this member votes for it, now or when the disk has it.
func (c *Council) vote(m Message) {
	if c.mayVote() {
		c.out = append(c.out, m)
		return
	}
	m.Data = slices.Clone(m.Data)
	c.memory.waiting = &m
}

// ownVote is this member's vote for what it proposes itself.
func (c *Council) ownVote() vote {
	b := c.bid
	return vote{c.opt.ID, c.signed(stateVote, b.ballot, ballot{}, &b.digest)}
}
