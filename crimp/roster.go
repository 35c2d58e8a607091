package crimp

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/coeval-dev/coeval/member"
)

// Sequence counts the data packets of one member, from 1. With the member it names a
// packet.
type Sequence uint32

// maxSequence bounds the packets of one member: 2^30 under AES-GCM are comfortable, and
// at a thousand a second last for twelve days.
const maxSequence = 1 << 30

// MaxMembers is how many members a group can have. With proofs for each receiver a
// datagram holds fewer; see Proof.
const MaxMembers = 256

// Proof is how a packet shows which member made it.
type Proof uint8

const (
	// Tags: eight bytes for each other member, each made with a key that only the two
	// share. Cheap to make and check; grows with the group.
	Tags Proof = iota
	// Signatures: one of 64 bytes, Ed25519. Tens of microseconds to make and to check, whatever
	// the group's size: for large groups with slow clocks.
	Signatures
)

func (p Proof) String() string {
	switch p {
	case Tags:
		return "tags"
	case Signatures:
		return "signatures"
	}
	return fmt.Sprintf("proof %d", uint8(p))
}

// Card is what a member shows of itself to the others: public keys, and where it is.
type Card struct {
	Sign  [32]byte // Ed25519
	Agree [32]byte // X25519
	// Addr is where the member is reached by unicast. A group on one multicast address
	// does without.
	Addr netip.AddrPort
	// Site is the same for members that hear each other by multicast, and zero for one
	// that is reached by unicast only. The member of a site with the lowest number is
	// its bridge to the others.
	Site uint8
}

// Member is an entry of a roster.
type Member struct {
	ID member.ID
	Card
}

// Departure says that a member is gone, and which of its packets count.
type Departure struct {
	ID member.ID
	// Last is the last packet of it that is to be delivered. Zero: whatever comes, unless
	// Agreed says that it is meant.
	Last   Sequence
	Reason Reason
	// Agreed says that the members have agreed on what counts, see Group.Wedge: nothing
	// beyond Last, and of what is before, not those in Lost, which nobody has.
	Agreed bool
	Lost   []Span
}

// Span is a packet of a member and so many that follow it.
type Span struct {
	First Sequence
	More  uint32
}

// Roster is who is in a group, and by which keys they know each other. Whoever decides
// membership makes one for each change, with a new epoch and a new key, and gives it
// to all members in secret.
type Roster struct {
	Group   uint64 // drawn at random when the group was made
	Epoch   uint32 // counts the changes, from 1
	Key     [16]byte
	Proof   Proof
	Members []Member // by rising ID
	Gone    []Departure
}

// check says what is wrong with a roster.
func (r *Roster) check() error {
	switch {
	case r.Epoch == 0:
		return errors.New("crimp: roster with epoch 0, they count from 1")
	case len(r.Members) == 0 || len(r.Members) > MaxMembers:
		return fmt.Errorf("crimp: roster with %d members, want 1 to %d", len(r.Members), MaxMembers)
	case r.Proof > Signatures:
		return fmt.Errorf("crimp: roster with an unknown %v", r.Proof)
	case r.Key == [16]byte{}:
		return errors.New("crimp: roster without a key, draw one from good randomness")
	}
	for i, m := range r.Members {
		if m.ID == 0 || i > 0 && m.ID <= r.Members[i-1].ID {
			return errors.New("crimp: roster whose members are not in rising order of their identifiers, from 1")
		}
	}
	return nil
}

// proofSize is how many bytes of proof each packet of this roster has.
func (r *Roster) proofSize() int { return proofSize(r.Proof, len(r.Members)) }

func proofSize(p Proof, members int) int {
	if p == Signatures {
		return signatureSize
	}
	return tagSize * (members - 1)
}

// Identity is what a member keeps secret: the keys by which the others know that a
// packet is from it.
type Identity struct {
	sign  ed25519.PrivateKey
	agree *ecdh.PrivateKey
}

// NewIdentity makes an identity from 32 bytes of good randomness. A member may keep the
// seed in a file and be the same after a restart.
func NewIdentity(seed [32]byte) (*Identity, error) {
	if seed == [32]byte{} {
		return nil, errors.New("crimp: no seed for the identity, fill it from crypto/rand")
	}
	keys, err := hkdf.Expand(sha256.New, seed[:], "coeval crimp 1 identity", 64)
	if err != nil {
		return nil, err
	}
	agree, err := ecdh.X25519().NewPrivateKey(keys[32:])
	if err != nil {
		return nil, err
	}
	return &Identity{ed25519.NewKeyFromSeed(keys[:32]), agree}, nil
}

// Card is the identity's public part, with where the member is.
func (id *Identity) Card(addr netip.AddrPort, site uint8) Card {
	c := Card{Addr: addr, Site: site}
	copy(c.Sign[:], id.sign.Public().(ed25519.PublicKey))
	copy(c.Agree[:], id.agree.PublicKey().Bytes())
	return c
}

// shared is the secret that two members have in common and nobody else knows.
func (id *Identity) shared(peer *Card) ([]byte, error) {
	pub, err := ecdh.X25519().NewPublicKey(peer.Agree[:])
	if err != nil {
		return nil, err
	}
	return id.agree.ECDH(pub)
}

