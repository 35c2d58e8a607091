package crimp

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

func whispered(g *Group) (list []string) {
	for _, e := range g.Events() {
		if e.Kind == Whispered {
			list = append(list, string(e.Data))
		}
	}
	return list
}

func TestWhisper(t *testing.T) {
	g := trio(t, nil)
	if err := g[0].Whisper(0, 2, []byte("psst")); err != nil {
		t.Fatal(err)
	}
	var psst []byte
	for _, b := range pass(0, g[0], g[1], g[2]) {
		if b[0] == kindWhisper {
			psst = b
		}
	}
	if got := whispered(g[1]); !slices.Equal(got, []string{"psst"}) {
		t.Errorf("member 2 heard %q", got)
	}
	if got := whispered(g[2]); len(got) != 0 {
		t.Errorf("member 3 heard %q", got)
	}
	if bytes.Contains(psst, []byte("psst")) {
		t.Error("a whisper can be read by anyone")
	}
	// Again, altered, from another, to another: nothing is heard.
	for i := range psst {
		b := bytes.Clone(psst)
		b[i] ^= 1
		g[1].Receive(0, []link.Datagram{{Data: b}})
		g[2].Receive(0, []link.Datagram{{Data: bytes.Clone(b)}})
	}
	for n := range len(psst) {
		g[1].Receive(0, []link.Datagram{{Data: bytes.Clone(psst[:n])}})
	}
	g[1].Receive(0, []link.Datagram{{Data: bytes.Clone(psst)}})
	if got := append(whispered(g[1]), whispered(g[2])...); len(got) != 0 {
		t.Errorf("heard %q of what was replayed or altered", got)
	}
	if g[1].Stats().Replayed == 0 || g[1].Stats().Forged == 0 {
		t.Errorf("not counted: %+v", g[1].Stats())
	}
	if err := g[0].Whisper(0, 9, nil); !errors.Is(err, ErrStranger) {
		t.Errorf("to a stranger: %v", err)
	}
	if err := g[0].Whisper(0, 2, make([]byte, g[0].MaxWhisper()+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := g[0].Whisper(0, 2, make([]byte, g[0].MaxWhisper())); err != nil {
		t.Errorf("the largest: %v", err)
	}
	for _, d := range g[0].Flush(0, nil) {
		if len(d.Data) > g[0].opt.Datagram {
			t.Errorf("a datagram of %d bytes", len(d.Data))
		}
	}
}

// TestWhisperAcrossEpochs: members that know different rosters hear each other, and so does
// one that was left out.
func TestWhisperAcrossEpochs(t *testing.T) {
	g := trio(t, nil)
	r := Roster{Group: 77, Epoch: 2, Key: [16]byte{8}}
	for i := range 2 {
		r.Members = append(r.Members,
			Member{member.ID(i + 1), testIdentity(2, uint64(i)).Card(netip.AddrPort{}, 1)})
	}
	if err := g[0].SetRoster(0, r); err != nil {
		t.Fatal(err)
	}
	say := func(from, to int) {
		t.Helper()
		if err := g[from].Whisper(0, member.ID(to+1), []byte("hey")); err != nil {
			t.Fatal(err)
		}
		pass(0, g[from], g[to])
		if got := whispered(g[to]); len(got) != 1 {
			t.Errorf("member %d heard %q of %d", to+1, got, from+1)
		}
	}
	say(0, 1)
	say(1, 0)
	say(0, 2)
	say(2, 0)
	say(2, 1)
}

// TestIntroduce: one that is no member whispers with members that know it.
func TestIntroduce(t *testing.T) {
	g := trio(t, nil)
	at := netip.MustParseAddrPort("192.0.2.9:1")
	o := Options{Seed: testSeed(1, 9), Identity: testIdentity(2, 9)}
	w, err := NewGroup(o)
	if err != nil {
		t.Fatal(err)
	}
	var members []Member
	for i := range 3 {
		members = append(members, Member{member.ID(i + 1), testIdentity(2, uint64(i)).Card(at, 0)})
	}
	members = append(members, Member{9, o.Identity.Card(at, 0)})
	if err := w.Introduce(77, 9, members); err != nil {
		t.Fatal(err)
	}
	if err := g[0].Introduce(77, 1, members[3:]); err != nil {
		t.Fatal(err)
	}
	if err := w.Whisper(0, 1, []byte("I watch")); err != nil {
		t.Fatal(err)
	}
	pass(0, w, g[0])
	if got := whispered(g[0]); len(got) != 1 {
		t.Errorf("member 1 heard %q", got)
	}
	if err := g[0].Whisper(0, 9, []byte("do")); err != nil {
		t.Fatal(err)
	}
	pass(0, g[0], w)
	if got := whispered(w); len(got) != 1 {
		t.Errorf("the witness heard %q", got)
	}
	if err := w.Introduce(78, 9, nil); err == nil {
		t.Error("may be in two groups at once")
	}
	for i := range 3 * MaxMembers {
		id := testIdentity(4, uint64(i))
		if err := w.Introduce(77, 9, []Member{{member.ID(100 + i), id.Card(at, 0)}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.whispers.known); n > maxListeners {
		t.Errorf("%d are known, want at most %d", n, maxListeners)
	}
}

func TestLossy(t *testing.T) {
	for _, order := range []Order{Immediate, Total} {
		g := trio(t, func(o *Options, _ *Roster) { o.Order = order })
		seq, err := g[0].SendLossy(0, []byte("here I am"))
		if err != nil || seq != 1 {
			t.Fatal(seq, err)
		}
		sent := pass(0, g[0], g[1])
		var got []Event
		for _, e := range g[1].Events() {
			if e.Kind == Delivered {
				got = append(got, e)
			}
		}
		if len(got) != 1 || got[0].How != Lossy || got[0].Seq != 1 ||
			string(got[0].Data) != "here I am" {
			t.Fatalf("%v: delivered %+v", order, got)
		}
		// It came once; a copy is dropped, and whoever did not get it never asks.
		for _, b := range sent {
			g[1].Receive(0, []link.Datagram{{Data: bytes.Clone(b)}})
		}
		if got := delivered(g[1]); len(got) != 0 {
			t.Errorf("delivered again: %q", got)
		}
		if n := g[2].Stats().Lost + g[1].Stats().Lost; n != 0 {
			t.Errorf("%d are missed", n)
		}
		// Nor does it disturb the sequence of what is reliable.
		if seq, err := g[0].Send(0, []byte("real")); err != nil || seq != 1 {
			t.Error(seq, err)
		}
		if _, err := g[0].SendLossy(0, make([]byte, g[0].MaxMessage()+1)); !errors.Is(err,
			ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
		if _, err := g[0].SendLossy(0, make([]byte, g[0].MaxMessage())); err != nil {
			t.Errorf("the largest: %v", err)
		}
		// Of a member that is frozen nothing is delivered.
		g[1].Freeze(1)
		g[0].SendLossy(0, []byte("late"))
		pass(0, g[0], g[1])
		if got := delivered(g[1]); slices.Contains(got, "late") {
			t.Error("delivered of a member that is frozen")
		}
	}
}
