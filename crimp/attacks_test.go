package crimp

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// trio is three members that are driven by hand.
func trio(t interface {
	Helper()
	Fatal(args ...any)
}, change func(*Options, *Roster)) (g [3]*Group) {
	t.Helper()
	r := Roster{Group: 77, Epoch: 1, Key: [16]byte{9}}
	var o [3]Options
	for i := range g {
		o[i] = Options{
			Seed: testSeed(1, uint64(i)), Identity: testIdentity(2, uint64(i)),
			Multicast: testGroupAddr}
		if change != nil {
			change(&o[i], &r)
		}
		r.Members = append(r.Members,
			Member{ID: member.ID(i + 1), Card: o[i].Identity.Card(netip.AddrPort{}, 1)})
	}
	for i := range g {
		var err error
		if g[i], err = NewGroup(o[i]); err != nil {
			t.Fatal(err)
		}
		if err := g[i].SetRoster(0, r); err != nil {
			t.Fatal(err)
		}
		g[i].Events()
	}
	return g
}

// pass brings all that one has to send to the others, and returns it.
func pass(now time.Duration, from *Group, to ...*Group) (sent [][]byte) {
	for _, d := range from.Flush(now, nil) {
		sent = append(sent, bytes.Clone(d.Data))
		for _, g := range to {
			g.Receive(now, []link.Datagram{{Data: bytes.Clone(d.Data)}})
		}
	}
	return sent
}

func delivered(g *Group) (list []string) {
	for _, e := range g.Events() {
		if e.Kind == Delivered {
			list = append(list, fmt.Sprintf("%d/%d %s", e.Member, e.Seq, e.Data))
		}
	}
	return list
}

// TestSpeakForAnother: a member that holds the group's key cannot make a packet that
// passes for another's.
func TestSpeakForAnother(t *testing.T) {
	for _, proof := range []Proof{Tags, Signatures} {
		t.Run(proof.String(), func(t *testing.T) {
			g := trio(t, func(o *Options, r *Roster) { r.Proof = proof })
			pass(0, g[0], g[1], g[2])
			evil, e := g[1], g[1].sending
			for _, kind := range []byte{kindData, kindControl} {
				b := make([]byte, e.bodyAt, 256)
				if kind == kindData {
					b = append(b, 0, 0, 0, 1, 0)
					b = append(b, "I am one"...)
				} else {
					b = (&controlBody{last: 5}).append(b)
				}
				// As seal does, but with the name of member 1.
				h := header{
					kind: kind, number: 100, epoch: byte(e.number), group: evil.tag, member: 1}
				h.put(b)
				digest := evil.sum(b[:headerSize], b[e.bodyAt:])
				if proof == Tags {
					for i, at := 0, headerSize; i < 3; i++ {
						if i == 0 {
							continue
						}
						if block := e.sendTag[i]; block != nil {
							var tag [16]byte
							block.Encrypt(tag[:], digest[:16])
							copy(b[at:], tag[:tagSize])
						}
						at += tagSize
					}
				} else {
					copy(b[headerSize:], bytes.Repeat([]byte{7}, signatureSize))
				}
				sealed := e.aead.Seal(b[e.bodyAt:e.bodyAt], evil.crypt.setNonce(&h, e.number),
					b[e.bodyAt:], b[:e.bodyAt])
				before := g[2].stats.Unproven
				g[2].Receive(0, []link.Datagram{{Data: b[:e.bodyAt+len(sealed)]}})
				if g[2].stats.Unproven != before+1 {
					t.Errorf("kind %x was not refused: %+v", kind, g[2].stats)
				}
			}
			if got := delivered(g[2]); got != nil {
				t.Errorf("delivered %v", got)
			}
		})
	}
}

