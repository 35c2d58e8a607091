package crimp

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
)

// Evidence is that a member has signed two digests that contradict each other, or two packets with
// one number.
type Evidence struct {
	packets bool
	a, b    signedDigest
	p, q    signedPacket
}

// signedPacket is what a member has signed of a packet.
type signedPacket struct {
	header [headerSize]byte
	digest [sha256.Size]byte
	sign   [signatureSize]byte
}

func (p *signedPacket) fields(c *bits.Cursor) {
	c.Raw(p.header[:])
	c.Raw(p.digest[:])
	c.Raw(p.sign[:])
	h, ok := parseHeader(p.header[:])
	c.Check(ok && h.kind == kindData)
}

func (p *signedPacket) genuine(group uint64, card *Card) bool {
	h, _ := parseHeader(p.header[:])
	return h.group == groupTag(group) && ed25519.Verify(card.Sign[:],
		appendPacket(nil, group, p.header[:], p.digest[:]), p.sign[:])
}

// contradicts reports whether no honest member signs both. A number is used once, in one epoch.
func (p *signedPacket) contradicts(q *signedPacket) bool {
	a, _ := parseHeader(p.header[:])
	b, _ := parseHeader(q.header[:])
	return a.member == b.member && a.number == b.number && p.digest != q.digest
}

// Member is whom the evidence is about.
func (e *Evidence) Member() member.ID {
	if e.packets {
		h, _ := parseHeader(e.p.header[:])
		return h.member
	}
	return e.a.member
}

// Fields reads or writes evidence, for authorities, which pass it on: two signed digests, or what
// was signed of two packets.
func (e *Evidence) Fields(c *bits.Cursor) {
	if c.Bool(&e.packets); e.packets {
		e.p.fields(c)
		e.q.fields(c)
	} else {
		e.a.fields(c)
		e.b.fields(c)
	}
	c.Check(e.contradicts())
}

func (e *Evidence) contradicts() bool {
	if e.packets {
		return e.p.contradicts(&e.q)
	}
	return e.a.contradicts(&e.b)
}

// Append writes evidence.
func (e *Evidence) Append(b []byte) []byte {
	c := bits.CursorTo(b)
	e.Fields(&c)
	return c.Data()
}

// Holds reports whether evidence is genuine: the member has signed both.
func (e *Evidence) Holds(group uint64, card *Card) bool {
	if !e.contradicts() {
		return false
	}
	if e.packets {
		return e.p.genuine(group, card) && e.q.genuine(group, card)
	}
	a, b := e.a, e.b
	a.checked, b.checked = false, false
	return a.genuine(group, card) && b.genuine(group, card)
}

// Odd reports whether what this node has of a member that equivocated is not what most others have:
// of two accounts, the one counts that more have been given, and of two that as many have, that of
// the member with the lowest number.
func (g *Group) Odd(m member.ID) bool {
	p := g.byID[m]
	if p == nil || g.self == nil {
		return false
	}
	type side struct {
		count int
		first member.ID
	}
	own, others := side{1, g.self.id}, map[[16]byte]side{}
	for _, r := range g.peers {
		e, ok := p.echoes[r.id]
		have := &p.digests[e.index%keepDigests]
		switch {
		case !ok || !r.present || r == p || r.guilty || e.index == 0 || have.index != e.index:
		case have.hash == e.hash:
			own = side{own.count + 1, min(own.first, r.id)}
		default:
			o := others[e.hash]
			if o.count == 0 {
				o.first = r.id
			}
			others[e.hash] = side{o.count + 1, min(o.first, r.id)}
		}
	}
	for _, o := range others {
		if o.count > own.count || o.count == own.count && o.first < own.first {
			return true
		}
	}
	return false
}

// Vouchers lists who says that what it has of a member fits the digest that does not fit what came
// here, if there is one: if it is disputed.
func (g *Group) Vouchers(m member.ID) (list []member.ID, disputed bool) {
	list, _, disputed = g.vouchers(m)
	return list, disputed
}

// Denounced reports whether a member's digest does not fit here, and all others say the same.
func (g *Group) Denounced(m member.ID) bool {
	_, all, _ := g.vouchers(m)
	return all
}

