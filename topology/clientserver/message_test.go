package clientserver

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// TestMessagesComeBack: whatever is written is read again, and what is read is written to the same bytes.
func TestMessagesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message{
			kind:    messageKind(rapid.IntRange(1, int(msgKinds)-1).Draw(t, "kind")),
			version: rapid.Uint64().Draw(t, "version"), player: world.Player(rapid.Uint16().Draw(t, "player")), client: rapid.Uint64().Draw(t, "client"),
			on: rapid.Bool().Draw(t, "on"), interval: rapid.Byte().Draw(t, "interval"), epoch: rapid.Uint32().Draw(t, "epoch"),
			seed: rapid.Uint64().Draw(t, "seed"), size: rapid.Uint32().Draw(t, "size"), start: rapid.Uint64().Draw(t, "start"), tick: world.Tick(rapid.Uint64().Draw(t, "tick")),
			name: rapid.String().Draw(t, "name"), text: rapid.String().Draw(t, "text"),
		}
		for range rapid.IntRange(0, maxPlaces+2).Draw(t, "places") {
			addr := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "addr")))
			if rapid.Bool().Draw(t, "long") {
				addr = netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "addr")))
			}
			port := uint16(rapid.IntRange(1, 65535).Draw(t, "port"))
			m.places = append(m.places, Place{Addr: netip.AddrPortFrom(addr, port), Name: rapid.String().Draw(t, "place"), Load: rapid.Byte().Draw(t, "load")})
		}
		copy(m.data[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "data"))
		b := m.append(nil)
		var back message
		if err := back.parse(b); err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		if again := back.append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x was read, %x written", b, again)
		}
		for i, p := range back.places {
			if was := m.places[i]; p.Addr != netip.AddrPortFrom(was.Addr.Addr().Unmap(), was.Addr.Port()) || p.Load != was.Load || p.Name != clip(was.Name, maxName) {
				t.Fatalf("place %+v became %+v", was, p)
			}
		}
		if most := map[messageKind]int{msgMove: 1, msgPlaces: maxPlaces}[m.kind]; len(back.places) != min(len(m.places), most) {
			t.Fatalf("%d places became %d", len(m.places), len(back.places))
		}
		if back.name != "" && back.name != clip(m.name, maxLabel) && back.name != clip(m.name, maxName) {
			t.Fatalf("name %q became %q", m.name, back.name)
		}
	})
}

func TestTextsAreMadeShowable(t *testing.T) {
	for in, want := range map[string]string{
		"ada":                  "ada",
		"a\x1b[2Jb":            "a [2Jb",
		"a\nb":                 "a b",
		"\xff\xfe":             "  ",
		"ünï":                  "ünï",
		"12345678":             "12345678",
		"1234567ü":             "1234567",
		"x\u202ey":             "x y", // would turn the writing around
		"\u200binvisible":      " invisib",
		"123456789":            "12345678",
		strings.Repeat("ü", 9): "üüüü",
	} {
		if got := clip(in, 8); got != want || !showable([]byte(got)) {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// FuzzMessage: nothing makes the decoder panic, and what it accepts it writes again to the same bytes.
func FuzzMessage(f *testing.F) {
	for k := messageKind(1); k < msgKinds; k++ {
		m := message{kind: k, name: "ada", text: "hello", epoch: 3, places: []Place{{Addr: netip.MustParseAddrPort("10.0.0.1:4000"), Name: "oslo", Load: 40}, {Addr: netip.MustParseAddrPort("[fd00::1]:4000")}}}
		f.Add(m.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m message
		if m.parse(b) != nil {
			return
		}
		if again := m.append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x was read, %x written", b, again)
		}
	})
}
