package zone

import (
	"testing"
	"time"
)

// parted hands a server that owns zone 1 items of zone 2, in messages of some of them, with a tick
// after each, and gives how many had been taken in by then.
func parted(t *testing.T, messages ...[]item) (took []uint64) {
	s, c, now := settle(t)
	number := uint64(1)
	for _, items := range messages {
		b := appendUint([]byte{wireVersion}, 0)
		head := itemsPart{passing{2, 1, 1}, number, len(items)}
		b = head.append(b)
		for i := range items {
			b = items[i].append(b, 2, 1, number)
			number++
		}
		s.Receive(now, 2, b)
		for range 2 {
			now += time.Second / 60
			s.Tick(now)
			c.serve(now, s, func(Message) {})
		}
		st := s.Stats()
		took = append(took, st.HandOvers+st.Actions)
	}
	return took
}

// TestTogether: what left in one tick is taken in one, even if it comes in several messages.
func TestTogether(t *testing.T) {
	entity := func(n uint64, more bool) item {
		return item{kind: handOver, entity: 100 + n, tick: 3, more: more, data: []byte("x")}
	}
	act := item{kind: action, entity: 5, tick: 3, more: true, data: []byte("y")}
	took := parted(t, []item{entity(1, false), entity(2, true), act}, []item{entity(3, true)},
		[]item{entity(4, false), entity(5, true)}, []item{entity(6, false)})
	want := []uint64{1, 1, 5, 7}
	for i, n := range took {
		if n != want[i] {
			t.Errorf("after message %d, %d items were taken, want %d", i+1, n, want[i])
		}
	}
}

// TestTogetherMarks: of what a tick puts out, all up to the last entity for a zone belong together,
// up to as much as a tick is sure to take.
func TestTogetherMarks(t *testing.T) {
	put := func(fill func(o *Output)) *state {
		s := newState(1, &opaque{})
		fill(&s.out)
		if err := s.put(&frame{tick: 5}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := put(func(o *Output) {
		o.Act(2, 7, nil)
		o.Depart(2, 8, nil)
		o.Depart(3, 9, nil)
		o.Act(2, 10, nil)
		o.Depart(2, 11, nil)
		o.Act(2, 12, nil)
	})
	for n, want := range []bool{true, true, true, false, false} {
		if got := s.streams.get(2).out.at(uint64(n) + 1).more; got != want {
			t.Errorf("item %d for zone 2 belongs to the next: %v", n+1, got)
		}
	}
	if s.streams.get(3).out.at(1).more {
		t.Error("one entity alone belongs to another")
	}
	s = put(func(o *Output) {
		for n := range uint64(maxOut) {
			o.Depart(2, n, make([]byte, 100))
		}
	})
	run, longest, parts := 0, 0, 1
	for n := range uint64(maxOut) {
		run++
		longest = max(longest, run)
		if !s.streams.get(2).out.at(n+1).more && n < maxOut-1 {
			parts++
			run = 0
		}
	}
	if longest > maxTogether || parts != 3 {
		t.Errorf("%d entities are taken in %d parts of up to %d", maxOut, parts, longest)
	}
}
