package token

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// counter is randomness that is not random.
type counter byte

func (c *counter) Read(b []byte) (int, error) {
	for i := range b {
		*c++
		b[i] = byte(*c)
	}
	return len(b), nil
}

func drawGrant(t *rapid.T) Grant {
	addr := rapid.Custom(func(t *rapid.T) netip.AddrPort {
		port := uint16(rapid.IntRange(1, 65535).Draw(t, "port"))
		if rapid.Bool().Draw(t, "four") {
			return netip.AddrPortFrom(
				netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4"))), port)
		}
		return netip.AddrPortFrom(
			netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6"))).Unmap(),
			port)
	})
	return Grant{
		Protocol: rapid.Uint64().Draw(t, "protocol"),
		Client:   rapid.Uint64().Draw(t, "client"),
		Expires:  rapid.Int64Range(1, 1<<62).Draw(t, "expires"),
		Servers:  rapid.SliceOfN(addr, 0, MaxServers).Draw(t, "servers"),
		UserData: rapid.SliceOfN(rapid.Byte(), 0, MaxUserData).Draw(t, "data"),
		Resumed:  rapid.Bool().Draw(t, "resumed"),
		Issued:   rapid.Int64Range(1, 1<<40).Draw(t, "issued"),
		Until:    rapid.Int64Range(0, 1<<40).Draw(t, "until"),
	}
}

// TestTicket: whatever a token says, its ticket is for the same player, is good no longer than it
// may be, hands on when the first token was issued, and names the token's servers and the group, or
// nobody if the token does; and so does the ticket of the ticket.
func TestTicket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, group := drawGrant(t), drawGrant(t).Servers
		if rapid.Bool().Draw(t, "unsaid") && !g.Resumed {
			g.Issued = 0
		}
		now, life := rapid.Int64Range(1, 1<<40).Draw(t, "now"), int64(3600)
		most := rapid.Int64Range(1, 1<<20).Draw(t, "most")
		ticket, ok := g.Ticket(now, life, most, group)
		first := g.Issued
		if first == 0 {
			first = now
		}
		end := min(now+life, first+most)
		if g.Until > 0 {
			end = min(end, g.Until)
		}
		if ok != (end > now) || ok && ticket.Expires != end || ticket.Issued != first ||
			ticket.Until != g.Until || !ticket.Resumed || ticket.Client != g.Client {
			t.Fatalf("%v at %d: %v, %v", g, now, ticket, ok)
		}
		if len(ticket.Servers) > MaxServers || (len(ticket.Servers) == 0) != (len(g.Servers) == 0) {
			t.Fatalf("%v with group %v: %v", g.Servers, group, ticket.Servers)
		}
		for _, s := range ticket.Servers {
			if !slices.Contains(g.Servers, s) && !slices.Contains(group, s) {
				t.Fatalf("%v is named, by neither %v nor %v", s, g.Servers, group)
			}
		}
		if !ok {
			return
		}
		var c counter
		if _, err := Issue(Key{1}, ticket, &c); err != nil {
			t.Fatal(err)
		}
		if again, _ := ticket.Ticket(now+1, life, most, nil); again.Issued != first ||
			again.End(most) != ticket.End(most) ||
			!slices.Equal(again.Servers, ticket.Servers) {
			t.Fatalf("%v became %v", ticket, again)
		}
	})
}

func TestIssueAndOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c counter
		key, err := NewKey(&c)
		if err != nil {
			t.Fatal(err)
		}
		g := drawGrant(t)
		tok, err := Issue(key, g, &c)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(tok.Append(nil)); n > MaxSize {
			t.Fatalf("%d bytes, more than MaxSize", n)
		}
		back, err := ParseText(" " + tok.Text() + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(back) != fmt.Sprint(tok) {
			t.Fatalf("read back %v, wrote %v", back, tok)
		}
		got, err := Open(key, back.Sealed)
		if err != nil {
			t.Fatal(err)
		}
		if got.Secret != tok.Secret || got.Secret == [SecretSize]byte{} ||
			got.ID == [IDSize]byte{} {
			t.Fatal("secret and identity are not as they should be")
		}
		g.ID, g.Secret = got.ID, got.Secret
		if fmt.Sprint(got) != fmt.Sprint(g) {
			t.Fatalf("opened %v, sealed %v", got, g)
		}
		if g.Protocol != tok.Protocol || g.Expires != tok.Expires {
			t.Fatal("what stands in clear differs from what is sealed")
		}
	})
}

