package seamless

import (
	"flag"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// audit counts what must be the same at all times.
func (s *sim) audit(purses, each int) {
	s.t.Helper()
	s.net.RunUntil(10*time.Second, func() bool { return s.still(purses, each) })
	found, gold, gave, got, given := map[world.ID]zone.ID{}, 0, 0, 0, 0
	lent, abroad, owns := map[int]int{}, map[int]int{}, map[int]int{}
	for z, b := range s.owned() {
		own := b.w.Host().Settings().Allocator
		_, lent[own] = b.w.Host().AllocatorUse(own)
		if b.faults.rules+b.faults.strange+b.faults.dropped > 0 || b.w.Host().Undone() > 0 {
			s.t.Errorf("zone %d: %+v, %d undone", z, b.faults, b.w.Host().Undone())
		}
		for id := range b.w.Entities() {
			if b.w.Ghost(id) {
				continue
			}
			if owns[id.Allocator()]++; id.Allocator() != own {
				abroad[id.Allocator()]++
			}
			if other, twice := found[id]; twice {
				s.t.Errorf("%v is in zones %d and %d", id, other, z)
			}
			found[id] = z
			if p := world.Get[purse](b.w, id); p != nil {
				purses--
				gold, gave, got = gold+p.Gold, gave+p.Gave, got+p.Got
			}
		}
		if b.home() {
			given = world.StateOf[bank](b.w).Given
		}
	}
	if purses != 0 {
		s.t.Errorf("%d purses are missing", purses)
	}
	if gold != each || gave != got || gave != given || gave == 0 {
		s.t.Errorf("%d pieces of gold of %d; %d were given, %d taken, %d counted", gold, each, gave,
			got, given)
	}
	for a, n := range lent {
		if n != abroad[a] {
			s.t.Errorf("allocator %d: %d identifiers are taken abroad, and %d are there", a, n,
				abroad[a])
		}
	}
	s.t.Logf("%d gifts", gave)
}

// still says that nothing is on its way any more.
func (s *sim) still(purses, each int) bool {
	n, gold, gave, given, lent, abroad := 0, 0, 0, 0, 0, 0
	for _, b := range s.owned() {
		own := b.w.Host().Settings().Allocator
		_, k := b.w.Host().AllocatorUse(own)
		lent += k
		for id := range b.w.Entities() {
			if !b.w.Ghost(id) && id.Allocator() != own {
				abroad++
			}
		}
		for id, p := range world.All[purse](b.w) {
			if !b.w.Ghost(id) {
				n, gold, gave = n+1, gold+p.Gold, gave+p.Gave
			}
		}
		if b.home() {
			given = world.StateOf[bank](b.w).Given
		}
	}
	return n == purses && gold == each && gave == given && lent == abroad
}

// missed is how many ticks each purse has not lived.
func (s *sim) missed() map[world.ID]int {
	list := map[world.ID]int{}
	for _, b := range s.owned() {
		for id, p := range world.All[purse](b.w) {
			if !b.w.Ghost(id) {
				list[id] = int(b.w.Tick()) - p.Ticks
			}
		}
	}
	return list
}

// stats sums up what servers have met.
func (s *sim) stats() (sum zone.Stats) {
	for _, x := range s.all {
		st := x.zones.Stats()
		sum.HandOvers += st.HandOvers
		sum.Actions += st.Actions
		sum.Replayed += st.Replayed
		sum.TakenOver += st.TakenOver
		for i, n := range st.Late {
			sum.Late[i] += n
		}
	}
	return sum
}

// Purses wander over borders, and nothing is lost, nor double. No tick of theirs is left out.
func TestCrossing(t *testing.T) {
	s := newSim(t, 1, goldTitle(), 4, goldReach)
	for range 3 {
		s.start(nil)
	}
	s.at(200) // until then, some zones were not begun
	before, late := s.missed(), s.stats().Late
	s.at(goldShut + 120)
	s.audit(goldPurses, goldPurses*goldEach)
	sum := s.stats()
	if sum.HandOvers < 50 || sum.Actions < 50 {
		t.Errorf("only %d hand-overs and %d actions", sum.HandOvers, sum.Actions)
	}
	for i, n := range late {
		sum.Late[i] -= n
	}
	t.Log(sum.HandOvers, sum.Actions, sum.Late)
	for id, n := range s.missed() {
		if was, ok := before[id]; ok && n != was {
			t.Errorf("%v has missed %d ticks, and %d before", id, n, was)
		}
	}
}

// seeds is how many runs to try, of which no two are alike.
var seeds = flag.Uint64("seeds", 3, "runs of a cluster whose servers die")

// Servers die while purses wander: others go on with their zones, and come to the same.
func TestServersDie(t *testing.T) {
	for seed := uint64(1); seed <= *seeds; seed++ {
		s := newSim(t, seed, goldTitle(), 6, goldReach)
		standby := func(o *Options) { o.Standby = seed%2 == 0 }
		for range 4 {
			s.start(standby)
		}
		s.at(200)
		for k := range 3 {
			var alive []*simulated
			for _, x := range s.all {
				if !x.dead && len(x.zones.Zones()) > 0 {
					alive = append(alive, x)
				}
			}
			alive[s.rand.IntN(len(alive))].kill()
			s.start(standby)
			s.at(world.Tick(400 + 200*k))
		}
		s.at(goldShut + 200)
		s.audit(goldPurses, goldPurses*goldEach)
		sum := s.stats()
		s.net.Run(2 * time.Second) // for the last events
		if sum.Replayed == 0 || sum.TakenOver < 7 || len(s.game) == 0 {
			t.Errorf("%d ticks were computed again, %d zones taken over", sum.Replayed,
				sum.TakenOver)
		}
		given := 0
		for _, b := range s.owned() {
			if b.home() {
				given = world.StateOf[bank](b.w).Given
			}
		}
		if len(s.game) != given {
			t.Errorf("%d gifts, and %d events that tell of one", given, len(s.game))
		}
	}
}
