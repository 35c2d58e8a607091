package clientserver

import (
	"bytes"
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
		copy(m.data[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "data"))
		b := m.append(nil)
		var back message
		if err := back.parse(b); err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		if again := back.append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x was read, %x written", b, again)
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
		m := message{kind: k, name: "ada", text: "hello", epoch: 3}
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
