package council

import (
	"crypto/sha256"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// This file is why a member believes another: promises, proposals and votes are statements that
// their makers sign, and whoever relies on one has its signature.
//
// A decree is proved by votes of a quorum of the decree before. A proposal is proved by promises
// of a quorum, which show that nothing else may have been decided in a lower ballot. A promise
// that says what its maker has accepted has the signature of another for that: of who proposed
// it, or, if its maker proposed it itself, of one who voted for it. So no single member can make
// up what was accepted. One who proposed something and has nobody's vote for it claims nothing: it
// alone puts votes together, so nothing was decided by them, and once it has promised a higher
// ballot it never will.

// Signature is of a statement, by one member: Ed25519 where members have such keys.
type Signature [64]byte

// Keys is how this member signs, and how it knows the signatures of others.
type Keys interface {
	Sign(statement []byte) Signature
	// Verify reports whether a voter of a decree has signed a statement, by the key which that
	// decree gives it.
	Verify(d *Decree, voter member.ID, statement []byte, s Signature) bool
}

// The kinds of statements.
const (
	statePromise  = 'p' // listens to no lower ballot, and claims to have accepted before ...
	stateProposal = 'a' // proposes a decree in a ballot
	stateVote     = 'v' // votes for a decree in a ballot
)

const stateDomain = "coeval council 2 "

type digest [sha256.Size]byte

// statement is what is signed: domain, kind 1, epoch 4, ballot, and of a promise the ballot that
// was accepted before, or zero; then the SHA-256 of the decree, or zeros.
func statement(kind byte, epoch uint32, b ballot, before ballot, d *digest) []byte {
	c := bits.CursorTo(append(make([]byte, 0, 96), stateDomain...))
	c.U8(&kind)
	c.U32(&epoch)
	b.fields(&c)
	if kind == statePromise {
		before.fields(&c)
	}
	c.Raw(d[:])
	return c.Data()
}

// vote is a voter's signature, or a proposer's.
type vote struct {
	from member.ID
	sign Signature
}

func (v *vote) fields(c *bits.Cursor) {
	c.U16((*uint16)(&v.from))
	c.Raw(v.sign[:])
}

// claim is what a member says that it has accepted, with the signature of another for it.
type claim struct {
	ballot ballot // none: nothing
	digest digest
	backed vote
}

func (k *claim) fields(c *bits.Cursor) {
	k.ballot.fields(c)
	if k.ballot.none() {
		c.Check(k.ballot.id == 0)
		return
	}
	c.Raw(k.digest[:])
	k.backed.fields(c)
}

// promised is one voter's promise, as a proposal shows it to others.
type promised struct {
	from  member.ID
	claim claim
	sign  Signature
}

func (p *promised) fields(c *bits.Cursor) {
	c.U16((*uint16)(&p.from))
	p.claim.fields(c)
	c.Raw(p.sign[:])
}

// Link is a decree with its proof: the votes of those who decided it.
type Link struct {
	Decree []byte // as Decree.Append writes it
	ballot ballot
	votes  []vote
}

// fields reads or writes a link:
//
//	4 length, decree  ballot  2 votes, each: member 2, signature 64
func (l *Link) fields(c *bits.Cursor) {
	n := uint32(len(l.Decree))
	c.U32(&n)
	c.Bytes(&l.Decree, int(min(n, 1<<30)))
	c.Check(n > 0)
	l.ballot.fields(c)
	votes(c, &l.votes)
}

func votes(c *bits.Cursor, list *[]vote) {
	before := member.ID(0)
	for v := range bits.List16(c, list, MaxMembers) {
		v.fields(c)
		c.Check(v.from > before)
		before = v.from
	}
}

// Append writes a link.
func (l *Link) Append(b []byte) []byte {
	c := bits.CursorTo(b)
	l.fields(&c)
	return c.Data()
}

// ReadLink reads what Append wrote. It points into b.
func ReadLink(b []byte) (l Link, err error) {
	c := bits.CursorOver(b)
	if l.fields(&c); !c.Done() {
		return l, errMalformed
	}
	return l, nil
}

// NewLink is a decree with no votes yet, as a proposer would have it in a round, and what voters
// sign who vote for it then: for programs that prove decrees by other means than a council.
func NewLink(d *Decree, round uint32, proposer member.ID) (l Link, toSign []byte) {
	l = Link{Decree: d.Append(nil), ballot: ballot{round, proposer}}
	sum := digest(sha256.Sum256(l.Decree))
	return l, statement(stateVote, d.Epoch, l.ballot, ballot{}, &sum)
}

// Add adds a vote.
func (l *Link) Add(voter member.ID, s Signature) { l.votes = insertVote(l.votes, vote{voter, s}) }

// Proved reports whether a quorum of the voters of a decree has voted for this one, which is later.
func (l *Link) Proved(keys Keys, known *Decree) bool {
	d, err := ReadDecree(l.Decree)
	if err != nil {
		return false
	}
	_, ok := proved(keys, known, &d, l)
	return ok
}

// insertVote adds a vote to a list by rising member, if it is not there.
func insertVote(list []vote, v vote) []vote {
	at, there := slices.BinarySearchFunc(list, v.from,
		func(v vote, id member.ID) int { return int(v.from) - int(id) })
	if there {
		return list
	}
	return slices.Insert(list, at, v)
}

// signed makes a statement of this member's own.
func (c *Council) signed(kind byte, b, before ballot, d *digest) Signature {
	return c.opt.Keys.Sign(statement(kind, c.decree.Epoch+1, b, before, d))
}

// genuine reports whether a voter of the present decree has signed a statement about the next.
func (c *Council) genuine(kind byte, b, before ballot, d *digest, v *vote) bool {
	return c.decree.Votes(v.from) &&
		c.opt.Keys.Verify(&c.decree, v.from, statement(kind, c.decree.Epoch+1, b, before, d),
			v.sign)
}

// backs reports whether another than the claimant has signed for what it claims.
func (c *Council) backs(from member.ID, k *claim) bool {
	if k.ballot.none() {
		return true
	}
	kind := byte(stateProposal)
	if from == k.ballot.id {
		kind = stateVote
		if k.backed.from == from {
			return false
		}
	} else if k.backed.from != k.ballot.id {
		return false
	}
	return c.genuine(kind, k.ballot, ballot{}, &k.digest, &k.backed)
}

// makes reports whether a voter has made a promise for a ballot, and what it claims is backed.
func (c *Council) makes(b ballot, p *promised) bool {
	return c.genuine(statePromise, b, p.claim.ballot, &p.claim.digest, &vote{p.from, p.sign}) &&
		p.claim.ballot.less(b) && c.backs(p.from, &p.claim)
}

// bound is the claim whose decree a proposal must have, given the promises that it stands on, or
// none: the highest. Where claims of one ballot differ, who proposed in it has said two things, so
// that its own word does not count; then the decree that most claim, and of as many the lower.
func bound(list []promised) (must claim) {
	for i := range list {
		if k := &list[i].claim; must.ballot.less(k.ballot) {
			must = *k
		}
	}
	most := 0
	for i := range list {
		k := &list[i].claim
		if k.ballot.none() || k.ballot != must.ballot {
			continue
		}
		n := 0
		for j := range list {
			if o := &list[j]; o.claim.ballot == k.ballot && o.claim.digest == k.digest &&
				o.from != k.ballot.id {
				n++
			}
		}
		if n > most || n == most && string(k.digest[:]) < string(must.digest[:]) {
			most, must = n, *k
		}
	}
	return must
}

// justified reports whether a proposal of the next decree was made by who the ballot names, and
// from promises of a quorum that leave it no other choice, or a free one.
func (c *Council) justified(m *message, d *digest) bool {
	if !c.genuine(stateProposal, m.ballot, ballot{}, d, &vote{m.ballot.id, m.sign}) {
		return false
	}
	// What costs nothing is looked at first.
	if !c.decree.Quorum(func(id member.ID) bool {
		return slices.ContainsFunc(m.promises, func(p promised) bool { return p.from == id })
	}) {
		return false
	}
	if must := bound(m.promises); !must.ballot.none() && must.digest != *d {
		return false
	}
	for i := range m.promises {
		if !c.makes(m.ballot, &m.promises[i]) {
			return false
		}
	}
	return true
}

// proved gives the votes of a link that count, if a quorum of the voters of a decree has voted for
// a later one. It need not be the very next: whoever is a quorum of the decree known here decides
// what comes after it, also when others have come and gone between.
func proved(keys Keys, known, d *Decree, l *Link) (good []vote, ok bool) {
	if d.Epoch <= known.Epoch || l.ballot.none() || !known.Quorum(l.votedBy) {
		return nil, false
	}
	sum := digest(sha256.Sum256(l.Decree))
	text := statement(stateVote, d.Epoch, l.ballot, ballot{}, &sum)
	for _, v := range l.votes {
		if known.Votes(v.from) && keys.Verify(known, v.from, text, v.sign) {
			good = append(good, v)
		}
	}
	return good, known.Quorum((&Link{votes: good}).votedBy)
}

func (l *Link) votedBy(id member.ID) bool {
	return slices.ContainsFunc(l.votes, func(v vote) bool { return v.from == id })
}
