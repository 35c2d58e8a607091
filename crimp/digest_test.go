package crimp

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// ring is some members that are driven by hand, each with an address of its own. What the first
// sends can be changed for each receiver.
type ring struct {
	t      *testing.T
	now    time.Duration
	groups []*Group
	change func(to int, b []byte) [][]byte
	last   []byte // what the second has sent the fourth
	events [][]Event
	got    []map[string]string
}

func newRing(t *testing.T, n int) *ring { return newRingOf(t, n, Tags) }

func newRingOf(t *testing.T, n int, proof Proof) *ring {
	r := &ring{t: t, events: make([][]Event, n)}
	roster := Roster{Group: 77, Epoch: 1, Key: [16]byte{9}, Proof: proof}
	var opts []Options
	for i := range n {
		o := Options{Seed: testSeed(1, uint64(i)), Identity: testIdentity(2, uint64(i)),
			History: 2 * time.Second}
		opts = append(opts, o)
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 1)
		roster.Members = append(roster.Members,
			Member{ID: member.ID(i + 1), Card: o.Identity.Card(at, 0)})
	}
	for i := range n {
		g, err := NewGroup(opts[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := g.SetRoster(0, roster); err != nil {
			t.Fatal(err)
		}
		r.groups = append(r.groups, g)
		r.got = append(r.got, map[string]string{})
	}
	return r
}

// run lets time pass; all but the first send a packet now and then.
func (r *ring) run(d time.Duration, send func(i int) []byte) {
	for end := r.now + d; r.now < end; r.now += 10 * time.Millisecond {
		for i, g := range r.groups {
			g.Tick(r.now)
			if b := send(i); b != nil {
				if _, err := g.Send(r.now, b); err != nil {
					r.t.Fatal(err)
				}
			}
			for _, d := range g.Flush(r.now, nil) {
				to := int(d.Addr.Addr().As4()[3])
				list := [][]byte{bytes.Clone(d.Data)}
				if i == 0 && r.change != nil {
					list = r.change(to, list[0])
				} else if i == 1 && to == 3 && d.Data[0] == kindData {
					r.last = bytes.Clone(d.Data)
				}
				for _, b := range list {
					r.groups[to].Receive(r.now, []link.Datagram{{Data: b}})
				}
			}
		}
		for i, g := range r.groups {
			for _, e := range g.Events() {
				if e.Kind == Delivered {
					r.got[i][fmt.Sprint(e.Member, "/", e.Seq)] = string(e.Data)
				} else {
					e.Data = bytes.Clone(e.Data)
					r.events[i] = append(r.events[i], e)
				}
			}
		}
	}
}

func (r *ring) told(i int, kind EventKind) (who []member.ID) {
	for _, e := range r.events[i] {
		if e.Kind == kind {
			who = append(who, e.Member)
		}
	}
	return who
}

// reseal makes a datagram of a member anew: with other contents, or with a tag that proves nothing
// to one.
func reseal(g *Group, b []byte, body func([]byte) []byte, spoil int) []byte {
	h, _ := readHeader(b)
	e := g.epoch(h.epoch)
	c := bytes.Clone(b)
	plain, ok := g.open(e, &h, c)
	if !ok {
		panic("a datagram of its own cannot be opened")
	}
	out := append(make([]byte, e.bodyAt, 2000), body(bytes.Clone(plain))...)
	h.put(out)
	out = g.seal(e, &h, out)
	if spoil == 0 {
		return out
	}
	c = bytes.Clone(out)
	plain, _ = g.open(e, &h, c)
	c = append(append(make([]byte, 0, 2000), c[:e.bodyAt]...), plain...)
	at := spoil
	if at > e.own {
		at--
	}
	c[headerSize+at*tagSize] ^= 1
	sealed := e.aead.Seal(c[e.bodyAt:e.bodyAt], g.crypt.setNonce(&h, e.number), c[e.bodyAt:],
		c[:e.bodyAt])
	return c[:e.bodyAt+len(sealed)]
}

func same(b []byte) []byte { return b }

// TestProvenToSome: what a member sends proves itself to all but one. That one gets it from the
// others, believes it by what the member has signed, and loses nothing.
func TestProvenToSome(t *testing.T) {
	r := newRing(t, 4)
	r.change = func(to int, b []byte) [][]byte {
		if to == 2 && (b[0] == kindData || b[0] == kindRepair) {
			if b[0] == kindRepair {
				return nil // it does not help either
			}
			return [][]byte{reseal(r.groups[0], b, same, 2)}
		}
		return [][]byte{b}
	}
	send := func(i int) []byte {
		if r.now%(30*time.Millisecond) != 0 || r.now > 4*time.Second {
			return nil
		}
		return fmt.Appendf(nil, "%d at %v", i, r.now)
	}
	r.run(8*time.Second, send)
	for at, want := range r.got[1] {
		if at[0] == '1' && r.got[2][at] != want {
			t.Errorf("packet %s is %q here and %q there", at, want, r.got[2][at])
		}
	}
	st := r.groups[2].Stats()
	if st.Attested == 0 || st.Unproven == 0 || len(r.got[1]) < 20 {
		t.Errorf("%d packets, %+v", len(r.got[1]), st)
	}
	for i := range r.groups {
		if gave := r.told(i, GaveUp); gave != nil || r.told(i, Equivocated) != nil {
			t.Errorf("member %d gave up %v, and accuses %v", i+1, gave, r.told(i, Equivocated))
		}
	}
}

// TestTwoContents: a member gives one receiver another content under a number, and signs for each
// what each has. All find it out, and nobody else is accused. If it signs only the one, the
// receiver of the other knows, and can prove nothing.
func TestTwoContents(t *testing.T) {
	for _, both := range []bool{true, false} {
		r := newRing(t, 4)
		other := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("yes"), []byte("noo")) }
		liar := r.groups[0]
		variant := map[uint32]signedDigest{}
		r.change = func(to int, b []byte) [][]byte {
			switch {
			case to != 2:
			case b[0] == kindData:
				return [][]byte{reseal(liar, b, other, 0)}
			case b[0] == kindDigest && both:
				return [][]byte{reseal(liar, b, func(body []byte) []byte {
					return resign(liar, body, variant)
				}, 0)}
			}
			return [][]byte{b}
		}
		n := 0
		r.run(5*time.Second, func(i int) []byte {
			if n++; r.now%(30*time.Millisecond) != 0 {
				return nil
			}
			return fmt.Appendf(nil, "yes %d", n)
		})
		found := 0
		for i := 1; i < 4; i++ {
			accused, disputed := r.told(i, Equivocated), r.told(i, Disputed)
			if both && len(accused) > 0 {
				if found++; !slices.Equal(accused, []member.ID{1}) {
					t.Errorf("both signed: member %d accuses %v", i+1, accused)
				}
			}
			if !both && (accused != nil || (i == 2) != slices.Contains(disputed, 1)) {
				t.Errorf("one signed: member %d accuses %v, disputes %v", i+1, accused, disputed)
			}
			for _, e := range r.groups[i].Evidence() {
				card := r.groups[1].byID[1].card
				if !e.Holds(77, &card) || e.Holds(78, &card) || !r.groups[2].Testify(e) {
					t.Error("the evidence does not hold")
				}
			}
		}
		if both != (found > 0) {
			t.Errorf("both signed %v, and %d have found it out", both, found)
		}
	}
}

