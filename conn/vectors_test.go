package conn

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
)

// rising is randomness for the vectors: 0, 1, 2, ...
type rising byte

func (r *rising) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(*r)
		*r++
	}
	return len(b), nil
}

// vectors computes what docs/protocol.md prints for those who write a second
// implementation.
func vectors(t *testing.T) (names []string, values map[string]string) {
	values = map[string]string{}
	add := func(name string, b []byte) {
		names = append(names, name)
		values[name] = hex.EncodeToString(b)
	}
	fill := func(b []byte, from byte) {
		for i := range b {
			b[i] = from + byte(i)
		}
	}
	var key token.Key
	fill(key[:], 0x80)
	var r rising
	tok, err := token.Issue(key, token.Grant{
		Protocol: token.ProtocolID("vectors"),
		Client:   42,
		Expires:  1_800_000_000,
		Issued:   1_799_999_940,
		Until:    1_800_003_600,
		Servers: []netip.AddrPort{
			netip.MustParseAddrPort("192.0.2.1:4000"),
			netip.MustParseAddrPort("[2001:db8::1]:4001")},
		UserData: []byte("ada"),
	}, &r)
	if err != nil {
		t.Fatal(err)
	}
	add("protocol", be.AppendUint64(nil, tok.Protocol))
	add("sealed", tok.Sealed)
	add("token", tok.Append(nil))

	hs := deriveHandshake(&tok.Secret)
	add("proof-key", hs.proof[:])
	add("refusal-key", hs.refusal[:])
	add("accept-key", hs.accept[:])

	q := request{protocol: tok.Protocol, version: 7}
	fill(q.nonce[:], 0xa0)
	add("request", q.append(nil))
	var random [shareSize]byte
	fill(random[:], 0xd0)
	clientKey, clientShare := newShare(&random)
	fill(random[:], 0x50)
	serverKey, serverShare := newShare(&random)
	shared, _ := agree(clientKey, &serverShare)
	if same, ok := agree(serverKey, &clientShare); !ok || same != shared {
		t.Fatal("no agreement")
	}
	p := response{request: q, client: 0x12345, datagram: 1200, share: clientShare,
		sealed: tok.Sealed}
	fill(p.cookie[:], 0xb0)
	add("response", p.append(nil, &hs))
	no := refusal{nonce: q.nonce, reason: ReasonFull}
	add("refusal", no.append(nil, &hs))

	tr := transcript{
		protocol: tok.Protocol, version: 7, clientNonce: q.nonce, client: 0x12345,
		sealedDigest: sha256.Sum256(tok.Sealed), clientShare: clientShare,
		serverShare: serverShare}
	fill(tr.serverNonce[:], 0xc0)
	ch := deriveSession(&tok.Secret, &shared, &tr)
	add("shared", shared[:])
	add("session", ch[:])
	key1, iv := ch.material()
	add("key", key1)
	add("iv", iv)
	s, next := ch.keys(), ch.next()
	add("next-session", next[:])

	a := accept{client: 0x12345, serverNonce: tr.serverNonce, share: serverShare, server: 0x06789,
		datagram: 1200}
	add("accept", a.append(nil, &s.toClient, &hs, q.nonce[:]))

	// The client's first packet: no acknowledgement, "hi" on channel 0, unreliable.
	b := make([]byte, dataHeader, 64)
	putHeader(b, ackNone, 0, 0x06789, 1)
	add("data-1",
		s.toServer.aead.Seal(b, s.toServer.number(1), []byte{frameUnreliable << 4, 'h', 'i'}, b))
	// The server's packet 2: acknowledges 1 after 10 ms, a ping, and then "hello" on
	// channel 2, ordered, as its message 0.
	b = make([]byte, dataHeader, 64)
	putHeader(b, ackClean, 0, 0x12345, 2)
	plain := []byte{
		0, 1, packDelay(10_000), frameLength | frameControl<<4 | controlPing, 0, frameOrdered<<4 |
			2, 0, 0}
	add("data-2", s.toClient.aead.Seal(b, s.toClient.number(2), append(plain, "hello"...), b))
	// The client's packet 3, with the keys of the next generation: a ping.
	n := next.keys()
	b = make([]byte, dataHeader, 64)
	putHeader(b, ackNone, keyPhase, 0x06789, 3)
	add("data-3", n.toServer.aead.Seal(b, n.toServer.number(3), []byte{frameControl << 4}, b))
	return names, values
}

// TestVectors: the protocol's specification shows what the code does.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```vectors\n")
	if !ok {
		t.Fatal("docs/protocol.md has no block of vectors")
	}
	block, _, _ = strings.Cut(block, "```")
	got := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		name, value, _ := strings.Cut(line, " ")
		got[name] = strings.ReplaceAll(value, " ", "")
	}
	names, values := vectors(t)
	for _, n := range names {
		if got[n] != values[n] {
			t.Errorf("docs/protocol.md is out of date; it should say\n%s %s", n, values[n])
		}
	}
	if len(got) != len(names) {
		t.Errorf("%d vectors in docs/protocol.md, %d here", len(got), len(names))
	}
}
