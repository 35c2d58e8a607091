// Package packet has the datagrams of a directory: the challenge by which a server proves that it
// is where it says, and the query by which a game's client asks for servers. No answer is longer
// than what it answers. They may share a socket with connections: their first byte tells them
// apart.
//
// The bytes are specified in docs/protocol.md.
package packet

import (
	"net/netip"

	"github.com/coeval-dev/coeval/bits"
)

// First bytes.
const (
	KindChallenge = 0x60
	KindProof     = 0x61
	KindQuery     = 0x62
	KindAnswer    = 0x63
)

// Sizes.
const (
	IDSize        = 16
	NonceSize     = 16
	ChallengeSize = 64
	ProofSize     = 34
	// LeastQuery and MostQuery are how long a query may be, with its padding.
	LeastQuery = 64
	MostQuery  = 1400
	answerHead = 15
	version    = 1
)

// A Challenge asks whoever has an ID to answer. Its answer is a Proof, with the same fields.
type Challenge struct {
	ID    [IDSize]byte
	Nonce [NonceSize]byte
}

func (c *Challenge) fields(b *bits.Cursor, kind byte) {
	k, v := kind, byte(version)
	b.U8(&k)
	b.U8(&v)
	b.Check(k == kind && v == version)
	b.Raw(c.ID[:])
	b.Raw(c.Nonce[:])
}

// AppendChallenge writes a challenge.
func (c Challenge) AppendChallenge(to []byte) []byte {
	b := bits.CursorTo(to)
	c.fields(&b, KindChallenge)
	return append(b.Data(), make([]byte, ChallengeSize-ProofSize)...)
}

// AppendProof writes the answer to a challenge.
func (c Challenge) AppendProof(to []byte) []byte {
	b := bits.CursorTo(to)
	c.fields(&b, KindProof)
	return b.Data()
}

// ParseChallenge reads a challenge.
func ParseChallenge(data []byte) (c Challenge, ok bool) {
	if len(data) != ChallengeSize || !zeros(data[ProofSize:]) {
		return c, false
	}
	b := bits.CursorOver(data[:ProofSize])
	c.fields(&b, KindChallenge)
	return c, b.Done()
}

// ParseProof reads a proof.
func ParseProof(data []byte) (c Challenge, ok bool) {
	if len(data) != ProofSize {
		return c, false
	}
	b := bits.CursorOver(data)
	c.fields(&b, KindProof)
	return c, b.Done()
}

func zeros(data []byte) bool {
	for _, x := range data {
		if x != 0 {
			return false
		}
	}
	return true
}

// A Query asks for servers.
type Query struct {
	Nonce    uint64
	Protocol uint64 // of the game, or zero for any; see token.ProtocolID
	Version  uint64 // hash of the game's declarations, or zero for any
	Room     bool   // only those with room
	First    uint16 // how many to pass over
	Region   string // or nothing for any
}

// MaxRegion is how long a region in a query may be.
const MaxRegion = 24

func (q *Query) fields(b *bits.Cursor) {
	k, v := byte(KindQuery), byte(version)
	b.U8(&k)
	b.U8(&v)
	b.Check(k == KindQuery && v == version)
	b.U64(&q.Nonce)
	b.U64(&q.Protocol)
	b.U64(&q.Version)
	b.Bool(&q.Room)
	b.U16(&q.First)
	b.Text8(&q.Region, MaxRegion)
}

// Append writes a query of a length, which is how long the answer may be.
func (q Query) Append(to []byte, length int) []byte {
	start := len(to)
	b := bits.CursorTo(to)
	q.fields(&b)
	out := b.Data()
	return append(out, make([]byte, max(min(length, MostQuery), LeastQuery)-(len(out)-start))...)
}

// ParseQuery reads a query.
func ParseQuery(data []byte) (q Query, ok bool) {
	if len(data) < LeastQuery || len(data) > MostQuery {
		return q, false
	}
	b := bits.CursorOver(data)
	q.fields(&b)
	return q, b.OK() && zeros(b.Data())
}

// A Server is an entry of an answer.
type Server struct {
	ID                [IDSize]byte
	Mode              byte // 0 a server, 1 a group of mirrors, 2 a relay
	Players, Capacity uint16
	Name              string
	Places            []netip.AddrPort
}

// Limits of a server in an answer. Names are cut.
const (
	MaxName   = 64
	MaxPlaces = 16
)

func (s *Server) fields(b *bits.Cursor) {
	b.Raw(s.ID[:])
	b.U8(&s.Mode)
	b.Check(s.Mode <= 2)
	b.U16(&s.Players)
	b.U16(&s.Capacity)
	b.Text8(&s.Name, MaxName)
	n := byte(len(s.Places))
	b.U8(&n)
	b.Check(n >= 1 && n <= MaxPlaces)
	if b.Reading() && b.OK() {
		s.Places = make([]netip.AddrPort, n)
	}
	for i := 0; i < int(n) && b.OK(); i++ {
		b.Addr(&s.Places[i])
		b.Check(s.Places[i].Port() != 0)
	}
}

// An Answer is what a query finds: as much as fits.
type Answer struct {
	Nonce   uint64
	Total   uint16 // how many there are
	First   uint16 // how many were passed over
	Servers []Server
}

func (a *Answer) head(b *bits.Cursor, count *byte) {
	k, v := byte(KindAnswer), byte(version)
	b.U8(&k)
	b.U8(&v)
	b.Check(k == KindAnswer && v == version)
	b.U64(&a.Nonce)
	b.U16(&a.Total)
	b.U16(&a.First)
	b.U8(count)
}

// AppendHead writes what stands before the servers of an answer, and how many those are.
func (a *Answer) AppendHead(to []byte, count byte) []byte {
	b := bits.CursorTo(to)
	a.head(&b, &count)
	return b.Data()
}

// Append writes a server as it stands in an answer.
func (s *Server) Append(to []byte) []byte {
	b := bits.CursorTo(to)
	s.fields(&b)
	return b.Data()
}

// Append writes an answer of at most so many bytes, with as many servers as fit into it.
func (a *Answer) Append(to []byte, most int) []byte {
	start := len(to)
	out := append(to, make([]byte, answerHead)...)
	count := byte(0)
	for i := range a.Servers {
		if count == 255 {
			break
		}
		next := a.Servers[i].Append(out)
		if len(next)-start > most {
			break
		}
		out = next
		count++
	}
	a.AppendHead(out[:start], count)
	return out
}

// ParseAnswer reads an answer.
func ParseAnswer(data []byte) (a Answer, ok bool) {
	b := bits.CursorOver(data)
	count := byte(0)
	a.head(&b, &count)
	for range count {
		var s Server
		if s.fields(&b); !b.OK() {
			return a, false
		}
		a.Servers = append(a.Servers, s)
	}
	return a, b.Done()
}
