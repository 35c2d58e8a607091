package peers

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// This file keeps anybody from peeking. A seal commits to a command without showing it: eight bytes
// of a digest of the command and of a nonce, a number that nobody else knows. A command for a tick
// is revealed only when the seals of everybody for that tick are here. So whoever waits to see the
// others' commands has committed to its own before; who does not commit sees nothing; and one who
// does not commit, or does not reveal, has its last command repeated: see lapse.go.
//
// A seal is of a command and of some before it, as many as went in the last packet, or in more
// where much is lost. So each seal goes once: where a packet is lost, the next one commits to what
// was in it.
//
// Nonces are chains of 16: each is a digest of the next one. So a packet has the nonce of its
// newest command, and those of the commands before follow from it. That a nonce leads to the one
// before is checked, and leaves nobody a choice of nonces after the first of a chain.
//
// How long they are. A nonce must keep others from trying commands until one fits, for as long as
// they could use it: until they have to commit themselves, which is Match.Lapse at the most. Of 56
// bits a chain loses up to three, as the digests of digests become fewer. In half a second a
// graphics card computes about 2^32 digests, and finds one nonce of 2^21. A seal must keep its
// maker from opening it in two ways. To find another command for one that is made takes 2^64
// digests. To make two that have the same seal takes 2^32 commands for one nonce, which few titles
// have, or for the first tick of a chain as many chains, of 16 digests each: some seconds of a
// graphics card, for a choice between two commands in one tick.

// seals are those of one member, and what it has revealed that cannot be checked yet.
type seals struct {
	have  world.Tick // all up to here are committed to
	nonce uint64     // of the last command that was opened
	of    world.Tick // the tick of that
	ring  [sealWindow]sealed
}

// sealed is a seal for a tick, and what should open it.
type sealed struct {
	tick     world.Tick // of the seal; an older one if it has not come
	wide     uint8      // of how many commands it is, up to that tick
	seal     uint64
	revealed world.Tick // of the item; an older one if it has not come
	nonce    uint64
	item     []byte
}

const (
	sealWindow = 256
	sealBits   = 64
	nonceBits  = 56
	wideBits   = 4
	mostSeals  = 15
	widest     = 1<<wideBits - 1
	nonceChain = 16 // nonces of which each follows from the next
)

