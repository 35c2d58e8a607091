package conn

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// What parses must be written again to the same bytes: so no two encodings mean the
// same, and no decoder reads past its end.

func FuzzRequest(f *testing.F) {
	f.Add((&request{protocol: 1, version: 2}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r request
		if r.parse(b) && !bytes.Equal(r.append(nil), b) {
			t.Fatal("not the same again")
		}
	})
}

func FuzzChallenge(f *testing.F) {
	f.Add(append([]byte{kindChallenge, wireVersion}, make([]byte, challengeSize-2)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c challenge
		if c.parse(b) {
			again := append([]byte{kindChallenge, wireVersion}, c.nonce[:]...)
			if again = append(again, c.cookie[:]...); !bytes.Equal(again, b) {
				t.Fatal("not the same again")
			}
		}
	})
}

func FuzzResponse(f *testing.F) {
	var keys handshakeKeys
	f.Add((&response{client: 5, datagram: 1200, sealed: make([]byte, token.SealedMin)}).append(nil,
		&keys))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r response
		if !r.parse(b) {
			return
		}
		again := r.append(nil, &keys)
		if !bytes.Equal(again[:len(again)-proofSize], b[:len(b)-proofSize]) {
			t.Fatal("not the same again")
		}
		if r.proved(&keys) != bytes.Equal(again, b) {
			t.Fatal("proof and bytes disagree")
		}
	})
}

func FuzzAccept(f *testing.F) {
	d := newSession(make([]byte, keySize), make([]byte, ivSize)).toClient
	var keys handshakeKeys
	nonce := make([]byte, nonceSize)
	good := accept{client: 5, server: 6, datagram: 1200}
	f.Add(good.append(nil, &d, &keys, nonce))
	f.Fuzz(func(t *testing.T, b []byte) {
		var a accept
		if !a.parse(b) {
			return
		}
		proved := a.proved(&keys, nonce)
		if a.open(&d) && proved != bytes.Equal(a.append(nil, &d, &keys, nonce), b) {
			t.Fatal("proof and bytes disagree")
		}
	})
}

func FuzzRefusal(f *testing.F) {
	var keys handshakeKeys
	f.Add((&refusal{reason: ReasonFull}).append(nil, &keys))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r refusal
		if r.parse(b) && r.proved(&keys) && !bytes.Equal(r.append(nil, &keys), b) {
			t.Fatal("not the same again")
		}
	})
}

func FuzzAck(f *testing.F) {
	f.Add(byte(1), []byte{0, 9, 4})
	f.Add(byte(7), make([]byte, 35))
	f.Fuzz(func(t *testing.T, form byte, b []byte) {
		a, _, rest, ok := parseAck(int(form%ackForms), b)
		if !ok {
			return
		}
		if a.form != ackNone && len(rest) != len(b)-ackFixed-ackBytes[a.form] {
			t.Fatal("wrong length")
		}
		for back := range uint32(400) {
			a.covers(back)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte{frameLength | frameOrdered<<4 | 2, 3, 0, 1, 'a', 'b', 'c', frameControl})
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			head, body, rest, ok := readFrame(b)
			if !ok {
				return
			}
			if len(body) < prefixSize(head) || len(rest) >= len(b) {
				t.Fatal("a frame shorter than its prefix, or none at all")
			}
			b = rest
		}
	})
}

// FuzzDataPacket gives the server whatever a client with the keys could send: any
// acknowledgement, any frames.
func FuzzDataPacket(f *testing.F) {
	f.Add(byte(0), []byte{frameUnreliable << 4, 'x'})
	f.Add(byte(1), []byte{0, 1, 0, frameOrdered<<4 | 2, 0, 0, 'x'})
	f.Add(byte(0), []byte{frameFragment<<4 | 2, 0, 0, 0, 5, 'x'})
	f.Add(byte(0), []byte{frameBulk<<4 | 1, 0, 0, 0, 0, 0, 0, 0, 9, 4, 104, 0, 0, 0, 1, 'x'})
	f.Add(byte(2), []byte{0, 1, 0, 0xff, frameControl<<4 | controlClose, 11, 'b', 'y', 'e'})
	f.Fuzz(func(t *testing.T, form byte, plain []byte) {
		if len(plain) > 1100 {
			return
		}
		h := newHall(t, 2)
		evil := h.clients[0].Conn()
		for range 3 {
			b := make([]byte, dataHeader, defaultDatagram)
			putHeader(b, int(form%ackForms), 0, evil.peer, evil.sent.next)
			b = evil.seal.aead.Seal(b, evil.seal.number(evil.sent.next), plain, b)
			evil.sent.next++
			evil.sent.base = evil.sent.next
			h.in = append(h.in[:0],
				link.Datagram{
					Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, 0}), 4000), Data: b})
			h.serve(func(e *Event) {
				if e.Kind == Message && len(e.Data) > defaultMaxMessage {
					t.Fatal("a message larger than allowed")
				}
			})
			h.fetch()
		}
		if h.server.Find(1) == nil {
			t.Fatal("another connection suffered")
		}
		l := h.server.Ledger()
		if l.Received == 0 {
			t.Fatal("the packet was not received")
		}
	})
}
