package crimp

import (
	"crypto/ed25519"
	"crypto/sha256"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// A tag proves a packet to one receiver. So a member can make a packet that proves itself to one
// and not to another, or two packets with one number, and neither receiver can show that to a
// third. What can be shown is a signature. So each member signs, every so often, a running digest
// of its packets; all pass on what they were told by others. Then:
//
//   - Two signed digests that contradict each other are evidence: whoever sees both can show them,
//     and nobody can make them but the member itself.
//   - A packet that does not prove itself here is kept as doubtful. A signed digest that fits it is
//     as good as its tag.
//   - A digest that fits none of what came here is counted, and told with Disputed. Nobody else can
//     tell who lies. Where packets are signed they are shown to all others, and two with one number
//     are evidence as well.
//
// The sums that a digest is made of are those that proofs are made of, so they cost nothing more. A
// packet that came only inside of another has none of its own here, and a digest over it is not
// judged; what carried it has.
//
// A digest that comes from the member itself, proved to be of it, is not verified until somebody
// else has to believe it.

// sumSize is how much of a packet's SHA-256 is kept with it.
const sumSize = 20

type contentSum [sumSize]byte

// lastSum is of the packet that was sealed or proven last.
func (g *Group) lastSum() (s contentSum) {
	copy(s[:], g.crypt.digest[:])
	return s
}

// signedDigest is what a member has signed of its stream: that its packets first to last continue
// what was before so that it becomes now.
type signedDigest struct {
	member      member.ID
	index       uint32 // counts the digests of a member, from 1
	first, last Sequence
	before, now contentSum
	sign        [signatureSize]byte
	checked     bool     // the signature is known to be good
	hash        [16]byte // of the statement; see brief
}

// brief names a digest that a member has: enough to see whether another has the same.
type brief struct {
	member member.ID
	index  uint32 // 0: it has none
	hash   [16]byte
}

const briefSize = 2 + 4 + 16

func (b *brief) fields(c *bits.Cursor) {
	c.U16((*uint16)(&b.member))
	c.U32(&b.index)
	c.Raw(b.hash[:])
	c.Check(b.member != 0)
}

// named gives a digest the hash by which briefs name it, and leaves its statement in g.body. The
// hash is without the signature, of which there may be several for one statement.
func (g *Group) named(d *signedDigest) *signedDigest {
	g.body = d.appendStatement(g.body[:0], g.group)
	full := sha256.Sum256(g.body)
	copy(d.hash[:], full[:])
	return d
}

// brief is of a digest that is named.
func (d *signedDigest) brief() brief { return brief{d.member, d.index, d.hash} }

const (
	signedDigestSize = 2 + 4 + 4 + 4 + 2*sumSize + signatureSize
	digestDomain     = "coeval crimp 2 digest"
	maxDigests       = 8  // in one datagram
	maxBriefs        = 32 // in one datagram
	keepDigests      = 8  // of each member
	maxDoubtful      = 256
	maxTries         = 64
)

func (d *signedDigest) fields(c *bits.Cursor) {
	c.U16((*uint16)(&d.member))
	c.U32(&d.index)
	c.U32((*uint32)(&d.first))
	c.U32((*uint32)(&d.last))
	c.Raw(d.before[:])
	c.Raw(d.now[:])
	c.Raw(d.sign[:])
	c.Check(d.member != 0 && d.index != 0 && d.first != 0 && d.first <= d.last &&
		d.last <= maxSequence && d.last-d.first < ringMost)
}

// statement is what is signed: domain, group, and the fields before the signature.
func (d *signedDigest) statement(group uint64) []byte {
	return d.appendStatement(nil, group)
}

func (d *signedDigest) appendStatement(b []byte, group uint64) []byte {
	c := bits.CursorTo(append(b, digestDomain...))
	c.U64(&group)
	d.fields(&c)
	return c.Data()[:len(c.Data())-signatureSize]
}

func (d *signedDigest) genuine(group uint64, card *Card) bool {
	d.checked = d.checked || ed25519.Verify(card.Sign[:], d.statement(group), d.sign[:])
	return d.checked
}

// contradicts reports whether no honest member signs both.
func (d *signedDigest) contradicts(o *signedDigest) bool {
	if d.index > o.index {
		d, o = o, d
	}
	switch {
	case d.member != o.member:
		return false
	case d.index == o.index:
		return d.first != o.first || d.last != o.last || d.before != o.before || d.now != o.now
	case d.index+1 == o.index:
		return o.first <= d.last || o.before != d.now
	}
	return o.first <= d.last
}

// testimony is what a member has signed, as far as it came here, and what of it is in doubt.
type testimony struct {
	digests  [keepDigests]signedDigest // by index
	pass     bool                      // another has another, or none: pass the newest on
	doubts   []doubtful
	disputed uint32   // the first digest that does not fit what came here, or 0
	differs  Sequence // the first packet of that
	guilty   bool
	stopped  Sequence      // of one that is guilty, nothing beyond this is taken
	shown    uint32        // the newest digest that what came here was shown for
	looks    bucket        // for packets that others show
	heardAt  time.Duration // when it may tell digests again
	// The newest of it that others have said they have.
	echoes map[member.ID]brief
}

// newest is the newest that a member has signed, or nil.
func (t *testimony) newest() *signedDigest {
	var best *signedDigest
	for i := range t.digests {
		if d := &t.digests[i]; d.index != 0 && (best == nil || d.index > best.index) {
			best = d
		}
	}
	return best
}

// witnessing is when digests are due, and what they have led to.
type witnessing struct {
	at       time.Duration
	turn     int
	evidence []Evidence
	in, out  digestBody // memory
}

// digestEvery is how often a member signs.
func (g *Group) digestEvery() time.Duration { return g.opt.Digests }

// Disputed reports whether a member has signed something else than what came of it here.
func (g *Group) Disputed() bool { return g.stats.Disputed > 0 }

// signDigest signs what was sent since the last one.
func (g *Group) signDigest() {
	p := g.self
	d := signedDigest{member: p.id, index: 1, first: 1, last: p.next - 1}
	if was := p.newest(); was != nil {
		d.index, d.first, d.before = was.index+1, was.last+1, was.now
	}
	if d.first = max(d.first, p.base); d.first > d.last {
		return // nothing new
	}
	d.now = g.digestOf(p, &d, nil)
	g.named(&d)
	d.sign, d.checked = g.identity.Sign(g.body), true
	p.digests[d.index%keepDigests] = d
}

// digest is what a member's packets, as they are here, make of a digest. Where a packet did not
// prove itself, one of the doubtful takes its place.
func (g *Group) digestOf(p *peer, d *signedDigest, instead map[Sequence]int) (now contentSum) {
	h, head := g.crypt.hash, g.crypt.digest[:0]
	h.Reset()
	h.Write(append(head, d.before[:]...))
	h.Write(be.AppendUint32(be.AppendUint32(head, uint32(d.first)), uint32(d.last)))
	if len(instead) > 0 {
		for s := d.first; s <= d.last; s++ {
			if i, ok := instead[s]; ok {
				h.Write(p.doubts[i].sum[:])
			} else {
				h.Write(p.sum(s)[:])
			}
		}
	} else {
		from, to := p.sumAt(d.first), p.sumAt(d.last)+sumSize
		if from >= to { // around the end of the ring
			h.Write(p.sums[from:])
			from = 0
		}
		h.Write(p.sums[from:to])
	}
	copy(now[:], h.Sum(head))
	return now
}

// digestBody is what members tell each other: digests whole, their own and those that somebody
// seems to lack, and the names of all others that they have.
type digestBody struct {
	whole  []signedDigest
	briefs []brief
}

func (b *digestBody) fields(c *bits.Cursor) {
	for d := range bits.List8(c, &b.whole, maxDigests) {
		d.fields(c)
	}
	for d := range bits.List8(c, &b.briefs, maxBriefs) {
		d.fields(c)
	}
}

// sendDigests tells the others what this member has signed, and what it knows that others have.
func (g *Group) sendDigests() {
	if g.now < g.witness.at {
		return
	}
	g.witness.at = g.now + g.digestEvery()
	if g.holding || g.members < 2 {
		return
	}
	g.signDigest()
	e := g.sending
	room := g.opt.Datagram - e.bodyAt - 2 - sealSize
	body := &g.witness.out
	body.whole, body.briefs = body.whole[:0], body.briefs[:0]
	if own := g.self.newest(); own != nil && room >= signedDigestSize {
		body.whole = append(body.whole, *own)
		room -= signedDigestSize
	}
	n := len(g.peers)
	for i := range n {
		p := g.peers[(g.witness.turn+i)%n]
		d := p.newest()
		switch {
		case !p.present:
		case d != nil && p.pass && d.genuine(g.group, &p.card) &&
			len(body.whole) < maxDigests && room >= signedDigestSize:
			p.pass = false
			body.whole = append(body.whole, *d)
			room -= signedDigestSize
		case len(body.briefs) < maxBriefs && room >= briefSize:
			b := brief{member: p.id}
			if d != nil && p.disputed == 0 {
				b = d.brief()
			}
			body.briefs = append(body.briefs, b)
			room -= briefSize
		}
	}
	if n > 0 {
		g.witness.turn = (g.witness.turn + maxBriefs) % n
	}
	c := bits.CursorTo(g.buffers.Get(g.opt.Datagram + sealSlack)[:e.bodyAt])
	body.fields(&c)
	b := g.seal(e, &header{kind: kindDigest, number: g.count(kindDigest)}, c.Data())
	g.post(b, toAll, SentControl)
}

// takeDigests takes what a member tells of digests, its own and others'. How much of that costs
// a signature to check is bounded by how often it may.
func (g *Group) takeDigests(from *peer, b []byte) {
	if g.now < from.heardAt {
		g.stats.Paced++
		return
	}
	from.heardAt = g.now + g.digestEvery()/8
	body := &g.witness.in
	c := bits.CursorOver(b)
	if body.fields(&c); !c.Done() {
		g.stats.Malformed++
		return
	}
	for i := range body.whole {
		d := &body.whole[i]
		p := g.byID[d.member]
		if p == nil || !p.present {
			continue
		}
		if p != from {
			p.echo(from.id, g.named(d).brief())
		}
		if p.guilty && p != from {
			continue
		}
		if !g.testify(p, d, p == from) {
			g.stats.Unproven++
			return
		}
	}
	for i := range body.briefs {
		d := &body.briefs[i]
		p := g.byID[d.member]
		if p == nil || !p.present || p == from {
			continue
		}
		if p.echo(from.id, *d); p.guilty {
			continue
		}
		have := &p.digests[d.index%keepDigests]
		newest := p.newest()
		if newest != nil && (newest.index > d.index+1 || d.index == 0) ||
			d.index != 0 && have.index == d.index && have.brief() != *d {
			p.pass = true
			g.witness.at = min(g.witness.at, g.now+g.digestEvery()/4)
		}
	}
}

// echo notes what a member says that it has of another's digests.
func (t *testimony) echo(from member.ID, b brief) {
	if t.echoes == nil {
		t.echoes = map[member.ID]brief{}
	}
	t.echoes[from] = b
}

// testify takes a digest that a member is said to have signed, and is false if it has not. What
// comes from the member itself, direct, is verified only if it contradicts another. One that is
// guilty may yet have told some of us something else than it tells us that it has signed.
func (g *Group) testify(p *peer, d *signedDigest, direct bool) bool {
	slot := &p.digests[d.index%keepDigests]
	if p.guilty {
		if slot.index <= d.index {
			*slot = *g.named(d)
			g.judge(p, slot)
		}
		return true
	}
	if slot.index == d.index && !slot.contradicts(d) {
		g.judge(p, slot) // what was missing may have come
		return true
	}
	if slot.index > d.index {
		return true // too old
	}
	if !direct && !d.genuine(g.group, &p.card) {
		return false
	}
	for i := range p.digests {
		o := &p.digests[i]
		if o.index == 0 || !o.contradicts(d) {
			continue
		}
		if !d.genuine(g.group, &p.card) {
			return false
		}
		if o.genuine(g.group, &p.card) {
			g.convict(p, Evidence{a: *o, b: *d})
			return true
		}
		*o = signedDigest{} // it was never signed
	}
	*slot = *g.named(d)
	g.judge(p, slot)
	return true
}
