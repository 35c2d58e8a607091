package token_test

import (
	"crypto/rand"
	"fmt"
	"net/netip"

	"github.com/coeval-dev/coeval/conn/token"
)

// A backend issues a token for a player; the server that it names opens it.
func Example() {
	key, err := token.NewKey(rand.Reader) // once, for the backend and its servers
	if err != nil {
		panic(err)
	}
	tok, err := token.Issue(key, token.Grant{
		Protocol: token.ProtocolID("tanks"),
		Client:   42,
		Expires:  1_800_000_000,
		Servers:  []netip.AddrPort{netip.MustParseAddrPort("203.0.113.7:4000")},
		UserData: []byte("name=ada"),
	}, rand.Reader)
	if err != nil {
		panic(err)
	}
	text := tok.Text() // goes to the player's client over https

	client, err := token.ParseText(text)
	if err != nil {
		panic(err)
	}
	grant, err := token.Open(key, client.Sealed) // at the server
	if err != nil {
		panic(err)
	}
	fmt.Println(grant.Client, string(grant.UserData))
	// Output: 42 name=ada
}
