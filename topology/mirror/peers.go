package mirror

import (
	"cmp"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A standing is how far a mirror, this one or another, has come with what its clients command. What
// it stamped at or before from does not count, and after its promise comes nothing at or before
// that. Neither goes back.
type standing struct {
	started bool // it may stamp
	from    world.Tick
	promise world.Tick
	count   uint32 // commands it stamped before the packet that promised
}

// bound is the tick up to which the mirror stamps nothing more.
func (s *standing) bound() world.Tick { return max(s.promise, s.from) }

// A peer is what has come from one other mirror. Commands are used as they come, in whatever order;
// what depends on order (promises, assignments) waits in beyond until nothing before it is missing:
// the standing is that of the last packet before next.
type peer struct {
	standing
	id     member.ID
	next   crimp.Sequence // the first packet that was not taken in order
	beyond map[crimp.Sequence]*packet
	recent []taken // what came lately and may turn out not to count
	// submitted counts its commands that counted, where timelines wait: they have numbers without
	// gaps.
	submitted uint32
	// implied is the tick before its last command: timelines that wait take it that nothing earlier
	// follows.
	implied world.Tick

	heard   time.Duration  // steady: when its last packet came
	newest  crimp.Sequence // the packet that said what follows
	have    world.Tick     // up to which tick it holds everything of everyone
	waiting bool           // to be started
	server  wire.Server    // where clients find it
	load    int            // how many play there,
	room    int            // and should at most; 0 is as many as the game has
	parts   []byte         // of what it is about to tell
	taking  bool           // its packets are being taken in order
	kept    keptSaid       // what it says of its disk
}

func newPeer(id member.ID) *peer {
	return &peer{id: id, next: 1, beyond: map[crimp.Sequence]*packet{}}
}

// wants says whether a packet is news.
func (p *peer) wants(seq crimp.Sequence) bool { return seq >= p.next && p.beyond[seq] == nil }

// put keeps a packet until it is in order, and takes what it says about its sender, unless a newer
// one has said it.
func (p *peer) put(seq crimp.Sequence, k *packet) {
	p.beyond[seq] = k
	if seq > p.newest && !k.void {
		p.newest, p.have, p.waiting = seq, k.have, k.waiting
		if k.disk {
			p.kept = k.kept
		}
	}
}

// passed gives up the packet that is next: it was taken, or will never come.
func (p *peer) passed() {
	delete(p.beyond, p.next)
	p.next++
}

// promised takes a header that is in order. It says whether the sender is to be believed: who takes
// back a promise is not.
func (p *peer) promised(h *header) bool {
	if h.promise < p.promise || h.count < p.count {
		return false
	}
	p.promise, p.count = h.promise, h.count
	return true
}

// fields reads or writes the peer, for a newcomer.
func (p *peer) fields(c *bits.Cursor, k *codec) {
	c.U16((*uint16)(&p.id))
	c.Bool(&p.started)
	tick(c, &p.from)
	c.U32((*uint32)(&p.next))
	tick(c, &p.promise)
	bits.Number(c, &p.count, 1<<32-1)
	tick(c, &p.have)
	c.U32((*uint32)(&p.newest))
	table(c, p.beyond, func(seq *crimp.Sequence, v **packet) {
		var data []byte
		if !c.Reading() {
			data = (*v).data
		}
		c.U32((*uint32)(seq))
		if blob(c, &data, 1<<16); c.Reading() {
			*v = k.parse(data)
		}
	})
	if blob(c, &p.parts, maxParts); c.Reading() {
		p.parts = slices.Clone(p.parts)
	}
}

// peers are all other mirrors, in the order of their numbers.
type peers []*peer

// of is the peer with a number, or nil.
func (l peers) of(id member.ID) *peer {
	for _, p := range l {
		if p.id == id {
			return p
		}
	}
	return nil
}

// with has a peer in place of the one with its number, if there was one.
func (l peers) with(p *peer) peers {
	l = append(l.without(p.id), p)
	slices.SortFunc(l, func(a, b *peer) int { return cmp.Compare(a.id, b.id) })
	return l
}

// without has no peer with a number.
func (l peers) without(id member.ID) peers {
	return slices.DeleteFunc(slices.Clone(l), func(p *peer) bool { return p.id == id })
}