func (g *Group) vouchers(m member.ID) (list []member.ID, denounced, disputed bool) {
	p := g.byID[m]
	if p == nil || p.disputed == 0 {
		return nil, false, false
	}
	doubting, others := 0, 0
	for _, r := range g.peers {
		if r == p || !r.present {
			continue
		}
		others++
		if e, ok := p.echoes[r.id]; ok && e.index == 0 {
			doubting++
		} else if ok && e.index >= p.disputed {
			list = append(list, r.id)
		}
	}
	return list, others > 0 && doubting == others, true
}

// convict keeps the evidence against a member. Nothing more is taken of it than is known of: what
// it says until it is out it may say differently to each.
func (g *Group) convict(p *peer, e Evidence) {
	if p.guilty {
		return
	}
	p.guilty, p.stopped = true, p.next-1
	g.stats.Equivocated++
	g.witness.evidence = append(g.witness.evidence, e)
	g.emit(Event{Kind: Equivocated, Member: p.id})
}

// Evidence hands out, once, what was found that members have signed and contradicts itself.
func (g *Group) Evidence() []Evidence {
	list := g.witness.evidence
	g.witness.evidence = nil
	return list
}

// Testify takes evidence that another has found, and is false if it is none.
func (g *Group) Testify(e Evidence) bool {
	p := g.byID[e.Member()]
	if p == nil || p.guilty {
		return p != nil
	}
	if !e.Holds(g.group, &p.card) {
		g.stats.Unproven++
		return false
	}
	g.convict(p, e)
	return true
}

// maxShown is how many packets are shown of a digest that does not fit them.
const maxShown = 64

// shownBy stands in a repair in the place of who repairs: it is to be looked at, and not taken.
const shownBy = 0

// show sends all others what came here of a member, and does not fit what it has signed. Where
// packets are signed, that is evidence for whoever has others with the same numbers.
func (g *Group) show(p *peer, d *signedDigest) {
	if p.shown >= d.index || g.sending.proof != Signatures {
		return
	}
	p.shown = d.index
	for s := d.first; s <= min(d.last, d.first+maxShown-1); s++ {
		if slot := p.at(s); slot.state == slotHave && slot.datagram != nil {
			b := append(g.buffers.Get(repairPrefix + len(slot.datagram))[:0], kindRepair)
			b = append(be.AppendUint16(b, shownBy), slot.datagram...)
			g.post(b, toAll, SentRepair)
		}
	}
}

// takeShown looks at a packet that another shows.
func (g *Group) takeShown(b []byte) {
	h, ok := readHeader(b)
	if e := g.epoch(h.epoch); ok && e != nil && h.group == g.tag {
		if p := g.byID[h.member]; p != nil {
			g.shown(e, p, &h, b)
		}
	}
}

// shown looks at a packet with the number of one that is here. If its maker has signed both and
// they differ, that is evidence. How many are looked at is bounded: each costs a signature.
func (g *Group) shown(e *epoch, p *peer, h *header, b []byte) {
	s := Sequence(h.number)
	if e.proof != Signatures || p.guilty || !p.present || !p.holds(s) {
		return
	}
	slot := p.at(s)
	if slot.state != slotHave || slot.datagram == nil || len(slot.datagram) < e.bodyAt ||
		bytes.Equal(slot.datagram, b) || !p.looks.take(g.now, 2*maxShown, 1) {
		return
	}
	first, ok := g.signedOf(p, slot.datagram)
	second, same := g.signedOf(p, b)
	switch {
	case !ok || !same || !first.contradicts(&second):
	case second.genuine(g.group, &p.card) && first.genuine(g.group, &p.card):
		g.convict(p, Evidence{packets: true, p: first, q: second})
	default:
		g.stats.Unproven++
	}
}

// signedOf is what a member has signed of a datagram, if it can be opened.
func (g *Group) signedOf(p *peer, datagram []byte) (s signedPacket, ok bool) {
	h, ok := readHeader(datagram)
	e := g.epoch(h.epoch)
	if !ok || e == nil || e.proof != Signatures || h.member != p.id {
		return s, false
	}
	b := append(g.buffers.Get(len(datagram))[:0], datagram...)
	defer g.buffers.Put(b)
	body, ok := g.open(e, &h, b)
	if !ok {
		return s, false
	}
	copy(s.header[:], b)
	copy(s.digest[:], g.sum(b[:headerSize], body))
	copy(s.sign[:], b[headerSize:])
	return s, true
}
