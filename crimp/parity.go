package crimp

import (
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/klauspost/reedsolomon"
)

// Parity packets are Reed-Solomon parity over whole datagrams, as they were sent. So what
// is made from them is a datagram with its maker's proof, which is checked like any
// other, and can serve to repair.

// window gathers our own datagrams for parity. Windows end at sequences that are
// multiples of their size, so that others know when.
type window struct {
	first   Sequence
	count   int
	longest int
	shards  [maxWindow + maxParity][]byte // each: length 2, datagram, zeros
}

// code is a Reed-Solomon code with the list of shards that it works on.
type code struct {
	rs     reedsolomon.Encoder
	shards [][]byte
	want   []bool
}

func (f *forwarding) code(packets, parity int) *code {
	c := f.codes[packets][parity]
	if c == nil {
		rs, err := reedsolomon.New(packets, parity, reedsolomon.WithMaxGoroutines(1))
		if err != nil {
			panic("crimp: " + err.Error()) // only for sizes out of bounds
		}
		c = &code{rs: rs, shards: make([][]byte, packets+parity),
			want: make([]bool, packets+parity)}
		f.codes[packets][parity] = c
	}
	return c
}

// addToWindow adds a datagram of ours to the window under way.
func (g *Group) addToWindow(s Sequence, datagram []byte) {
	f := &g.forward
	w := &f.window
	if w.count == 0 {
		w.first, w.longest = s, 0
	}
	w.shards[w.count] = append(be.AppendUint16(w.shards[w.count][:0], uint16(len(datagram))),
		datagram...)
	w.count++
	w.longest = max(w.longest, shardLength+len(datagram))
	f.closeAt = g.now + 20*time.Millisecond
	if p := g.beat.steady(); p > 0 {
		f.closeAt = g.now + 2*p
	}
	if int(s)%f.packets == 0 || w.count == maxWindow {
		g.sendParity()
	}
}

// closeWindow sends the parity of a window that nothing was added to for a while.
func (g *Group) closeWindow() {
	if g.now >= g.forward.closeAt {
		g.sendParity()
	}
}

func (g *Group) sendParity() {
	f := &g.forward
	w := &f.window
	n, parity := w.count, f.parity
	w.count = 0
	f.closeAt = never
	e := g.sending
	size := headerSize + parityHead + w.longest + sealSize + e.proofSize
	if n == 0 || size > g.opt.Datagram {
		return
	}
	c := f.code(n, parity)
	for i := range n + parity {
		b := w.shards[i]
		if i >= n {
			b = b[:0]
		}
		for len(b) < w.longest {
			b = append(b, 0)
		}
		w.shards[i] = b
		c.shards[i] = b
	}
	if err := c.rs.Encode(c.shards); err != nil {
		return // cannot be, for shards of one size
	}
	for i := range parity {
		b := g.buffers.Get(size + sealSlack)[:e.bodyAt]
		b = be.AppendUint32(b, uint32(w.first))
		b = append(b, byte(n<<3|parity), byte(i))
		b = append(b, c.shards[n+i]...)
		b = g.seal(e, &header{kind: kindParity, number: g.count(kindParity)}, b)
		g.post(b, toAll, SentForward)
		f.sentBytes(0, len(b)/n)
	}
}

// paritySet is the parity that has come for one window of a member.
type paritySet struct {
	first   Sequence
	packets int
	parity  int
	have    int
	shards  [maxParity][]byte
}

// paritySets is for how many windows of each member parity is kept.
const paritySets = 4

func (s *paritySet) clear(p *link.Buffers) {
	for i, b := range s.shards {
		p.Put(b)
		s.shards[i] = nil
	}
	s.first, s.have = 0, 0
}

func (s *paritySet) covers(q Sequence) bool {
	return s.have > 0 && q >= s.first && q < s.first+Sequence(s.packets)
}

