package conn

import (
	"crypto/hmac"

	"github.com/coeval-dev/coeval/conn/token"
)

// The packets of the handshake.
//
//	client                                server
//	  │ request: game, version, nonce       │
//	  ├────────────────────────────────────▶│ stores nothing
//	  │ challenge: cookie                   │
//	  │◀────────────────────────────────────┤
//	  │ response: cookie, token, share,     │
//	  │   proof                             │
//	  ├────────────────────────────────────▶│ address and token proved; a secret is agreed on
//	  │ accept: server's nonce, share,      │   or refusal: reason
//	  │   proof, identifier                 │
//	  │◀────────────────────────────────────┤
//	  │ data                                │
//	  ├────────────────────────────────────▶│ connected
//
// Each answer is smaller than what it answers, and each is sent only in answer,
// so the server can be made to send nobody more than was received.
const (
	requestSize   = 64 // padded, so that a challenge is smaller
	challengeSize = 2 + nonceSize + cookieSize
	responseFixed = 2 + 8 + 4 + nonceSize + cookieSize + 3 + 2 + shareSize + 2
	responseMin   = responseFixed + token.SealedMin + proofSize
	responseMax   = responseFixed + token.SealedMax + proofSize
	acceptProved  = 2 + 3 + nonceSize + shareSize
	acceptClear   = acceptProved + proofSize
	acceptSize    = acceptClear + 3 + 2 + tagSize
	refusalSize   = 2 + nonceSize + 1 + proofSize
)

type request struct {
	protocol uint64
	version  uint32
	nonce    [nonceSize]byte
}

func (r *request) append(b []byte) []byte {
	start := len(b)
	b = append(b, kindRequest, wireVersion)
	b = be.AppendUint64(b, r.protocol)
	b = be.AppendUint32(b, r.version)
	b = append(b, r.nonce[:]...)
	for len(b)-start < requestSize {
		b = append(b, 0)
	}
	return b
}

func (r *request) parse(b []byte) bool {
	if len(b) != requestSize || b[0] != kindRequest || b[1] != wireVersion {
		return false
	}
	r.protocol = be.Uint64(b[2:])
	r.version = be.Uint32(b[10:])
	copy(r.nonce[:], b[14:])
	for _, v := range b[14+nonceSize:] {
		if v != 0 {
			return false
		}
	}
	return true
}

func appendIdentifier(b []byte, id identifier) []byte {
	return append(b, byte(id>>16), byte(id>>8), byte(id))
}

type challenge struct {
	nonce  [nonceSize]byte // the client's, by which it knows that it was asked
	cookie [cookieSize]byte
}

func (c *challenge) parse(b []byte) bool {
	if len(b) != challengeSize || b[0] != kindChallenge || b[1] != wireVersion {
		return false
	}
	copy(c.nonce[:], b[2:])
	copy(c.cookie[:], b[2+nonceSize:])
	return true
}

type response struct {
	request
	cookie   [cookieSize]byte
	client   identifier // by which the client wants to be addressed
	datagram uint16     // the largest that the client can take
	share    [shareSize]byte
	sealed   []byte // the token's letter; refers to the packet after parse
	proof    [proofSize]byte
	signed   []byte // what the proof is over; after parse
}

// append writes a response and proves it with the token's secret, so that who
// merely overhears a token cannot use it up.
func (r *response) append(b []byte, keys *handshakeKeys) []byte {
	start := len(b)
	b = append(b, kindResponse, wireVersion)
	b = be.AppendUint64(b, r.protocol)
	b = be.AppendUint32(b, r.version)
	b = append(b, r.nonce[:]...)
	b = append(b, r.cookie[:]...)
	b = appendIdentifier(b, r.client)
	b = be.AppendUint16(b, r.datagram)
	b = append(b, r.share[:]...)
	b = be.AppendUint16(b, uint16(len(r.sealed)))
	b = append(b, r.sealed...)
	proof := authenticate(keys.proof[:], b[start:])
	return append(b, proof[:]...)
}

