package token

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/coeval-dev/coeval/bits"
)

// FuzzParse: what parses can be written again to the same bytes, and nothing makes
// the decoder panic.
func FuzzParse(f *testing.F) {
	var c counter
	key, _ := NewKey(&c)
	tok, err := Issue(key, Grant{Expires: 99, UserData: []byte("x")}, &c)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(tok.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		tok, err := Parse(b)
		if err != nil {
			return
		}
		if again := tok.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x was read, %x written", b, again)
		}
	})
}

// FuzzOpen seals what it is given with the right key, so that the fuzzer gets past
// the seal and at the decoder behind it.
func FuzzOpen(f *testing.F) {
	var c counter
	key, _ := NewKey(&c)
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, sealed, data []byte) {
		// What only a holder of the key can have written is read and written alike.
		var read Grant
		in, out := bits.CursorOver(data), bits.CursorTo(nil)
		if read.fields(&in); in.Done() {
			read.fields(&out)
			if !bytes.Equal(out.Data(), data) || read.Issued < 0 || read.Until < 0 ||
				read.Resumed && read.Issued == 0 {
				t.Fatalf("%x was read, %x written: %+v", data, out.Data(), read)
			}
		}

		if _, err := Open(key, sealed); err == nil {
			t.Fatal("opened without the key")
		}
		g := Grant{Expires: 1, UserData: data}
		if len(data) > MaxUserData {
			g.UserData = data[:MaxUserData]
		}
		tok, err := Issue(key, g, &c)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Open(key, tok.Sealed)
		if err != nil || !bytes.Equal(back.UserData, g.UserData) {
			t.Fatal("does not open", err)
		}
	})
}

// FuzzServers: the list of addresses is the only part of a token with a shape of its own.
func FuzzServers(f *testing.F) {
	f.Add([]byte{2, 4, 10, 0, 0, 1, 0, 80, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,
		81})
	f.Fuzz(func(t *testing.T, b []byte) {
		var list []netip.AddrPort
		c, w := bits.CursorOver(b), bits.CursorTo(nil)
		if servers(&c, &list); !c.OK() {
			return
		}
		servers(&w, &list)
		if again := append(w.Data(), c.Data()...); !bytes.Equal(again, b) {
			t.Fatalf("%x was read, %x written", b, again)
		}
	})
}
