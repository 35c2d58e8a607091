package peers

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// This file keeps anybody from peeking. A seal commits to a command without showing it: eight bytes
// of a digest of the command and a number that nobody else knows. A command for a tick is revealed
// only when the seals of everybody for that tick are here. So whoever waits to see the others'
// commands has committed to its own before; who does not commit sees nothing; and who does not
// reveal what it committed to is waited for as one who is silent, and put out like one.

// seals are those of one member.
type seals struct {
	have world.Tick // all up to here have come
	ring [sealWindow]struct {
		tick world.Tick
		seal uint64
	}
}

const (
	sealWindow = 256
	sealBits   = 64
	nonceBits  = 64
	mostSeals  = 15
)

// seal commits to a command.
func (p *Peer) seal(id member.ID, t world.Tick, nonce uint64, item []byte) uint64 {
	var b [32 + 2 + 8 + 8 + 256]byte
	n := copy(b[:], p.sum[:])
	binary.BigEndian.PutUint16(b[n:], uint16(id))
	binary.BigEndian.PutUint64(b[n+2:], uint64(t))
	binary.BigEndian.PutUint64(b[n+10:], nonce)
	n += 18
	n += copy(b[n:], item)
	sum := sha256.Sum256(b[:n])
	return binary.BigEndian.Uint64(sum[:])
}

// nonce is what keeps others from trying commands until one fits the seal.
func (p *Peer) nonce(t world.Tick) uint64 {
	var b [40]byte
	copy(b[:], p.own.secret[:])
	binary.BigEndian.PutUint64(b[32:], uint64(t))
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint64(sum[:])
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

// chooseSeals finds which seals a packet should have.
func (p *Peer) chooseSeals(q *pair) (from, to world.Tick) {
	newest := p.own.next - 1
	own := p.stream(p.self)
	if !p.match.Commit || own == nil || !q.told || newest < world.Tick(own.From()) ||
		p.cheats != nil && p.cheats.noSeals {
		return 1, 0
	}
	q.seals.acked = max(q.seals.acked, q.items.acked)
	from = q.seals.next(world.Tick(own.From()), newest)
	if again := newest + 1 - min(newest, world.Tick(spares(q.conn))); from > again {
		from = max(q.seals.acked+1, again)
	}
	if from > newest || !own.Holds(uint64(from)) || newest-from > farthest {
		return 1, 0
	}
	return from, min(newest, from+mostSeals-1)
}

// writeSeals says how many seals there are and the tick of the newest, and the seals.
func (p *Peer) writeSeals(w *bits.Writer, from, to world.Tick) {
	w.WriteBits(uint64(to+1-from), countBits)
	if from > to {
		return
	}
	w.WriteBits(uint64(uint8(to)), newestBits)
	own := p.stream(p.self)
	for t := from; t <= to; t++ {
		w.WriteBits(p.seal(p.self, t, p.nonce(t), own.Item(uint64(t))), sealBits)
	}
}

// readSeals takes those of another. The first for a tick counts.
func (p *Peer) readSeals(r *bits.Reader, st *stream) {
	count := world.Tick(r.ReadBits(countBits))
	if count == 0 {
		return
	}
	s := st.seals
	to := near(r.ReadBits(newestBits), max(s.have, world.Tick(st.Have())))
	if count > to {
		return
	}
	s.have = max(s.have, world.Tick(st.From())-1, world.Tick(st.Have()))
	for t := to - count + 1; t <= to; t++ {
		v := r.ReadBits(sealBits)
		if e := &s.ring[t%sealWindow]; r.Err() == nil && e.tick < t && t < s.have+sealWindow/2 {
			e.tick, e.seal = t, v
		}
	}
	for s.ring[(s.have+1)%sealWindow].tick == s.have+1 {
		s.have++
		st.moved = p.now
	}
}

// opens says whether a command is what its player has committed to.
func (p *Peer) opens(st *stream, t world.Tick, nonce uint64, item []byte) bool {
	if t <= world.Tick(st.Have()) {
		return true // it is here, and is compared with what came before
	}
	e := &st.seals.ring[t%sealWindow]
	return e.tick == t && e.seal == p.seal(st.id, t, nonce, item)
}
