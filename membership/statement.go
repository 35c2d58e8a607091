package membership

import (
	"crypto/cipher"
	"crypto/sha256"
	"net/netip"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"golang.org/x/crypto/chacha20poly1305"
)

// statementKind is the first byte of the datagrams by which mirrors that come back find each other.
const statementKind = 0x50

// Ours reports whether a datagram is one for a Revival.
func Ours(b []byte) bool { return len(b) > 0 && b[0] == statementKind }

// A statement is all that a mirror says to another in a revival.
//
//	8 nonce of this start  8 nonce of the receiver's, or 0  4 count
//	1 flags: 1 in a group, 2 in touch with most of it, 4 has a world, 8 proposes
//	  memory, without doors and stay
//	8 tick  8 hash  12 ballot that it bids  founding that it proposes, if so
type statement struct {
	nonce, echo   uint64
	count         uint32
	living        bool
	quorum, world bool
	memory        Memory
	tick, hash    uint64
	bid           bid
}

func (s *statement) fields(c *bits.Cursor) {
	c.U64(&s.nonce)
	c.U64(&s.echo)
	c.U32(&s.count)
	var flags uint8
	all := [...]*bool{&s.living, &s.quorum, &s.world, &s.bid.proposes}
	for i, on := range all {
		if *on {
			flags |= 1 << i
		}
	}
	c.U8(&flags)
	c.Check(flags < 1<<len(all))
	for i, on := range all {
		*on = flags>>i&1 != 0
	}
	s.memory.said(c)
	c.U64(&s.tick)
	c.U64(&s.hash)
	if s.bid.ballot.fields(c); s.bid.proposes {
		s.bid.value.fields(c)
	}
}

// A sealer seals statements with the operator's key.
type sealer struct{ keys []cipher.AEAD }

func newSealer(keys []token.Key) (s sealer) {
	for _, k := range keys {
		sum := sha256.Sum256(append([]byte("coeval revival 1"), k[:]...))
		if a, err := chacha20poly1305.NewX(sum[:]); err == nil { // it has the length it needs
			s.keys = append(s.keys, a)
		}
	}
	return s
}

const statementHead = 1 + chacha20poly1305.NonceSizeX

// open reads a statement, and reports whether it is one of who has the key.
func (s *sealer) open(b []byte, to *statement) bool {
	if !Ours(b) || len(b) < statementHead {
		return false
	}
	for _, k := range s.keys {
		plain, err := k.Open(nil, b[1:statementHead], b[statementHead:], b[:1])
		if err != nil {
			continue
		}
		var ok bool
		*to, ok = readStatement(plain)
		return ok
	}
	return false
}

// readStatement reads one that was opened.
func readStatement(b []byte) (s statement, ok bool) {
	c := bits.CursorOver(b)
	s.fields(&c)
	return s, c.Done() && s.nonce != 0 && s.memory.Mark != 0
}

// own is what this mirror says: what its disk has. A bid is made once the disk knows its number, so
// that no other is made under it after a crash.
func (r *Revival) own(echo uint64) *statement {
	s := &statement{nonce: r.nonce, echo: echo, count: r.count, living: r.living,
		quorum: r.quorum, world: r.opt.World, memory: r.durable, tick: r.opt.Tick,
		hash: r.opt.Hash}
	if !r.durable.Promised.less(r.bid.ballot) {
		s.bid = r.bid
	}
	return s
}

// say sends another mirror what this one says.
func (r *Revival) say(to netip.AddrPort, echo uint64) {
	if len(r.sealer.keys) == 0 || len(r.out) >= maxOthers {
		return
	}
	r.count++
	c := bits.CursorTo(nil)
	r.own(echo).fields(&c)
	b := make([]byte, statementHead, statementHead+len(c.Data())+chacha20poly1305.Overhead)
	b[0] = statementKind
	r.random.Read(b[1:])
	b = r.sealer.keys[0].Seal(b, b[1:statementHead], c.Data(), b[:1])
	r.out = append(r.out, link.Datagram{Addr: to, Data: b})
}
