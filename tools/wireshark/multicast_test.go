package wireshark

import (
	"encoding/hex"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// TestMulticast: what is in clear of each kind of datagram between mirrors is shown, for the
// vectors of the protocol.
func TestMulticast(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```crimp-vectors\n")
	block, _, _ = strings.Cut(block, "```")
	vectors := map[string]string{}
	for line := range strings.Lines(block) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		vectors[name] = value
	}
	want := []struct {
		name     string
		kind     int
		number   int
		receiver int
	}{
		{"data", 0x40, 2, -1}, {"data-signed", 0x40, 2, -1}, {"control", 0x41, 1, -1},
		{"parity", 0x42, 1, -1}, {"lossy", 0x45, 1, -1}, {"whisper", 0x44, 1, 3},
		{"lines", 0x47, 2, 3}, {"carry", 0x48, 3, 3}, {"digests", 0x49, 1, -1},
		{"beacon", 0x4a, 1, -1},
		{"repair", 0x43, 2, -1},
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
	for i, p := range dissect(t, tape, nil, "-d", "udp.port==4000,coeval_multicast") {
		w := want[i]
		if len(p.all("coeval_multicast")) != 1 || len(p.all("_ws.malformed")) > 0 {
			t.Fatalf("%s is not understood", w.name)
		}
		number := func(name string) int { return p.number("coeval.multicast." + name) }
		if w.name == "repair" {
			if len(p.shows("coeval.multicast.kind")) != 2 || number("repairer") != 3 {
				t.Errorf("%s: %v, by %d", w.name, p.shows("coeval.multicast.kind"),
					number("repairer"))
			}
		} else if number("kind") != w.kind {
			t.Errorf("%s: kind %d", w.name, number("kind"))
		}
		if number("number") != w.number || number("member") != 1 || number("group") != 8 ||
			number("receiver") != w.receiver || len(p.data(t, "coeval.multicast.seal")) != 1 {
			t.Errorf("%s: number %d of %d to %d in %d", w.name, number("number"), number("member"),
				number("receiver"), number("group"))
		}
	}
}
