package seamless

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// now is the newest plan.
func (s *sim) now() *Plan {
	h, _, err := readHeader(s.t.Context(), s.kept.Map())
	if err != nil {
		s.t.Fatal(err)
	}
	return h.Plan
}

// order has something ordered, as Do does, and gives what the answer is to be found by.
func (s *sim) order(o Order) (key string) {
	s.t.Helper()
	data, err := json.Marshal(&ordered{Order: o})
	if err != nil {
		s.t.Fatal(err)
	}
	s.ordered++
	key = fmt.Sprintf("%s%016x", orderPrefix, s.ordered)
	if _, err := s.kept.Map().Set(s.t.Context(), key, data, 0); err != nil {
		s.t.Fatal(err)
	}
	return key
}

// answer is what came of an order.
func (s *sim) answer(key string) (x ordered) {
	e, err := s.kept.Map().Get(s.t.Context(), key)
	if err != nil || json.Unmarshal(e.Value, &x) != nil {
		s.t.Fatalf("order %s: %v", key, err)
	}
	return x
}

// do has something ordered and done.
func (s *sim) do(o Order) ordered {
	s.t.Helper()
	key := s.order(o)
	s.until(fmt.Sprint("it is done: ", o.Kind), time.Minute, func() bool {
		return s.answer(key).Over
	})
	return s.answer(key)
}

// moved runs until all zones go by the newest plan, and everything is where it belongs.
func (s *sim) moved() {
	s.t.Helper()
	s.until("all is where it belongs", time.Minute, func() bool {
		plan, all := s.now(), s.owned()
		for _, b := range all {
			if b.plan.Version != plan.Version {
				return false
			}
			for id, p := range world.All[purse](b.w) {
				at := b.where[id.Class()].at(b.w.Host().Image(id))
				if !b.w.Ghost(id) && b.zoneOf(&at) != b.self && p != nil {
					return false
				}
			}
		}
		return len(all) == len(plan.All())
	})
}

// A zone is split, a border moves, zones are merged, and a spare one is used again, while purses
// wander.
func TestBordersMove(t *testing.T) {
	s := newSim(t, 2, goldTitle(), 4, goldReach)
	for range 3 {
		s.start(nil)
	}
	s.at(120)
	before := s.missed()
	cut := 20.0
	for i, o := range []Order{
		{Kind: Split, Zone: 1},
		{Kind: Shift, Zone: 2, Cut: &cut},
		{Kind: Merge, Zone: 1},
		{Kind: Merge, Zone: 3, With: 4},
		{Kind: Split, Zone: 3},
		{Kind: Split, Zone: 2},
	} {
		if x := s.do(o); x.Error != "" {
			t.Fatalf("%v: %s", o, x.Error)
		} else {
			t.Log(x.Said)
		}
		s.moved()
		if want := []int{5, 5, 4, 3, 4, 5}[i]; len(s.now().Zones()) != want {
			t.Fatalf("after %d orders there are zones %v, want %d", i+1, s.now().Zones(), want)
		}
	}
	if n := len(s.now().All()); n != 5 {
		t.Errorf("there are %d zones with the spare ones, want 5: they are used again", n)
	}
	s.at(goldShut + 120)
	s.audit(goldPurses, goldPurses*goldEach)
	for id, n := range s.missed() {
		if was, ok := before[id]; ok && n != was {
			t.Errorf("%v has missed %d ticks, and %d before", id, n, was)
		}
	}
	var late [zone.MaxMissed + 2]uint64
	for i, n := range s.stats().Late {
		late[i] += n
	}
	t.Log(s.stats().HandOvers, late)
}
