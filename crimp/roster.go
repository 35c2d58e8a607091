package crimp

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net/netip"

	"github.com/coeval-dev/coeval/bits"
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

var proofNames = [...]string{"tags", "signatures"}

func (p Proof) String() string {
	return nameOf(p, proofNames[:], fmt.Sprintf("proof %d", uint8(p)))
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
	// Agreed says that the members have agreed on what counts, see Group.Freeze: nothing
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

// Check says what is wrong with a roster.
func (r *Roster) Check() error {
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
			return errors.New(
				"crimp: roster whose members are not in rising order of their identifiers, from 1")
		}
	}
	return nil
}

// proofSize is how many bytes of proof each packet of this roster has.
func (r *Roster) proofSize() int {
	if r.Proof == Signatures {
		return signatureSize
	}
	return tagSize * (len(r.Members) - 1)
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

// Sign signs a statement, for authorities. What it is about must be said in its first bytes, so
// that a signature for one purpose is none for another.
func (id *Identity) Sign(statement []byte) [64]byte {
	return [64]byte(ed25519.Sign(id.sign, statement))
}

// Signed reports whether the member with this card has signed a statement.
func (c *Card) Signed(statement []byte, s *[64]byte) bool {
	return ed25519.Verify(c.Sign[:], statement, s[:])
}

// Good reports whether the keys of a card can be used with this identity.
func (id *Identity) Good(c *Card) bool {
	_, err := id.shared(c)
	return err == nil
}

// shared is the secret that two members have in common and nobody else knows.
func (id *Identity) shared(peer *Card) ([]byte, error) {
	pub, err := ecdh.X25519().NewPublicKey(peer.Agree[:])
	if err != nil {
		return nil, err
	}
	return id.agree.ECDH(pub)
}

// Fields reads or writes a roster, for authorities, which carry it. It holds the group's key: send
// it in secret. After reading, Check says whether it makes sense.
//
//	8 group  4 epoch  16 key  1 proof
//	2 members, then each: id 2, card
//	2 departures, then each: id 2, last 4, reason 1; if the reason's highest bit is set,
//	  it was agreed on, and 2 spans follow, then each: first 4, more 4
func (r *Roster) Fields(c *bits.Cursor) {
	c.U64(&r.Group)
	c.U32(&r.Epoch)
	c.Raw(r.Key[:])
	c.U8((*uint8)(&r.Proof))
	for m := range bits.List16(c, &r.Members, MaxMembers) {
		m.Fields(c)
	}
	for d := range bits.List16(c, &r.Gone, math.MaxUint16) {
		d.fields(c)
	}
}

// Fields reads or writes a member and its card.
func (m *Member) Fields(c *bits.Cursor) {
	c.U16((*uint16)(&m.ID))
	m.Card.Fields(c)
}

// Fields reads or writes a card: keys 32 and 32, site 1, and the address, or 0 for none.
func (c *Card) Fields(k *bits.Cursor) {
	k.Raw(c.Sign[:])
	k.Raw(c.Agree[:])
	k.U8(&c.Site)
	k.AddrOrNone(&c.Addr)
}

// departureAgreed is set in the reason of a departure that was agreed on.
const departureAgreed = 0x80

func (d *Departure) fields(c *bits.Cursor) {
	reason := uint8(d.Reason)
	if d.Agreed {
		reason |= departureAgreed
	}
	c.U16((*uint16)(&d.ID))
	c.U32((*uint32)(&d.Last))
	c.U8(&reason)
	d.Reason, d.Agreed = Reason(reason&^departureAgreed), reason&departureAgreed != 0
	if !d.Agreed {
		return
	}
	after := Sequence(0) // spans rise and do not touch
	for l := range bits.List16(c, &d.Lost, math.MaxUint16) {
		c.U32((*uint32)(&l.First))
		c.U32(&l.More)
		c.Check(l.First > after && l.First <= d.Last && l.More <= uint32(d.Last-l.First))
		after = l.First + Sequence(l.More) + 1
	}
}
