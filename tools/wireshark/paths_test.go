package wireshark

import (
	"encoding/hex"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// TestPaths: what players' machines send to find paths is shown, for the vectors of the protocol.
func TestPaths(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```paths-vectors\n")
	block, _, _ = strings.Cut(block, "```")
	vectors := map[string]string{}
	for line := range strings.Lines(block) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		vectors[name] = value
	}
	want := []struct {
		name                   string
		kind, from, to, number int
		answer, deaf           string
		target                 int
	}{
		{"ask", 0x20, 1, 2, 7, "False", "False", -1},
		{"deaf", 0x20, 1, 2, 7, "False", "True", -1},
		{"answer", 0x20, 2, 1, 7, "True", "False", -1},
		{"carry", 0x21, 1, 2, 8, "", "", 3},
	}
	var tape []taped
	for _, w := range want {
		b, err := hex.DecodeString(vectors[w.name])
		if err != nil || len(b) == 0 {
			t.Fatalf("%s: %q, %v", w.name, vectors[w.name], err)
		}
		tape = append(tape, taped{from: netip.MustParseAddrPort("192.0.2.1:4000"),
			to: netip.MustParseAddrPort("192.0.2.2:4000"), data: b})
	}
	for i, p := range dissect(t, tape, nil, "-d", "udp.port==4000,coeval") {
		w := want[i]
		if len(p.all("coeval_paths")) != 1 || len(p.all("_ws.malformed")) > 0 {
			t.Fatalf("%s is not understood", w.name)
		}
		number := func(name string) int { return p.number("coeval.paths." + name) }
		flag := func(name string) string {
			return strings.NewReplacer("0", "False", "1", "True").Replace(
				p.one("coeval.paths." + name))
		}
		if number("kind") != w.kind || number("from") != w.from || number("to") != w.to ||
			number("number") != w.number || number("target") != w.target ||
			flag("answer") != w.answer || flag("deaf") != w.deaf ||
			len(p.data(t, "coeval.paths.proof")) != 1 {
			t.Errorf("%s: %d %d of %d to %d for %d, answer %q, deaf %q", w.name, number("kind"),
				number("number"), number("from"), number("to"), number("target"), flag("answer"),
				flag("deaf"))
		}
	}
}