// TestTwoSignedPackets: where packets are signed, a member gives one receiver another content under
// a number, and signs a digest only of what the rest have. The receiver shows what it was given,
// and the others have the evidence. Who repairs with what nobody signed convicts nobody.
func TestTwoSignedPackets(t *testing.T) {
	for _, forged := range []bool{false, true} {
		r := newRingOf(t, 4, Signatures)
		other := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("yes"), []byte("noo")) }
		r.change = func(to int, b []byte) [][]byte {
			switch {
			case to == 2 && b[0] == kindData && !forged:
				return [][]byte{reseal(r.groups[0], b, other, 0)}
			case to == 3 && b[0] == kindData && forged: // in the name of another
				h, _ := readHeader(r.last)
				e := r.groups[0].sending
				if h.member != 2 {
					break
				}
				c := bytes.Clone(r.last)
				plain, _ := r.groups[0].open(e, &h, c)
				c = append(append(make([]byte, 0, 2000), c[:e.bodyAt]...), other(plain)...)
				nonce := r.groups[0].crypt.setNonce(&h, e.number)
				sealed := e.aead.Seal(c[e.bodyAt:e.bodyAt], nonce, c[e.bodyAt:], c[:e.bodyAt])
				return [][]byte{b, append([]byte{kindRepair, 0, 1}, c[:e.bodyAt+len(sealed)]...)}
			}
			return [][]byte{b}
		}
		n := 0
		r.run(4*time.Second, func(i int) []byte {
			if n++; r.now%(50*time.Millisecond) != 0 {
				return nil
			}
			return fmt.Appendf(nil, "yes %d", n)
		})
		for i := 1; i < 4; i++ {
			accused := r.told(i, Equivocated)
			if want := !forged && i != 2; want != slices.Equal(accused, []member.ID{1}) {
				t.Errorf("forged %v: member %d accuses %v", forged, i+1, accused)
			}
			for _, e := range r.groups[i].Evidence() {
				card := r.groups[1].byID[1].card
				var read Evidence
				c := bits.CursorOver(e.Append(nil))
				if read.Fields(&c); !c.Done() || !read.Holds(77, &card) || read.Holds(78, &card) ||
					read.Member() != 1 || !r.groups[2].Testify(read) {
					t.Error("the evidence does not hold")
				}
				read.q.digest[0] ^= 1
				if read.Holds(77, &card) {
					t.Error("false evidence holds")
				}
			}
		}
		if forged && r.groups[3].stats.Unproven == 0 {
			t.Error("nothing was forged")
		}
	}
}

