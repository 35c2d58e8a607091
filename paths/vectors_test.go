package paths

import (
	"encoding/hex"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// vectors computes what docs/protocol.md prints for those who write a second implementation.
func vectors(t *testing.T) (names []string, values map[string]string) {
	t.Helper()
	var key [32]byte
	for i := range key {
		key[i] = byte(i)
	}
	p := New(Options{Self: 1})
	p.SetRelay(0, true)
	for id := member.ID(2); id < 5; id++ {
		p.Add(0, id, key, nil)
	}
	values = make(map[string]string)
	add := func(name string, b []byte) {
		names = append(names, name)
		values[name] = hex.EncodeToString(b)
	}
	q := p.byID[2]
	add("ask", p.probe(q, head{kind: kindProbe, from: 1, to: 2, number: 7}))
	add("deaf", p.probe(q, head{kind: kindProbe, second: flagDeaf, from: 1, to: 2, number: 7}))

	two := New(Options{Self: 2})
	two.Add(0, 1, key, nil)
	ask := p.probe(q, head{kind: kindProbe, from: 1, to: 2, number: 7})
	from := netip.MustParseAddrPort("192.0.2.1:4000")
	two.Receive(0, []link.Datagram{{Addr: from, Data: ask}})
	out := two.Send(0, nil)
	if len(out) != 1 || out[0].Addr != from {
		t.Fatalf("answers: %v", out)
	}
	add("answer", out[0].Data)

	p.number = 7
	carry := p.wrap(q, 1, 3, maxCarriers, []byte("hi"))
	add("carry", carry)
	add("relayed", Carried{2, carry}.Append(nil))

	x := p.learn(q, source{kind: Direct, addr: from})
	p.answered(x, 0)
	if err := p.TakeVector(0, 2, []byte{0, 3, 1, 0, 3}); err != nil {
		t.Fatal(err)
	}
	p.renewTable()
	p.doubt(p.byID[3].over)
	v, _ := p.Vector(0, nil)
	add("vector", v)
	return names, values
}

// TestVectors: the protocol's specification shows what the code does.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```paths-vectors\n")
	if !ok {
		t.Fatal("docs/protocol.md has no block of vectors")
	}
	block, _, _ = strings.Cut(block, "```")
	got := map[string]string{}
	for line := range strings.Lines(block) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[name] = value
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