// takeParity takes a parity packet that its maker made.
func (g *Group) takeParity(p *peer, body []byte) {
	if len(body) < parityHead+shardLength {
		g.stats.Malformed++
		return
	}
	first := Sequence(be.Uint32(body))
	packets, parity, index := int(body[4]>>3), int(body[4]&7), int(body[5])
	shard := body[parityHead:]
	if first == 0 || first > maxSequence-maxWindow || packets == 0 || parity == 0 ||
		index >= parity {
		g.stats.Malformed++
		return
	}
	last := first + Sequence(packets) - 1
	if !p.started || last < p.base || last >= p.next+ringMost {
		return
	}
	if limit, capped := p.limit(); capped && last > limit {
		return
	}
	g.noticeUpTo(p, last, false) // they were all sent before their parity
	var set *paritySet
	for i := range p.sets {
		if p.sets[i].have > 0 && p.sets[i].first == first {
			set = &p.sets[i]
		}
	}
	if set == nil {
		set = &p.sets[p.setAt]
		p.setAt = (p.setAt + 1) % paritySets
		set.clear(&g.buffers)
		set.first, set.packets, set.parity = first, packets, parity
	}
	if set.packets != packets || set.parity != parity || set.shards[index] != nil {
		g.stats.Duplicates++
		return
	}
	for _, other := range set.shards {
		if other != nil && len(other) != len(shard) {
			g.stats.Malformed++
			return
		}
	}
	set.shards[index] = append(g.buffers.Get(len(shard))[:0], shard...)
	set.have++
	g.rebuild(p, set)
	g.pump()
}

// tryParity looks whether a packet that has come completes a window.
func (g *Group) tryParity(p *peer, s Sequence) {
	for i := range p.sets {
		if p.sets[i].covers(s) {
			g.rebuild(p, &p.sets[i])
			return
		}
	}
}

// rebuild makes the missing datagrams of a window, if enough of it is there.
func (g *Group) rebuild(p *peer, set *paritySet) {
	size := 0
	for _, b := range set.shards {
		size = max(size, len(b))
	}
	missing, wanted := 0, 0
	for s := set.first; s < set.first+Sequence(set.packets); s++ {
		if !p.holds(s) {
			return
		}
		slot := p.at(s)
		if slot.state == slotMissing {
			wanted++
		}
		if slot.datagram == nil {
			missing++
		} else if len(slot.datagram)+shardLength > size {
			return // whoever made this parity did not make it from that
		}
	}
	if wanted == 0 || missing > set.have {
		return
	}
	c := g.forward.code(set.packets, set.parity)
	for i := range set.packets {
		c.shards[i], c.want[i] = c.shards[i][:0], false
		slot := p.at(set.first + Sequence(i))
		if slot.datagram == nil {
			c.shards[i], c.want[i] = g.buffers.Get(size)[:0], slot.state == slotMissing
			continue
		}
		b := append(be.AppendUint16(g.buffers.Get(size)[:0], uint16(len(slot.datagram))),
			slot.datagram...)
		for len(b) < size {
			b = append(b, 0)
		}
		c.shards[i] = b
	}
	for i := range set.parity {
		c.shards[set.packets+i] = append(g.buffers.Get(size)[:0], set.shards[i]...)
	}
	err := c.rs.ReconstructData(c.shards)
	first, packets := set.first, set.packets
	set.clear(&g.buffers) // before what follows looks at it again
	for i := range packets {
		b := c.shards[i]
		g.lent = append(g.lent, b) // messages point into it
		c.shards[i] = nil
		if err != nil || !c.want[i] || len(b) < shardLength {
			continue
		}
		if n := int(be.Uint16(b)); n <= len(b)-shardLength && n > headerSize &&
			b[shardLength] == kindData &&
			member.ID(be.Uint16(b[shardLength+4:])) == p.id &&
			Sequence(be.Uint32(b[shardLength+6:])) == first+Sequence(i) {
			g.take(b[shardLength:shardLength+n], Forwarded)
		}
	}
	g.reclaim(c.shards[packets:])
}
