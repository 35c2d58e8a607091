package wire

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// TestMessagesComeBack: whatever is written is read again, and what is read is written to the same
// bytes.
func TestMessagesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Message{
			Kind:    Kind(rapid.IntRange(1, int(kinds)-1).Draw(t, "kind")),
			Version: rapid.Uint64().Draw(t, "version"),
			Player:  world.Player(rapid.Uint16().Draw(t, "player")),
			Client:  rapid.Uint64().Draw(t, "client"),
			On:      rapid.Bool().Draw(t, "on"), Interval: rapid.Byte().Draw(t, "interval"),
			Epoch: rapid.Uint32().Draw(t, "epoch"),
			Seed:  rapid.Uint64().Draw(t, "seed"), Size: rapid.Uint32().Draw(t, "size"),
			Start: rapid.Uint64().Draw(t, "start"),
			Tick:  world.Tick(rapid.Uint64().Draw(t, "tick")),
			Name:  rapid.String().Draw(t, "name"), Text: rapid.String().Draw(t, "text"),
		}
		for range rapid.IntRange(0, MaxServers+2).Draw(t, "servers") {
			addr := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "addr")))
			if rapid.Bool().Draw(t, "long") {
				addr = netip.AddrFrom16(
					[16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "addr")))
			}
			port := uint16(rapid.IntRange(1, 65535).Draw(t, "port"))
			m.Servers = append(m.Servers,
				Server{Addr: netip.AddrPortFrom(addr, port), Name: rapid.String().Draw(t, "server"),
					Load: rapid.Byte().Draw(t, "load")})
		}
		for range rapid.IntRange(0, MaxRoster+2).Draw(t, "names") {
			m.Names = append(m.Names, Named{
				world.Player(rapid.Uint16().Draw(t, "who")), rapid.String().Draw(t, "called")})
		}
		copy(m.Data[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "data"))
		b := m.Append(nil)
		var back Message
		if err := back.Parse(b); err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		if again := back.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x was read, %x written", b, again)
		}
		for i, p := range back.Servers {
			if was := m.Servers[i]; p.Addr != netip.AddrPortFrom(was.Addr.Addr().Unmap(),
				was.Addr.Port()) || p.Load != was.Load || p.Name != Clip(was.Name, MaxName) {
				t.Fatalf("server %+v became %+v", was, p)
			}
		}
		if most := map[Kind]int{
			Move: 1, Servers: MaxServers}[m.Kind]; len(back.Servers) != min(len(m.Servers), most) {
			t.Fatalf("%d servers became %d", len(m.Servers), len(back.Servers))
		}
		for i, n := range back.Names {
			if was := m.Names[i]; n != (Named{was.Player, Clip(was.Name, MaxName)}) {
				t.Fatalf("%+v became %+v", was, n)
			}
		}
		if m.Kind == Roster && len(back.Names) != min(len(m.Names), MaxRoster) {
			t.Fatalf("%d names became %d", len(m.Names), len(back.Names))
		}
		if back.Name != "" && back.Name != Clip(m.Name, MaxLabel) &&
			back.Name != Clip(m.Name, MaxName) {
			t.Fatalf("name %q became %q", m.Name, back.Name)
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
		if got := Clip(in, 8); got != want || !Showable([]byte(got)) {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// FuzzMessage: nothing makes the decoder panic, and what it accepts it writes again to the same
// bytes.
func FuzzMessage(f *testing.F) {
	for k := Kind(1); k < kinds; k++ {
		m := Message{
			Kind: k, Name: "ada", Text: "hello", Epoch: 3, Servers: []Server{
				{Addr: netip.MustParseAddrPort("10.0.0.1:4000"), Name: "oslo", Load: 40}, {
					Addr: netip.MustParseAddrPort("[fd00::1]:4000")}},
			Names: []Named{{3, "ada"}, {4, ""}}}
		f.Add(m.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		if m.Parse(b) != nil {
			return
		}
		if again := m.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x was read, %x written", b, again)
		}
	})
}