func TestReplayAndDamage(t *testing.T) {
	g := trio(t, nil)
	if _, err := g[0].Send(0, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	sent := pass(0, g[0], g[2])
	if got := delivered(g[2]); len(got) != 1 || got[0] != "1/1 hello" {
		t.Fatalf("delivered %v", got)
	}
	for _, b := range sent {
		g[2].Receive(time.Millisecond, []link.Datagram{{Data: bytes.Clone(b)}})
		repaired := append([]byte{kindRepair, 0, 2}, b...)
		g[2].Receive(time.Millisecond, []link.Datagram{{Data: repaired}})
		// Every single bit is guarded.
		for bit := range len(b) * 8 {
			c := bytes.Clone(b)
			c[bit/8] ^= 1 << (bit % 8)
			before := g[1].stats
			g[1].Receive(time.Millisecond, []link.Datagram{{Data: c}})
			refused := func(s Stats) uint64 {
				return s.Forged + s.Malformed + s.OtherGroup + s.OldKey + s.Strangers + s.TooNew
			}
			if refused(g[1].stats) == refused(before) {
				t.Fatalf("bit %d of a datagram of kind %x can be changed", bit, b[0])
			}
		}
	}
	if got := delivered(g[2]); got != nil {
		t.Errorf("delivered again: %v", got)
	}
	if got := delivered(g[1]); got != nil {
		t.Errorf("delivered though damaged: %v", got)
	}
	// Long after, all of the history is gone, and it is still refused.
	for now := time.Duration(0); now < 5*time.Second; now += 10 * time.Millisecond {
		g[2].Tick(now)
	}
	g[2].Receive(5*time.Second, []link.Datagram{{Data: bytes.Clone(sent[0])}})
	if got := delivered(g[2]); got != nil || g[2].stats.TooOld == 0 {
		t.Errorf("delivered from long ago: %v, %+v", got, g[2].stats)
	}
}

// TestOldKeysAreOld: who has left cannot read what comes after.
func TestOldKeysAreOld(t *testing.T) {
	g := trio(t, nil)
	r := Roster{Group: 77, Epoch: 2, Key: [16]byte{10}}
	for i := range 2 {
		r.Members = append(r.Members,
			Member{ID: member.ID(i + 1), Card: g[i].identity.Card(netip.AddrPort{}, 1)})
	}
	for i := range 2 {
		if err := g[i].SetRoster(0, r); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Second
	if _, err := g[0].Send(now, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	pass(now, g[0], g[1], g[2])
	if got := delivered(g[1]); len(got) != 1 {
		t.Errorf("who stayed was delivered %v", got)
	}
	if got := delivered(g[2]); got != nil || g[2].stats.OldKey == 0 {
		t.Errorf("who left was delivered %v", got)
	}
}

// TestLyingSource: a member that claims to have sent what it has not costs the others
// little, and nobody but itself is affected.
func TestLyingSource(t *testing.T) {
	g := trio(t, nil)
	now := time.Duration(0)
	for i := range 200 {
		c := &controlBody{}
		g[1].self.next = Sequence(1 + i*5_000_000)
		if g[1].self.next > maxSequence {
			break
		}
		g[1].sealControl(c, toAll)
		pass(now, g[1], g[2])
		g[2].Events()
		g[2].Tick(now)
		g[2].Flush(now, nil)
		now += 10 * time.Millisecond
	}
	p := g[2].byID[2]
	if len(p.ring) > 2*ringMost || len(p.losses) > ringMost {
		t.Errorf("a ring of %d and %d losses", len(p.ring), len(p.losses))
	}
	if asked := g[2].stats.Requests; asked > 2000*3 {
		t.Errorf("%d requests", asked)
	}
	if err := g[2].sound(); err != nil {
		t.Error(err)
	}
}

// TestClash: two machines run with one identity and one identifier.
func TestClash(t *testing.T) {
	g := trio(t, nil)
	twin, err := NewGroup(g[1].opt)
	if err != nil {
		t.Fatal(err)
	}
	r := Roster{Group: 77, Epoch: 1, Key: [16]byte{9}}
	for i := range g {
		r.Members = append(r.Members,
			Member{ID: member.ID(i + 1), Card: g[i].identity.Card(netip.AddrPort{}, 1)})
	}
	if err := twin.SetRoster(0, r); err != nil {
		t.Fatal(err)
	}
	if _, err := twin.Send(0, []byte("me too")); err != nil {
		t.Fatal(err)
	}
	pass(0, twin, g[1])
	clash := false
	for _, e := range g[1].Events() {
		clash = clash || e.Kind == Clash
	}
	if !clash || g[1].stats.Clashes == 0 {
		t.Errorf("no clash was seen: %+v", g[1].stats)
	}
}

// TestFakeClash: a member puts the name of another on what it makes itself, with the group's key
// and the one tag that it can make. Nobody believes that there are two with one identity.
func TestFakeClash(t *testing.T) {
	for _, proof := range []Proof{Tags, Signatures} {
		g := trio(t, func(o *Options, r *Roster) { r.Proof = proof })
		victim, evil := g[0], g[1]
		e := evil.sending
		b := append(make([]byte, e.bodyAt, 256), 0, 0, 0, 1, 0, 'x')
		h := header{kind: kindData, number: 1000, epoch: byte(e.number), group: evil.tag, member: 1}
		h.put(b)
		if proof == Tags { // those for members 2 and 3, the first of which it can make
			digest := evil.sum(b[:headerSize], b[e.bodyAt:])
			var tag [16]byte
			victim.sending.sendTag[1].Encrypt(tag[:], digest[:16])
			copy(b[headerSize:], tag[:tagSize])
		}
		sealed := e.aead.Seal(b[e.bodyAt:e.bodyAt], evil.crypt.setNonce(&h, e.number),
			b[e.bodyAt:], b[:e.bodyAt])
		victim.Receive(0, []link.Datagram{{Data: b[:e.bodyAt+len(sealed)]}})
		for _, ev := range victim.Events() {
			if ev.Kind == Clash {
				t.Errorf("%v: a clash is told", proof)
			}
		}
		if victim.stats.Clashes != 0 || victim.stats.Unproven != 1 {
			t.Errorf("%v: %+v", proof, victim.stats)
		}
	}
}

// TestKeysStay: a roster that gives a member another key is refused whole, so that whispers are
// never numbered anew under a key that was used; and numbers go on when a member was forgotten.
func TestKeysStay(t *testing.T) {
	g := trio(t, nil)
	roster := func(epoch uint32) Roster {
		r := Roster{Group: 77, Epoch: epoch, Key: [16]byte{byte(epoch)}}
		for i := range g {
			r.Members = append(r.Members,
				Member{ID: member.ID(i + 1), Card: g[i].identity.Card(netip.AddrPort{}, 1)})
		}
		return r
	}
	whisper := func() (number uint32) {
		if err := g[0].Whisper(0, 2, []byte("psst")); err != nil {
			t.Fatal(err)
		}
		for _, b := range pass(0, g[0]) {
			if b[0] == kindWhisper {
				number = be.Uint32(b[6:])
			}
		}
		return number
	}
	last := whisper()
	for _, change := range []func(*Roster){
		func(r *Roster) { r.Members[1].Sign[0] ^= 1 },
		func(r *Roster) { r.Members[1].Agree[0] ^= 1 },
		func(r *Roster) { r.Members[0].Agree[0] ^= 1 },
	} {
		r := roster(2)
		change(&r)
		if err := g[0].SetRoster(0, r); err == nil {
			t.Error("a roster with another key is put in force")
		}
		if err := g[0].Introduce(77, 1, r.Members[1:]); err == nil && r.Members[0].Agree ==
			roster(2).Members[0].Agree {
			t.Error("a member with another key is introduced")
		}
		if n := whisper(); n <= last || g[0].Epoch() != 1 {
			t.Errorf("number %d after %d, epoch %d", n, last, g[0].Epoch())
		} else {
			last = n
		}
	}
	// So many others that member 2 is forgotten, and comes again.
	second := roster(2).Members[1]
	for i := range maxListeners + 8 {
		other := Member{ID: member.ID(100 + i), Card: second.Card}
		if err := g[0].Introduce(77, 1, []Member{other}); err != nil {
			t.Fatal(err)
		}
	}
	if g[0].whispers.known[2] != nil {
		t.Fatal("member 2 is still known")
	}
	if err := g[0].Introduce(77, 1, []Member{second}); err != nil {
		t.Fatal(err)
	}
	if n := whisper(); n <= last {
		t.Errorf("number %d after %d", n, last)
	}
}

// TestSealKeepsWithinItsMemory: see sealSlack.
func TestSealKeepsWithinItsMemory(t *testing.T) {
	g := trio(t, nil)
	e := g[0].sending
	for n := range 200 {
		size := e.bodyAt + n + sealSize
		memory := bytes.Repeat([]byte{0xaa}, size+64)
		b := g[0].seal(e, &header{kind: kindData, number: uint32(n + 1)},
			memory[:e.bodyAt+n:size+sealSlack])
		if len(b) != size || &b[0] != &memory[0] {
			t.Fatalf("a body of %d gives a datagram of %d, elsewhere", n, len(b))
		}
		if !bytes.Equal(memory[size+sealSlack:], bytes.Repeat([]byte{0xaa}, 64-sealSlack)) {
			t.Fatalf("sealing a body of %d bytes writes beyond its memory", n)
		}
	}
}
