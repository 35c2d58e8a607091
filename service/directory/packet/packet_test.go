package packet

import (
	"bytes"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
)

// A client asks for servers of its game with room; the answer has at most as many bytes.
func ExampleQuery() {
	q := Query{Nonce: 7, Protocol: 42, Room: true}.Append(nil, 1200)
	asked, ok := ParseQuery(q)
	fmt.Println(len(q), asked.Protocol, asked.Room, ok)
	// Output: 1200 42 true true
}

// FuzzDatagrams: what parses is written again to the same bytes, and no answer is longer than its
// query.
func FuzzDatagrams(f *testing.F) {
	f.Add(Challenge{Nonce: [16]byte{1}}.AppendChallenge(nil))
	f.Add(Challenge{ID: [16]byte{2}}.AppendProof(nil))
	f.Add(Query{Nonce: 1, Region: "eu"}.Append(nil, 64))
	one := Server{Mode: 1, Players: 3, Capacity: 8, Name: "a", Places: []netip.AddrPort{
		netip.MustParseAddrPort("10.0.0.1:4000"), netip.MustParseAddrPort("[2001:db8::1]:4000")}}
	f.Add((&Answer{Nonce: 9, Total: 2, Servers: []Server{one, one}}).Append(nil, 500))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, ok := ParseChallenge(data); ok {
			if !bytes.Equal(c.AppendChallenge(nil), data) || len(c.AppendProof(nil)) > len(data) {
				t.Fatalf("%x", data)
			}
		}
		if c, ok := ParseProof(data); ok && !bytes.Equal(c.AppendProof(nil), data) {
			t.Fatalf("%x", data)
		}
		if q, ok := ParseQuery(data); ok {
			if !bytes.Equal(q.Append(nil, len(data)), data) {
				t.Fatalf("%x", data)
			}
			a := Answer{Nonce: q.Nonce}
			for range 100 {
				a.Servers = append(a.Servers, one)
			}
			if len(a.Append(nil, len(data))) > len(data) {
				t.Fatalf("an answer to %d bytes is longer", len(data))
			}
		}
		if a, ok := ParseAnswer(data); ok {
			again, ok := ParseAnswer(a.Append(nil, len(data)))
			if !ok || !reflect.DeepEqual(a, again) {
				t.Fatalf("%+v is read again as %+v", a, again)
			}
		}
	})
}
