package frames

import (
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/replica"
)

// maxBack is Quake III's.
const maxBack = 32

// server is a Sender as far as a strategy sees it, with all images kept.
type server struct{ next uint32 }

func (s *server) Next() uint32                { return s.next }
func (s *server) Messages() uint32            { return 0 }
func (s *server) Tell([]byte)                 {}
func (s *server) InView(list []int32) []int32 { return list }
func (s *server) TellFirst([]int32)           {}
func (s *server) Kept(int32, uint32) bool     { return true }
func (s *server) Pin(int32, uint32)           {}
func (s *server) Unpin(int32, uint32)         {}

// snapshot makes one of so many packets, each of which tells of one entity.
func (s *server) snapshot(q *sender, packets int) []*replica.Sent {
	q.Begin()
	var list []*replica.Sent
	for i := range packets {
		list = append(list, &replica.Sent{
			Packet: s.next, Snapshot: q.next, Tick: q.next,
			Said: []replica.Said{{Handle: int32(i), Unique: 1, Number: q.next, What: replica.Held}},
		})
		s.next++
	}
	q.Staged(list, true)
	return list
}

// A snapshot of which a packet was lost is no base, and none lies more than
// maxBack snapshots back.
func TestBases(t *testing.T) {
	for seed := range uint64(20) {
		rng := det.At(seed, 1, 2)
		s := &server{}
		q := newSender(s, maxBack)
		var under []*replica.Sent
		based, several := 0, 0
		for range 1500 {
			under = append(under, s.snapshot(q, 1+rng.IntN(4))...)
			for len(under) > 0 && rng.IntN(4) > 0 {
				i := rng.IntN(min(len(under), 8))
				q.Landed(under[i], rng.IntN(10) < 8)
				under = append(under[:i], under[i+1:]...)
			}
			if q.on == nil {
				continue
			}
			based++
			if q.on.parts > 1 {
				several++
			}
			if !q.on.whole || q.on.arrived != q.on.parts {
				t.Fatalf("seed %d: the base has %d of %d packets", seed, q.on.arrived, q.on.parts)
			}
			if back := q.next - 1 - q.on.number; back > maxBack {
				t.Fatalf("seed %d: the base lies %d snapshots back", seed, back)
			}
		}
		if based == 0 || several == 0 {
			t.Errorf("seed %d: %d bases, %d of several packets: nothing was tried", seed, based,
				several)
		}
	}
}

// A base that is too old is given up, and all is sent in full.
func TestOldBasesAreGivenUp(t *testing.T) {
	s := &server{}
	q := newSender(s, maxBack)
	q.Landed(s.snapshot(q, 1)[0], true)
	for range 3 * maxBack {
		s.snapshot(q, 1)
		back := q.next - 1 - q.newest
		if has := q.on != nil; has != (back <= maxBack) || q.Bound(0) != has {
			t.Fatalf("%d snapshots after it there is a base: %v", back, has)
		}
	}
	if back := q.next - 1 - q.newest; q.newest == 0 || back <= maxBack {
		t.Errorf("only %d snapshots after snapshot %d", back, q.newest)
	}
}

// Once a client could not use something, no snapshot is relied on that was sent before that was
// known.
func TestAllThatWasSentIsDistrusted(t *testing.T) {
	s := &server{}
	q := newSender(s, maxBack)
	q.Landed(s.snapshot(q, 1)[0], true)
	s.snapshot(q, 1)
	under := s.snapshot(q, 1) // under way when the client complains
	if q.on == nil {
		t.Fatal("there is no base")
	}
	q.Rejected(0, true)
	q.Landed(under[0], true)
	third := s.snapshot(q, 1)
	if q.on != nil || q.Bound(0) {
		t.Errorf("snapshot %d is a base", q.on.number)
	}
	q.Landed(third[0], true)
	s.snapshot(q, 1)
	if q.on == nil || !q.Bound(0) {
		t.Error("there is no base again")
	}
}

// A snapshot that had no room for what returned to view does not count as
// having told it, even if it becomes the base.
func TestOnlyWhatWasSaidCounts(t *testing.T) {
	q := newSender(&server{}, maxBack)
	q.next = 4
	q.say(&replica.Said{Handle: 0, Unique: 1, Number: 1, What: replica.Held})
	q.next, q.newest = 6, 5 // the next one left it out, and arrived
	if q.Heard(0) {
		t.Error("it counts as heard")
	}
	q.newest = 4
	if !q.Heard(0) {
		t.Error("it does not count as heard though the snapshot that said it arrived")
	}
}
