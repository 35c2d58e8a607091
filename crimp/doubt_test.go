package crimp

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// lie has the first of a ring send the third something else than the others, and sign that only if
// it signs both.
func (r *ring) lie(both bool) {
	other := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("yes"), []byte("noo")) }
	liar, variant := r.groups[0], map[uint32]signedDigest{}
	r.change = func(to int, b []byte) [][]byte {
		switch {
		case to != 2:
		case b[0] == kindData:
			return [][]byte{reseal(liar, b, other, 0)}
		case b[0] == kindRepair:
			return nil
		case b[0] == kindDigest && both:
			return [][]byte{reseal(liar, b, func(body []byte) []byte {
				return resign(liar, body, variant)
			}, 0)}
		}
		return [][]byte{b}
	}
}

// sends is a packet of each every 30 ms.
func (r *ring) sends(i int) []byte {
	if r.now%(30*time.Millisecond) != 0 {
		return nil
	}
	return fmt.Appendf(nil, "yes %d %v", i, r.now)
}

// TestDisputedIsNotPassedOn: a member that was sent something else than was signed repairs for
// nobody what came to it: those who miss the packet would take it for what all others have.
func TestDisputedIsNotPassedOn(t *testing.T) {
	r := newRing(t, 4)
	r.lie(false)
	r.run(2500*time.Millisecond, r.sends)
	if r.told(2, Disputed) == nil {
		t.Fatal("the third does not know")
	}
	lies, from := r.change, r.groups[0].Last()
	r.change = func(to int, b []byte) [][]byte {
		if to == 1 && (b[0] == kindData || b[0] == kindRepair) {
			return nil // it has to get everything from others
		}
		return lies(to, b)
	}
	r.run(1500*time.Millisecond, r.sends)
	got := 0
	for s := from + 1; s <= r.groups[0].Last(); s++ {
		switch what := r.got[1][fmt.Sprint(1, "/", s)]; {
		case strings.HasPrefix(what, "noo"):
			t.Errorf("packet %d came as %q", s, what)
		case what != "":
			got++
		}
	}
	if got < 10 {
		t.Errorf("only %d packets came", got)
	}
}

// TestGuiltyIsHeardNoMore: of a member that has signed two accounts nothing more is taken, until it
// is out; what is taken of it then is decided. Whoever was sent something else finds out even so.
func TestGuiltyIsHeardNoMore(t *testing.T) {
	r := newRing(t, 4)
	r.lie(true)
	for len(r.told(1, Equivocated)) == 0 && r.now < 5*time.Second {
		r.run(10*time.Millisecond, r.sends)
	}
	last := r.groups[1].byID[1].next - 1
	for _, e := range r.groups[1].Evidence() {
		r.groups[2].Testify(e)
	}
	r.run(2*time.Second, r.sends)
	for s := last + 1; s <= r.groups[0].Last(); s++ {
		if what := r.got[1][fmt.Sprint(1, "/", s)]; what != "" {
			t.Fatalf("packet %d came, and the last to count is %d", s, last)
		}
	}
	if st := r.groups[1].Stats(); st.Uncounted == 0 || last == 0 {
		t.Errorf("nothing was passed over: %+v", st)
	}
	if !slices.Contains(r.told(2, Disputed), 1) {
		t.Error("the third does not know that it has something else")
	}
	if cut, ok := r.groups[1].Freeze(1); !ok || cut.Newest() > last {
		t.Errorf("it is said to have sent %d", cut.Newest())
	}
	r.groups[1].Thaw(r.now, 1)
	r.run(100*time.Millisecond, r.sends)
	if r.groups[1].byID[1].next-1 > last {
		t.Error("after a thaw it is heard again")
	}
}

// TestShownIsNotTaken: a packet that is shown is looked at, and is no repair.
func TestShownIsNotTaken(t *testing.T) {
	r := newRingOf(t, 4, Signatures)
	r.run(300*time.Millisecond, r.sends)
	if _, err := r.groups[1].Send(r.now, []byte("yes")); err != nil {
		t.Fatal(err)
	}
	var packet []byte
	for _, d := range r.groups[1].Flush(r.now, nil) {
		if d.Data[0] == kindData {
			packet = bytes.Clone(d.Data)
		}
	}
	before := r.groups[3].stats.Delivered
	for _, by := range []byte{shownBy, 3} {
		b := append([]byte{kindRepair, 0, by}, packet...)
		r.groups[3].Receive(r.now, []link.Datagram{{Data: b}})
		if got := r.groups[3].stats.Delivered - before; (got == 1) != (by != shownBy) {
			t.Errorf("by member %d: %d delivered", by, got)
		}
	}
}

// TestDisputedDoesNotCount: what of a member counts that is out is decided by those who were told
// what it has signed, if there are any.
func TestDisputedDoesNotCount(t *testing.T) {
	liar := Cut{Member: 1, Seq: 9, Disputed: true}
	d := Agree(1, ReasonEquivocated, []Cut{{Member: 1, Seq: 5}, liar})
	if d.Last != 5 || len(d.Lost) != 0 {
		t.Errorf("all up to %d counts, without %v", d.Last, d.Lost)
	}
	if d = Agree(1, ReasonEquivocated, []Cut{liar}); d.Last != 9 {
		t.Errorf("nobody has anything else, and all up to %d counts", d.Last)
	}
	r := newRing(t, 4)
	r.lie(false)
	r.run(2500*time.Millisecond, r.sends)
	for i := 1; i < 4; i++ {
		if c, ok := r.groups[i].Freeze(1); !ok || c.Disputed != (i == 2) {
			t.Errorf("member %d says %+v", i+1, c)
		}
	}
}
