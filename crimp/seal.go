package crimp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// epoch is a roster in force, with the keys made from it. Older ones are kept for as
// long as packets sealed under them may still be repaired.
type epoch struct {
	number  uint32
	proof   Proof
	aead    cipher.AEAD
	members []*peer // in the roster's order
	own     int     // our place among them
	// Keys that we share with each, for what we send and for what they send. Nil where we
	// stand ourselves.
	sendTag, recvTag []cipher.Block
	proofSize        int
	bodyAt           int           // where the body of a datagram begins
	from             time.Duration // when we may seal with it
}

// keepEpochs is how many of them are held. A group whose members change more often
// within one history loses what the oldest sealed.
const keepEpochs = 16

// newEpoch derives the keys of a roster for us.
func newEpoch(r *Roster, id *Identity, members []*peer, own int) (*epoch, error) {
	block, err := aes.NewCipher(r.Key[:])
	if err != nil {
		return nil, err
	}
	e := &epoch{
		number: r.Epoch, proof: r.Proof, members: members, own: own, proofSize: r.proofSize(),
		bodyAt: headerSize + r.proofSize()}
	if e.aead, err = cipher.NewGCMWithTagSize(block, sealSize); err != nil {
		return nil, err
	}
	if e.proof != Tags {
		return e, nil
	}
	e.sendTag = make([]cipher.Block, len(members))
	e.recvTag = make([]cipher.Block, len(members))
	me := members[own]
	for i, p := range members {
		if i == own {
			continue
		}
		if p.secret == nil {
			if p.secret, err = id.shared(&p.card); err != nil {
				return nil, fmt.Errorf("crimp: member %d shows a key that is none: %w", p.id, err)
			}
		}
		if e.sendTag[i], err = pairKey(p.secret, r, me.id, p.id); err != nil {
			return nil, err
		}
		if e.recvTag[i], err = pairKey(p.secret, r, p.id, me.id); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// pairKey is the key by which one member proves to another, in one epoch, that it made
// a packet.
func pairKey(secret []byte, r *Roster, from, to member.ID) (cipher.Block, error) {
	info := []byte("coeval crimp 1 tag")
	info = be.AppendUint64(info, r.Group)
	info = be.AppendUint32(info, r.Epoch)
	return blockKey(secret, info, from, to)
}

// wayKey is the key for one purpose from one member to another, as long as both are members.
func wayKey(secret []byte, purpose string, group uint64, from, to member.ID) (cipher.Block, error) {
	return blockKey(secret, be.AppendUint64([]byte("coeval crimp 1 "+purpose), group), from, to)
}

func blockKey(secret, info []byte, from, to member.ID) (cipher.Block, error) {
	info = be.AppendUint16(info, uint16(from))
	info = be.AppendUint16(info, uint16(to))
	key, err := hkdf.Expand(sha256.New, secret, string(info), 16)
	if err != nil {
		return nil, err
	}
	return aes.NewCipher(key)
}

// crypt is memory for the ciphers, kept so that handing it to them does not allocate.
type crypt struct {
	nonce  [12]byte
	digest [sha256.Size]byte
	tag    [aes.BlockSize]byte
	hash   hash.Hash
}

// setNonce makes the nonce of a datagram. A member uses each number once for each kind,
// and an identifier is never given out twice, so no nonce repeats under a key.
func (c *crypt) setNonce(h *header, epoch uint32) []byte {
	c.nonce[0], c.nonce[1] = h.kind, 0
	be.PutUint16(c.nonce[2:], uint16(h.member))
	be.PutUint32(c.nonce[4:], epoch)
	be.PutUint32(c.nonce[8:], h.number)
	return c.nonce[:]
}

// sum is the digest that proofs are made of: over header and body as they are before
// they are encrypted.
func (g *Group) sum(header, body []byte) []byte {
	h := g.crypt.hash
	h.Reset()
	h.Write(header)
	h.Write(body)
	return h.Sum(g.crypt.digest[:0])
}

const packetDomain = "coeval crimp 2 packet"

// signedPacket is what the signature of a packet is made of. The header stands in it by itself, so
// that two signatures for one number can be shown without the packets.
func (g *Group) signedPacket(header, digest []byte) []byte {
	g.body = appendPacket(g.body[:0], g.group, header[:headerSize], digest)
	return g.body
}

func appendPacket(b []byte, group uint64, header, digest []byte) []byte {
	b = be.AppendUint64(append(b, packetDomain...), group)
	return append(append(b, header...), digest...)
}

// sealSlack is memory that seal needs behind the sealed datagram. The assembly for amd64 in
// the standard library (seen in Go 1.26) writes the last block of a ciphertext whole, which a
// tag of 16 bytes covers; with one of 12 it writes up to three bytes past the end.
const sealSlack = 4

// seal proves and encrypts, in place, the body that stands in b behind the room for header
// and proof. The seal covers the proof, too: what was damaged on the way for one receiver must
// not be kept and passed on by another. There must be room for the tag and sealSlack.
func (g *Group) seal(e *epoch, h *header, b []byte) []byte {
	h.epoch, h.group, h.member = byte(e.number), g.tag, g.self.id
	h.put(b)
	digest := g.sum(b[:headerSize], b[e.bodyAt:])
	proof := b[headerSize:headerSize]
	if e.proof == Signatures {
		copy(b[headerSize:], ed25519.Sign(g.identity.sign, g.signedPacket(b, digest)))
	} else {
		for i := range e.members {
			if i != e.own {
				e.sendTag[i].Encrypt(g.crypt.tag[:], digest[:aes.BlockSize])
				proof = append(proof, g.crypt.tag[:tagSize]...)
			}
		}
	}
	_ = b[:len(b)+sealSize+sealSlack]
	sealed := e.aead.Seal(b[e.bodyAt:e.bodyAt], g.crypt.setNonce(h, e.number), b[e.bodyAt:],
		b[:e.bodyAt])
	return b[:e.bodyAt+len(sealed)]
}

// open decrypts a datagram in place and returns the body. The header and the proof stay
// as they are.
func (g *Group) open(e *epoch, h *header, b []byte) ([]byte, bool) {
	if len(b) < e.bodyAt+sealSize {
		return nil, false
	}
	body, err := e.aead.Open(b[e.bodyAt:e.bodyAt], g.crypt.setNonce(h, e.number), b[e.bodyAt:],
		b[:e.bodyAt])
	return body, err == nil
}

// proven reports whether the member named in the header of an opened datagram made it.
func (g *Group) proven(e *epoch, from int, b, body []byte) bool {
	digest := g.sum(b[:headerSize], body)
	proof := b[headerSize:e.bodyAt]
	if e.proof == Signatures {
		return ed25519.Verify(e.members[from].card.Sign[:], g.signedPacket(b, digest), proof)
	}
	e.recvTag[from].Encrypt(g.crypt.tag[:], digest[:aes.BlockSize])
	at := e.own
	if at > from {
		at--
	}
	return subtle.ConstantTimeCompare(g.crypt.tag[:tagSize], proof[at*tagSize:(at+1)*tagSize]) == 1
}

// provenOwn reports whether an opened datagram that names us was made with our identity. Tags prove
// that only together: each is made with a key that one other member has as well, so a single other
// could have made its own. Where there is only one other, nothing can be told.
func (g *Group) provenOwn(e *epoch, b, body []byte) bool {
	digest := g.sum(b[:headerSize], body)
	proof := b[headerSize:e.bodyAt]
	if e.proof == Signatures {
		return ed25519.Verify(g.self.card.Sign[:], g.signedPacket(b, digest), proof)
	}
	if len(e.members) < 3 {
		return false
	}
	good := 1
	for i := range e.members {
		if i == e.own {
			continue
		}
		e.sendTag[i].Encrypt(g.crypt.tag[:], digest[:aes.BlockSize])
		good &= subtle.ConstantTimeCompare(g.crypt.tag[:tagSize], proof[:tagSize])
		proof = proof[tagSize:]
	}
	return good == 1
}