// TestAltered: no bit of a letter can be changed, and no other key opens it.
func TestAltered(t *testing.T) {
	var c counter
	key, _ := NewKey(&c)
	other, _ := NewKey(&c)
	tok, err := Issue(key, Grant{Expires: 99, UserData: []byte("rank 3")}, &c)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(tok.Sealed) {
		sealed := bytes.Clone(tok.Sealed)
		sealed[bit/8] ^= 1 << (bit % 8)
		if _, err := Open(key, sealed); err == nil {
			t.Fatalf("opened with bit %d flipped", bit)
		}
	}
	for n := range tok.Sealed {
		if _, err := Open(key, tok.Sealed[:n]); err == nil {
			t.Fatalf("opened the first %d bytes", n)
		}
	}
	if _, err := Open(other, tok.Sealed); !errors.Is(err, ErrKeyMismatch) {
		t.Errorf("with another key: %v", err)
	}
	if bytes.Contains(tok.Sealed, []byte("rank")) || bytes.Contains(tok.Sealed, tok.Secret[:]) {
		t.Error("the letter can be read without the key")
	}
}

func TestTwoTokensDiffer(t *testing.T) {
	var c counter
	key, _ := NewKey(&c)
	g := Grant{Expires: 99}
	a, _ := Issue(key, g, &c)
	b, _ := Issue(key, g, &c)
	if a.Secret == b.Secret || bytes.Equal(a.Sealed, b.Sealed) {
		t.Error("two tokens from one grant are the same")
	}
}

func TestGrantsAreChecked(t *testing.T) {
	var c counter
	key, _ := NewKey(&c)
	ok := netip.MustParseAddrPort("10.0.0.1:1")
	for name, g := range map[string]Grant{
		"no expiry":     {},
		"many servers":  {Expires: 1, Servers: make([]netip.AddrPort, MaxServers+1)},
		"much data":     {Expires: 1, UserData: make([]byte, MaxUserData+1)},
		"empty address": {Expires: 1, Servers: []netip.AddrPort{{}}},
		"no port":       {Expires: 1, Servers: []netip.AddrPort{netip.AddrPortFrom(ok.Addr(), 0)}},
		"zone": {
			Expires: 1, Servers: []netip.AddrPort{netip.MustParseAddrPort("[fe80::1%eth0]:1")}},
	} {
		if _, err := Issue(key, g, &c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Issue(key, Grant{Expires: 1}, strings.NewReader("short")); err == nil {
		t.Error("no randomness: no error")
	}
	if _, err := NewKey(strings.NewReader("short")); err == nil {
		t.Error("no randomness for a key: no error")
	}
}

func TestNames(t *testing.T) {
	a, b := netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("10.0.0.1:2")
	for _, tt := range []struct {
		servers, here []netip.AddrPort
		want          bool
	}{
		{nil, []netip.AddrPort{a}, true},
		{[]netip.AddrPort{a}, []netip.AddrPort{a}, true},
		{[]netip.AddrPort{b, a}, []netip.AddrPort{a}, true},
		{[]netip.AddrPort{b}, []netip.AddrPort{a}, false},
	} {
		g := Grant{Servers: tt.servers}
		if g.Names(tt.here) != tt.want {
			t.Errorf("token for %v at %v", tt.servers, tt.here)
		}
	}
}

func TestKeyText(t *testing.T) {
	var c counter
	key, _ := NewKey(&c)
	back, err := ParseKey("\n" + key.Text() + "\n")
	if err != nil || back != key {
		t.Errorf("read back %v", err)
	}
	for _, bad := range []string{
		"", "coeval-key-1:", key.Text()[1:], key.Text() + "00", key.Text()[:20] + "xx" +
			key.Text()[22:]} {
		if _, err := ParseKey(bad); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, verb := range []string{"%v", "%s", "%+v", "%#v"} {
		if s := fmt.Sprintf(verb, key); strings.Contains(s, "010203") ||
			!strings.Contains(s, "hidden") {
			t.Errorf("%s shows the key: %s", verb, s)
		}
	}
}

func TestProtocolID(t *testing.T) {
	if ProtocolID("tanks") == ProtocolID("tank") || ProtocolID("vectors") != 0x1524b019170ebe72 {
		t.Error("names and numbers do not correspond")
	}
}