// seal commits to the command for a tick and some before, which are in the stream or were revealed.
func (p *Peer) seal(st *stream, t world.Tick, wide uint8, nonce uint64) uint64 {
	b := append(p.text[:0], p.sum[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(st.id))
	b = append(b, st.era)
	b = binary.BigEndian.AppendUint64(b, uint64(t))
	b = binary.BigEndian.AppendUint64(b, nonce)
	b = append(b, wide)
	for n := t + 1 - world.Tick(wide); n <= t; n++ {
		item := st.seals.ring[n%sealWindow].item
		if st.Holds(uint64(n)) {
			item = st.Item(uint64(n))
		}
		b = append(append(b, byte(len(item))), item...)
	}
	p.text = b
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}

// earlier is the nonce of a tick, from that of the next.
func (p *Peer) earlier(id member.ID, t world.Tick, next uint64) uint64 {
	var b [32 + 2 + 8 + 8]byte
	n := copy(b[:], p.sum[:])
	binary.BigEndian.PutUint16(b[n:], uint16(id))
	binary.BigEndian.PutUint64(b[n+2:], uint64(t))
	binary.BigEndian.PutUint64(b[n+10:], next)
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint64(sum[:]) >> (64 - nonceBits)
}

// endsChain says whether the nonce of a tick does not follow from the next.
func endsChain(t world.Tick) bool { return t%nonceChain == nonceChain-1 }

// nonces are those of this peer.
type nonces struct {
	secret [32]byte
	chains [8]struct {
		made  bool
		which world.Tick
		list  [nonceChain]uint64
	}
}

// nonce is what keeps others from trying commands until one fits the seal.
func (p *Peer) nonce(t world.Tick) uint64 {
	which := t / nonceChain
	c := &p.own.nonces.chains[which%world.Tick(len(p.own.nonces.chains))]
	if !c.made || c.which != which {
		var b [40]byte
		copy(b[:], p.own.nonces.secret[:])
		binary.BigEndian.PutUint64(b[32:], uint64(which))
		sum := sha256.Sum256(b[:])
		c.made, c.which = true, which
		c.list[nonceChain-1] = binary.BigEndian.Uint64(sum[:]) >> (64 - nonceBits)
		for i := nonceChain - 2; i >= 0; i-- {
			c.list[i] = p.earlier(p.self, which*nonceChain+world.Tick(i), c.list[i+1])
		}
	}
	return c.list[t%nonceChain]
}

// committed is up to which tick everybody else has committed to a command.
func (p *Peer) committed() world.Tick {
	least := open
	for i := range p.charter.spans {
		s := &p.charter.spans[i]
		if s.until != open || s.member == p.self {
			continue
		}
		have := s.from - 1
		if st := p.stream(s.member); st != nil {
			have = max(have, st.seals.have, world.Tick(st.Have()))
		}
		least = min(least, have)
	}
	return least
}

// chooseSeals finds which seals a packet should have: those that are not under way, and neither
// have come nor one that commits to the same.
func (p *Peer) chooseSeals(q *pair) (from, to world.Tick) {
	newest := p.own.next - 1
	if p.limited {
		newest = min(newest, p.tenure.stamped)
	}
	own := p.stream(p.self)
	if !p.match.Commit || own == nil || !q.told || newest < world.Tick(own.From()) ||
		!q.mayTell() || p.cheats != nil && p.cheats.noSeals {
		return 1, 0
	}
	q.seals.acked = max(q.seals.acked, q.items.acked)
	from = q.seals.next(world.Tick(own.From()), newest)
	if from > newest && p.pace.late { // no other comes that commits to the same
		from = q.seals.acked + 1
	}
	// What is to be revealed may be committed to only by the seal of a later tick, and the others
	// may not get so far without it.
	at := min(newest, p.committed(), q.seals.acked)
	if at == q.opening && at > q.items.acked && q.seals.lacks(at) {
		from = min(from, at)
	}
	q.opening = at
	if from > newest || !own.Holds(uint64(from)) || newest-from > farthest {
		return 1, 0
	}
	return from, min(newest, from+mostSeals-1)
}

// width is of how many commands the seals to another are: of all in some packets before, of which
// one at least will come.
func (p *Peer) width(q *pair) world.Tick {
	return world.Tick(min(spares(q.conn)*p.ticksEach()+1, widest))
}

// ticksEach is how many ticks there are to a packet.
func (p *Peer) ticksEach() int {
	return int((p.pace.every + p.game.TickLength() - 1) / p.game.TickLength())
}

// writeSeals says of which era they are, how many seals there are, the tick of the newest, of how
// many commands each is, and the seals.
func (p *Peer) writeSeals(w *bits.Writer, wide, from, to world.Tick) {
	own := p.stream(p.self)
	w.WriteBits(uint64(own.era)&(1<<eraBits-1), eraBits)
	writeFew(w, int(to+1-from))
	if from > to {
		return
	}
	w.WriteBits(uint64(uint8(to)), newestBits)
	w.WriteBits(uint64(wide), wideBits)
	for t := from; t <= to; t++ {
		w.WriteBits(p.seal(own, t, uint8(min(wide, t)), p.nonce(t)), sealBits)
	}
	p.own.sealed = max(p.own.sealed, to)
}

// writeNonces says the nonces of some commands, as far as they do not follow from each other.
func (p *Peer) writeNonces(w *bits.Writer, from, to world.Tick) {
	for t := to; t >= from; t-- {
		if t == to || endsChain(t) {
			w.WriteBits(p.nonce(t), nonceBits)
		}
	}
}

// readNonces reads those, the oldest first.
func (p *Peer) readNonces(r *bits.Reader, id member.ID, to world.Tick, list []uint64) {
	for i := len(list) - 1; i >= 0; i-- {
		if t := to + 1 + world.Tick(i) - world.Tick(len(list)); t == to || endsChain(t) {
			list[i] = r.ReadBits(nonceBits)
		} else {
			list[i] = p.earlier(id, t, list[i+1])
		}
	}
}

// readSeals takes those of another. The first for a tick counts. It is not ok where they are of
// another era than is known here.
func (p *Peer) readSeals(r *bits.Reader, st *stream) (ok bool) {
	if r.ReadBits(eraBits) != uint64(st.era)&(1<<eraBits-1) {
		p.stats.Stale++
		return false
	}
	count := world.Tick(readFew(r))
	if count == 0 || count > mostSeals {
		return count == 0
	}
	s := st.seals
	s.have = max(s.have, world.Tick(st.From())-1, world.Tick(st.Have()))
	to := near(r.ReadBits(newestBits), s.have)
	wide := world.Tick(r.ReadBits(wideBits))
	for i := range count {
		v := r.ReadBits(sealBits)
		if to+i < count {
			continue // before the first tick
		}
		t := to + 1 + i - count
		if e := &s.ring[t%sealWindow]; r.Err() == nil && e.tick < t && t < s.have+sealWindow/2 {
			e.tick, e.seal, e.wide = t, v, uint8(min(wide, t))
		}
	}
	for s.seals(s.have+1) != nil {
		s.have++
	}
	return r.Err() == nil
}

// seals is a seal that commits to the command for a tick, or nil.
func (s *seals) seals(t world.Tick) *sealed {
	for n := t; n < t+widest; n++ {
		if e := &s.ring[n%sealWindow]; e.tick == n && n < t+world.Tick(e.wide) {
			return e
		}
	}
	return nil
}

// reveal takes a command with its nonce. It counts when a seal was found to fit.
func (s *seals) reveal(have, t world.Tick, nonce uint64, item []byte) {
	if t <= have || t >= have+sealWindow/2 {
		return
	}
	e := &s.ring[t%sealWindow]
	e.revealed, e.nonce, e.item = t, nonce, append(e.item[:0], item...)
}

// openSeals takes the commands of a member that are what it has committed to.
func (p *Peer) openSeals(q *pair, st *stream) {
	s := st.seals
	for {
		t := world.Tick(st.Have()) + 1
		e, by := &s.ring[t%sealWindow], s.seals(t)
		if e.revealed != t || by == nil || !s.revealed(t, by.tick) {
			return
		}
		// One that reaches back to before what is here cannot be checked.
		fits := by.tick+1-world.Tick(by.wide) < world.Tick(st.From()) ||
			by.seal == p.seal(st, by.tick, by.wide, s.ring[by.tick%sealWindow].nonce)
		if s.of != 0 && s.of+1 == t && !endsChain(s.of) &&
			p.earlier(st.id, s.of, e.nonce) != s.nonce {
			fits = false
		}
		if !fits {
			p.stats.Unopened++
			e.revealed = 0
			return
		}
		q.late.came(t, world.Tick(st.Have()), p.copy.Shown())
		s.nonce, s.of = e.nonce, t
		p.put(st, t, e.item)
		if world.Tick(st.Have()) < t {
			e.revealed = 0 // it is no command
			return
		}
	}
}

// revealed says whether all commands from one tick to another are here.
func (s *seals) revealed(from, to world.Tick) bool {
	for t := from; t <= to; t++ {
		if s.ring[t%sealWindow].revealed != t {
			return false
		}
	}
	return true
}