func (r *response) parse(b []byte) bool {
	if len(b) < responseMin || len(b) > responseMax || b[0] != kindResponse || b[1] != wireVersion {
		return false
	}
	r.signed = b[:len(b)-proofSize]
	copy(r.proof[:], b[len(b)-proofSize:])
	r.protocol = be.Uint64(b[2:])
	r.version = be.Uint32(b[10:])
	b = b[14:]
	b = b[copy(r.nonce[:], b):]
	b = b[copy(r.cookie[:], b):]
	r.client = identifier(getUint24(b))
	r.datagram = be.Uint16(b[3:])
	copy(r.share[:], b[5:])
	b = b[5+shareSize:]
	n := int(be.Uint16(b))
	b = b[2 : len(b)-proofSize]
	r.sealed = b
	return n == len(b) && r.datagram >= minDatagram && r.client>>identifierBits == 0
}

func (r *response) proved(keys *handshakeKeys) bool {
	want := authenticate(keys.proof[:], r.signed)
	return hmac.Equal(want[:], r.proof[:])
}

type accept struct {
	client      identifier
	serverNonce [nonceSize]byte
	share       [shareSize]byte
	sealed      []byte // still to be opened, after parse
	// what is sealed:
	server   identifier
	datagram uint16 // what both ends will keep to
}

// append seals an accept as packet number zero of the server's direction. The
// content is fixed when the connection is made, so sending it again is sending
// the same bytes, and no nonce is used for two contents. It is proved with the token's secret as
// well, and with the client's nonce, so that nobody else can make the client compute a secret.
func (a *accept) append(b []byte, d *direction, keys *handshakeKeys, nonce []byte) []byte {
	start := len(b)
	b = appendIdentifier(append(b, kindAccept, wireVersion), a.client)
	b = append(b, a.serverNonce[:]...)
	b = append(b, a.share[:]...)
	proof := authenticate(keys.accept[:], nonce, b[start:])
	b = append(b, proof[:]...)
	var plain [5]byte
	putUint24(plain[:], uint32(a.server))
	be.PutUint16(plain[3:], a.datagram)
	return d.aead.Seal(b, d.number(0), plain[:], b[start:])
}

func (a *accept) parse(b []byte) bool {
	if len(b) != acceptSize || b[0] != kindAccept || b[1] != wireVersion {
		return false
	}
	a.client = identifier(getUint24(b[2:]))
	copy(a.serverNonce[:], b[5:])
	copy(a.share[:], b[5+nonceSize:])
	a.sealed = b
	return true
}

func (a *accept) proved(keys *handshakeKeys, nonce []byte) bool {
	want := authenticate(keys.accept[:], nonce, a.sealed[:acceptProved])
	return hmac.Equal(want[:], a.sealed[acceptProved:acceptClear])
}

// open reads the sealed part once the keys are known.
func (a *accept) open(d *direction) bool {
	plain, err := d.aead.Open(nil, d.number(0), a.sealed[acceptClear:], a.sealed[:acceptClear])
	if err != nil || len(plain) != 5 {
		return false
	}
	a.server = identifier(getUint24(plain))
	a.datagram = be.Uint16(plain[3:])
	return a.datagram >= minDatagram && a.server>>identifierBits == 0
}

// refusal is proved with the token's secret where the server could read the
// token. Where it could not, the proof is zeros, and the client takes it as a hint only.
type refusal struct {
	nonce  [nonceSize]byte
	reason Reason
	proof  [proofSize]byte
	signed []byte
}

func (r *refusal) append(b []byte, keys *handshakeKeys) []byte {
	start := len(b)
	b = append(b, kindRefusal, wireVersion)
	b = append(b, r.nonce[:]...)
	b = append(b, byte(r.reason))
	var proof [proofSize]byte
	if keys != nil {
		proof = authenticate(keys.refusal[:], b[start:])
	}
	return append(b, proof[:]...)
}

func (r *refusal) parse(b []byte) bool {
	if len(b) != refusalSize || b[0] != kindRefusal || b[1] != wireVersion {
		return false
	}
	copy(r.nonce[:], b[2:])
	r.reason = Reason(b[2+nonceSize])
	copy(r.proof[:], b[refusalSize-proofSize:])
	r.signed = b[:refusalSize-proofSize]
	return r.reason != ReasonNone
}

func (r *refusal) proved(keys *handshakeKeys) bool {
	want := authenticate(keys.refusal[:], r.signed)
	return hmac.Equal(want[:], r.proof[:])
}