// Rosters travel from the coordinator to members as reliable messages:
//
//	8 group  4 epoch  16 key  1 proof
//	2 members, then each: id 2, keys 32 and 32, site 1, address
//	2 departures, then each: id 2, last 4, reason 1; if the reason's highest bit is set,
//	  it was agreed on, and 2 spans follow, then each: first 4, more 4
//
// with an address as family 1 (0, 4 or 6), 4 or 16 bytes, port 2.
func (r *Roster) append(b []byte) []byte {
	b = be.AppendUint64(b, r.Group)
	b = be.AppendUint32(b, r.Epoch)
	b = append(b, r.Key[:]...)
	b = append(b, byte(r.Proof))
	b = be.AppendUint16(b, uint16(len(r.Members)))
	for i := range r.Members {
		b = be.AppendUint16(b, uint16(r.Members[i].ID))
		b = r.Members[i].Card.append(b)
	}
	b = be.AppendUint16(b, uint16(len(r.Gone)))
	for _, d := range r.Gone {
		b = be.AppendUint16(b, uint16(d.ID))
		b = be.AppendUint32(b, uint32(d.Last))
		if !d.Agreed {
			b = append(b, byte(d.Reason))
			continue
		}
		b = append(b, byte(d.Reason)|departureAgreed)
		b = be.AppendUint16(b, uint16(len(d.Lost)))
		for _, l := range d.Lost {
			b = be.AppendUint32(be.AppendUint32(b, uint32(l.First)), l.More)
		}
	}
	return b
}

func (c *Card) append(b []byte) []byte {
	b = append(b, c.Sign[:]...)
	b = append(b, c.Agree[:]...)
	b = append(b, c.Site)
	a := c.Addr.Addr().Unmap()
	switch {
	case !c.Addr.IsValid():
		return append(b, 0)
	case a.Is4():
		b = append(append(b, 4), a.AsSlice()...)
	default:
		b = append(append(b, 6), a.WithZone("").AsSlice()...)
	}
	return be.AppendUint16(b, c.Addr.Port())
}

// scan reads fields one after the other and remembers if one was missing.
type scan struct {
	b   []byte
	bad bool
}

func (s *scan) take(n int) []byte {
	if s.bad || len(s.b) < n {
		s.bad = true
		return make([]byte, n)
	}
	p := s.b[:n]
	s.b = s.b[n:]
	return p
}

func (s *scan) card() (c Card) {
	copy(c.Sign[:], s.take(32))
	copy(c.Agree[:], s.take(32))
	c.Site = s.take(1)[0]
	var a netip.Addr
	switch s.take(1)[0] {
	case 0:
		return c
	case 4:
		a = netip.AddrFrom4([4]byte(s.take(4)))
	case 6:
		a = netip.AddrFrom16([16]byte(s.take(16)))
		s.bad = s.bad || a.Is4In6()
	default:
		s.bad = true
	}
	c.Addr = netip.AddrPortFrom(a, be.Uint16(s.take(2)))
	return c
}

var errMessage = errors.New("crimp: malformed message of membership")

func readRoster(b []byte) (r Roster, err error) {
	s := scan{b: b}
	r.Group, r.Epoch = be.Uint64(s.take(8)), be.Uint32(s.take(4))
	copy(r.Key[:], s.take(16))
	r.Proof = Proof(s.take(1)[0])
	n := int(be.Uint16(s.take(2)))
	if n > MaxMembers {
		return r, errMessage
	}
	for range n {
		m := Member{ID: member.ID(be.Uint16(s.take(2)))}
		m.Card = s.card()
		if s.bad {
			return r, errMessage
		}
		r.Members = append(r.Members, m)
	}
	n = int(be.Uint16(s.take(2)))
	for range n {
		d, ok := s.departure()
		if !ok {
			return r, errMessage
		}
		r.Gone = append(r.Gone, d)
	}
	if s.bad || len(s.b) != 0 {
		return r, errMessage
	}
	return r, r.check()
}

// departureAgreed marks the reason of a departure that was agreed on.
const departureAgreed = 0x80

func (s *scan) departure() (d Departure, ok bool) {
	d.ID, d.Last = member.ID(be.Uint16(s.take(2))), Sequence(be.Uint32(s.take(4)))
	reason := s.take(1)[0]
	d.Reason, d.Agreed = Reason(reason&^departureAgreed), reason&departureAgreed != 0
	if !d.Agreed {
		return d, !s.bad
	}
	n := int(be.Uint16(s.take(2)))
	after := Sequence(0) // spans rise and do not touch
	for range n {
		l := Span{Sequence(be.Uint32(s.take(4))), be.Uint32(s.take(4))}
		if s.bad || l.First <= after || l.First > d.Last || l.More > uint32(d.Last-l.First) {
			return d, false
		}
		after = l.First + Sequence(l.More) + 1
		d.Lost = append(d.Lost, l)
	}
	return d, !s.bad
}

// find gives the place of a member in the roster, or -1.
func (r *Roster) find(id member.ID) int {
	i, ok := slices.BinarySearchFunc(r.Members, id, func(m Member, id member.ID) int { return int(m.ID) - int(id) })
	if !ok {
		return -1
	}
	return i
}
