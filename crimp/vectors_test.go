package crimp

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/route"
)

// vectors computes what docs/protocol.md prints for those who write a second
// implementation: members 1 and 3 in epoch 258 of a group, and what 1 sends.
func vectors(t *testing.T) (names []string, values map[string]string) {
	values = map[string]string{}
	add := func(name string, b []byte) {
		names = append(names, name)
		values[name] = hex.EncodeToString(b)
	}
	r := Roster{
		Group: 0x0102030405060708, Epoch: 258, Gone: []Departure{
			{ID: 2, Last: 9, Reason: ReasonLeft}}}
	for i := range r.Key {
		r.Key[i] = byte(0xa0 + i)
	}
	var ids [2]*Identity
	for i := range ids {
		var seed [32]byte
		for k := range seed {
			seed[k] = byte(k + 32*i)
		}
		var err error
		if ids[i], err = NewIdentity(seed); err != nil {
			t.Fatal(err)
		}
		card := ids[i].Card(netip.MustParseAddrPort("192.0.2.1:4000"), uint8(i))
		add([]string{"card-1", "card-3"}[i], written(&card))
		r.Members = append(r.Members, Member{ID: member.ID(1 + 2*i), Card: card})
	}
	add("roster", written(&r))
	shared, err := ids[0].shared(&r.Members[1].Card)
	if err != nil {
		t.Fatal(err)
	}
	add("shared", shared)
	group := func(i int, proof Proof) *Group {
		g, err := NewGroup(Options{Seed: testSeed(1, 1), Identity: ids[i], Multicast: testGroupAddr,
			Forward: Forward{Mode: ForwardNone}})
		if err != nil {
			t.Fatal(err)
		}
		r := r
		r.Proof = proof
		if err := g.SetRoster(time.Millisecond, r); err != nil {
			t.Fatal(err)
		}
		return g
	}
	packet := func(name string, g *Group, kind byte, number uint32, body []byte) []byte {
		b := append(make([]byte, g.sending.bodyAt, 512), body...)
		b = g.seal(g.sending, &header{kind: kind, number: number}, b)
		add(name, b)
		return b
	}
	g := group(0, Tags)
	// at 1 ms: "two", which carries "one"
	data := []byte{0, 0, 0x03, 0xe8, 1, 3, 'o', 'n', 'e', 't', 'w', 'o'}
	sent := packet("data", g, kindData, 2, data)
	packet("data-signed", group(0, Signatures), kindData, 2, data)
	c := controlBody{
		clock: 1000, last: 2, period: 300, requests: []request{{3, 5, 1, 2}}, reports: []report{
			{3, 7, 25000, 13}}}
	packet("control", g, kindControl, 1, c.append(nil))
	packet("parity", g, kindParity, 1,
		append([]byte{0, 0, 0, 2, 1<<3 | 1, 0}, append([]byte{0, byte(len(sent))}, sent...)...))
	add("repair", append([]byte{kindRepair, 0, 3}, sent...))
	packet("lossy", g, kindLossy, 1, []byte{0, 0, 0x03, 0xe8, 'h', 'i'})
	if err := g.Whisper(time.Millisecond, 3, []byte("psst")); err != nil {
		t.Fatal(err)
	}
	for _, o := range g.ready {
		if o.purpose == SentWhisper {
			add("whisper", o.data)
		}
	}
	moreVectors(t, g, sent, values["whisper"], add,
		func(name string, b []byte) { packet(name, g, kindDigest, 1, b) })
	r.Gone = []Departure{
		Agree(2, ReasonSilent,
			[]Cut{{Member: 2, Seq: 4, Also: []Sequence{6, 9}}, {Member: 2, Seq: 5}})}
	add("departed", written(&r)[len(written(&r))-19:])
	return names, values
}

// moreVectors has what members tell each other of lines, carry for each other, and sign.
func moreVectors(t *testing.T, g *Group, data []byte, whisper string,
	add, digests func(name string, b []byte)) {
	g.lines.keys = map[member.ID]*lineKeys{}
	c := g.whispers.known[3]
	state := lineState{State: route.State{Member: 1, Number: 5,
		Hears: []route.Hearing{{Member: 3, Up: true, Age: 2}}}}
	sum := stateDigest(&state.State)
	state.tags = []stateTag{{3, lineTag(g.lineKeyed(3).to, &sum)}}
	to := bits.CursorTo(nil)
	(&lineBody{flags: flagCast, own: state}).fields(&to)
	inner, err := hex.DecodeString(whisper)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		name string
		kind byte
		body []byte
	}{{"lines", kindLine, to.Data()}, {"carry", kindCarry, g.carryBody(1, 3, maxHops, inner)}} {
		b, err := g.sealWhisper(w.kind, 3, c, w.body)
		if err != nil {
			t.Fatal(err)
		}
		add(w.name, b)
	}

	h, _ := readHeader(data)
	plain, ok := g.open(g.sending, &h, bytes.Clone(data))
	if !ok {
		t.Fatal("data cannot be opened")
	}
	g.self.base, g.self.next = 2, 3
	copy(g.self.sum(2)[:], g.sum(data[:headerSize], plain))
	g.signDigest()
	d := g.self.newest()
	to = bits.CursorTo(nil)
	(&digestBody{whole: []signedDigest{*d}, briefs: []brief{{member: 3}, d.brief()}}).fields(&to)
	digests("digests", to.Data())
	b := g.seal(g.sending, &header{kind: kindBeacon, number: 1},
		append(make([]byte, g.sending.bodyAt, 256), 0, 0, 3, 0xe8))
	add("beacon", b)
	other := *d
	other.last++
	other.sign = g.identity.Sign(other.statement(g.group))
	add("evidence", (&Evidence{a: *d, b: other}).Append(nil))
}

func TestVectors(t *testing.T) {
	names, values := vectors(t)
	page, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```crimp-vectors\n")
	block, _, ok := strings.Cut(block, "```")
	var want bytes.Buffer
	for _, n := range names {
		want.WriteString(n + " " + values[n] + "\n")
	}
	if !ok || block != want.String() {
		t.Errorf("docs/protocol.md should say\n%s", &want)
	}
}
