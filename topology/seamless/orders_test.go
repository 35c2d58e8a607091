package seamless

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// What cannot be done is refused, with what to do instead.
func TestOrdersRefused(t *testing.T) {
	s := newSim(t, 4, goldTitle(), 3, goldReach)
	s.start(nil)
	s.start(nil)
	s.at(120)
	far := 1e6
	for _, x := range []struct {
		Order
		want string
	}{
		{Order{Kind: Split, Zone: 9}, "zone 9 has no part"},
		{Order{Kind: Split, Zone: 1, Cut: &far}, "is not within zone 1"},
		{Order{Kind: Split, Zone: 1, Axis: 7, Cut: &far}, "axis 7"},
		{Order{Kind: Merge, Zone: 1}, "cannot be merged with one other"},
		{Order{Kind: Merge, Zone: 2, With: 1}, "can be merged with zone 3"},
		{Order{Kind: Shift, Zone: 1}, "say to where"},
		{Order{Kind: Shift, Zone: 3, Cut: &far}, ""},
		{Order{Kind: Move, Zone: 1, Server: 77}, "is not there"},
		{Order{Kind: Move, Zone: 77, Server: 1}, "no zone 77"},
		{Order{Kind: Drain, Server: 77}, "is not there"},
		{Order{Kind: "dance"}, `"dance" cannot be ordered`},
		{Order{Kind: Rebalance, Balance: &Balance{Zones: -1}}, "less than nothing"},
	} {
		if got := s.do(x.Order); !strings.Contains(got.Error, x.want) ||
			(got.Error == "") != (x.want == "") {
			t.Errorf("%+v: %q, want %q", x.Order, got.Error, x.want)
		}
	}
}

// The world is paused and goes on where it was; a server joins meanwhile.
func TestPause(t *testing.T) {
	s := newSim(t, 5, goldTitle(), 3, goldReach)
	s.start(nil)
	s.start(nil)
	s.at(150)
	s.do(Order{Kind: Pause})
	s.net.Run(3 * time.Second)
	h, _, _ := readHeader(t.Context(), s.kept.Map())
	for range 2 {
		for id, b := range s.owned() {
			if b.w.Tick() != h.Paused {
				t.Errorf("zone %d is at tick %d, and the world is paused after %d", id, b.w.Tick(),
					h.Paused)
			}
		}
		s.start(nil)
		s.net.Run(8 * time.Second)
	}
	s.do(Order{Kind: Resume})
	s.net.Run(2 * time.Second)
	for id, b := range s.owned() {
		if d := b.w.Tick() - h.Paused; d < 30 || d > 180 {
			t.Errorf("two seconds later zone %d is %d ticks on", id, d)
		}
	}
	s.at(goldShut + 120)
	s.audit(goldPurses, goldPurses*goldEach)
}

// A server is drained: others have its zones, and it takes none any more.
func TestDrain(t *testing.T) {
	s := newSim(t, 7, goldTitle(), 6, goldReach)
	for range 3 {
		s.start(nil)
	}
	s.at(150)
	x := s.all[1]
	if len(x.zones.Zones()) == 0 {
		t.Fatal("it has no zones that it could give")
	}
	if a := s.do(Order{Kind: Drain, Server: x.opt.Self}); a.Error != "" {
		t.Fatal(a.Error)
	}
	s.until("it has none", time.Minute, func() bool { return len(x.zones.Zones()) == 0 })
	s.net.Run(3 * time.Second)
	if n := len(x.zones.Zones()); n > 0 {
		t.Errorf("it has %d again", n)
	}
	x.kill()
	s.at(goldShut + 120)
	s.audit(goldPurses, goldPurses*goldEach)
}

// Where there is a crowd zones are split, and merged when it is gone, and nothing goes to and fro.
func TestBalance(t *testing.T) {
	s := newSim(t, 8, goldTitle(), 1, goldReach/4)
	for range 3 {
		s.start(nil)
	}
	s.at(120)
	s.do(Order{Kind: Rebalance, Balance: &Balance{Entities: 20, Busy: 1e9}})
	s.until("zones were split", time.Minute, func() bool { return len(s.now().Zones()) >= 4 })
	s.do(Order{Kind: Rebalance, Balance: &Balance{Entities: 2000, Busy: 1e9}})
	s.until("zones were merged", 3*time.Minute, func() bool { return len(s.now().Zones()) == 1 })
	version := s.now().Version
	s.net.Run(30 * time.Second)
	if v := s.now().Version; v != version {
		t.Errorf("borders moved %d times more", v-version)
	}
	if have := s.owned()[1]; have == nil || len(s.now().Spare) < 3 {
		t.Errorf("spare zones: %v", s.now().Spare)
	}
	s.audit(goldPurses, goldPurses*goldEach)
}

// Orders are given over real sockets too, by whoever can write to the map.
func TestDo(t *testing.T) {
	f := newFleet(t, 2, "100000")
	a, b := f.start(nil), f.start(nil)
	f.until("all zones are stepped", func() bool { return f.stepped(2) })
	said, err := Do(f.ctx, f.kept.Map(), Order{Kind: Split, Zone: 2})
	if err != nil || !strings.Contains(said, "zone 3") {
		t.Fatal(said, err)
	}
	f.until("it is split", func() bool { return f.stepped(3) })
	for _, m := range []*member{a, b} {
		_, err := Do(f.ctx, f.kept.Map(), Order{Kind: Move, Zone: 2, Server: m.Self()})
		if err != nil {
			t.Error(err)
		}
		var zones []zone.ID
		if err := m.Do(f.ctx, func() { zones = m.Zones() }); err != nil ||
			!slices.Contains(zones, 2) {
			t.Errorf("zone 2 was moved to a server that has %v: %v", zones, err)
		}
	}
	late, cancel := context.WithTimeout(f.ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := Do(late, f.kept.Map(), Order{Kind: Pause}); err == nil {
		t.Log("it was quicker than can be")
	}
	if _, err := Do(f.ctx, newKept().Map(), Order{Kind: Pause}); err == nil {
		t.Error("there is no world, and it was paused")
	}
}

// stepped says whether so many zones are stepped, by whomever.
func (f *fleet) stepped(zones int) bool {
	n := 0
	for _, m := range f.all {
		if !m.dead {
			_ = m.Do(f.ctx, func() {
				for _, id := range m.Zones() {
					if w := m.World(id); w != nil && w.Tick() > world.Tick(10) {
						n++
					}
				}
			})
		}
	}
	return n == zones
}