// resign makes the liar's digest one of what the other receiver has.
func resign(g *Group, b []byte, made map[uint32]signedDigest) []byte {
	var body digestBody
	c := bits.CursorOver(b)
	body.fields(&c)
	for i := range body.whole {
		d := &body.whole[i]
		if d.member != g.self.id {
			continue
		}
		v, ok := made[d.index]
		if !ok {
			v = *d
			v.now[0] ^= 1
			v.before = made[d.index-1].now
			v.sign = g.identity.Sign(v.statement(g.group))
			made[d.index] = v
		}
		*d = v
	}
	to := bits.CursorTo(nil)
	body.fields(&to)
	return to.Data()
}

// TestFalseEvidence: who signs in the name of another convicts nobody.
func TestFalseEvidence(t *testing.T) {
	r := newRing(t, 3)
	liar, judge := r.groups[0], r.groups[1]
	a := signedDigest{member: 3, index: 4, first: 1, last: 9}
	b := a
	b.now[0] = 1
	a.sign, b.sign = liar.identity.Sign(a.statement(77)), liar.identity.Sign(b.statement(77))
	if judge.Testify(Evidence{a: a, b: b}) || judge.stats.Unproven != 1 {
		t.Error("it is believed")
	}
	honest := r.groups[2].identity
	a.sign = honest.Sign(a.statement(77))
	if judge.Testify(Evidence{a: a, b: a}) || judge.Testify(Evidence{a: a, b: b}) ||
		judge.Evidence() != nil {
		t.Error("half of it is believed")
	}
	b.sign = honest.Sign(b.statement(77))
	if !judge.Testify(Evidence{a: a, b: b}) || len(judge.Evidence()) != 1 {
		t.Error("the truth is not believed")
	}
}

// FuzzDigests: whatever a member says of digests, nothing breaks, and nobody is accused by it.
func FuzzDigests(f *testing.F) {
	d := signedDigest{member: 2, index: 1, first: 1, last: 2}
	body := digestBody{[]signedDigest{d}, []brief{{1, 1, [16]byte{3}}}}
	c := bits.CursorTo(nil)
	body.fields(&c)
	f.Add(c.Data())
	e := Evidence{a: d, b: d}
	e.b.now[0] = 1
	f.Add(e.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		g := trio(t, nil)
		var body digestBody
		if c := bits.CursorOver(b); true {
			if body.fields(&c); c.Done() {
				to := bits.CursorTo(nil)
				if body.fields(&to); !bytes.Equal(to.Data(), b) {
					t.Fatalf("%x became %x", b, to.Data())
				}
			}
		}
		var e Evidence
		if c := bits.CursorOver(b); true {
			if e.Fields(&c); c.Done() && g[0].Testify(e) && g[0].byID[e.Member()] != nil {
				t.Fatal("evidence that nobody has signed is believed")
			}
		}
		for i := range 3 {
			g[0].now += time.Duration(i) * time.Second
			g[0].takeDigests(g[0].peers[i%2], bytes.Clone(b))
		}
		if g[0].stats.Equivocated != 0 {
			t.Fatal("somebody is accused")
		}
	})
}
