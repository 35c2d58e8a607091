package mirror

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// This file is about packets that came and do not count. When a mirror is gone, those who decide
// agree on what counts of it by what they hold. One that was not asked may hold more. What is
// settled is held by all (see settling), so nothing in those packets is: their commands are taken
// back, and this mirror goes on. Only where more than commands came of them, or nobody knows any
// more what did, it takes the world of another.

// A taken is what has to be taken back if a packet that came does not count.
type taken struct {
	seq         crimp.Sequence
	promise     world.Tick
	first, last uint32     // the numbers of its commands; none if first is larger
	earliest    world.Tick // that a command is for, or 0
	decides     bool       // it decides for all, which cannot be taken back
}

// takenOf sums up a packet.
func takenOf(seq crimp.Sequence, k *packet) taken {
	t := taken{seq: seq, promise: k.promise, first: k.count + 1, last: k.count}
	for i := range k.items {
		it := &k.items[i]
		switch it.kind {
		case itemAssign, itemDeny, itemStart, itemRuling, itemResign, itemEvent:
			t.decides = true
		case itemHalt, itemPause:
			t.decides = t.decides || it.decides()
		case itemGive, itemTell:
			if t.earliest == 0 || it.tick < t.earliest {
				t.earliest = it.tick
			}
		}
		t.last = it.seq
	}
	return t
}

// mostRecent bounds the packets of a mirror that may be taken back.
const mostRecent = 4096

// took remembers a packet that may be taken back. One that was promised before what all hold is
// held by all.
func (p *peer) took(seq crimp.Sequence, k *packet, held world.Tick) {
	if len(p.recent) == cap(p.recent) {
		p.recent = slices.DeleteFunc(p.recent, func(t taken) bool { return t.promise < held })
	}
	if len(p.recent) == mostRecent {
		p.recent = slices.Delete(p.recent, 0, mostRecent/2)
	}
	p.recent = append(p.recent, takenOf(seq, k))
}

// revoked takes back packets that do not count, or has this mirror join anew.
func (m *Mirror) revoked(e *crimp.Event) {
	last := e.Seq + crimp.Sequence(e.More)
	if !m.withdraw(e.Member, e.Seq, last) {
		m.again(fmt.Sprintf("packets of mirror %d that came do not count", e.Member))
		return
	}
	m.stats.Withdrawn += uint64(e.More) + 1
	m.tell(News{Kind: Withdrawn, Mirror: e.Member,
		Text: fmt.Sprintf("packets %d to %d of it do not count", e.Seq, last)})
}

// withdraw takes back what came with some packets of a mirror, and says whether it could. If not,
// some of it may have been taken back.
func (m *Mirror) withdraw(id member.ID, first, last crimp.Sequence) bool {
	p := m.peers.of(id)
	if p == nil || !m.goesOn() || m.line.Waits() || m.ruled.line != nil || m.roll.leaders[id] ||
		m.settle.liar == id {
		return false
	}
	for seq := first; seq <= last; seq++ {
		at := slices.IndexFunc(p.recent, func(t taken) bool { return t.seq == seq })
		if at < 0 {
			return false
		}
		t := p.recent[at]
		if t.decides || t.earliest != 0 && t.earliest <= m.settle.held {
			return false
		}
		if t.first <= t.last && !m.line.Withdraw(id, t.first, t.last) {
			return false
		}
		m.undecided = slices.DeleteFunc(m.undecided, func(c timeline.Command) bool {
			return c.Origin == id && c.Seq >= t.first && c.Seq <= t.last
		})
		if p.beyond[seq] != nil {
			p.beyond[seq] = &packet{void: true} // its turn passes
		}
		p.recent = slices.Delete(p.recent, at, at+1)
	}
	m.takeInOrder(p)
	m.decide()
	return true
}
