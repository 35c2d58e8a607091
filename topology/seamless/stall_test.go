package seamless

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A server dies at some moment while a zone is moved to it, founded on it, or split. However that
// is, zones stand still for no longer than it takes to take them over.
func TestMovedToTheDead(t *testing.T) {
	worst := time.Duration(0)
	runs := *crashes / 2
	for i := range runs {
		k := 24*i/runs + i%4
		s := newSim(t, uint64(400+k), goldTitle(), 3, goldReach)
		for range 3 {
			s.start(nil)
		}
		s.at(150)
		victim := s.all[k%3]
		switch k % 4 {
		case 0, 1:
			s.order(Order{Kind: Split, Zone: 2, Server: victim.opt.Self})
		default:
			s.order(Order{Kind: Move, Zone: zone.ID(1 + k%3), Server: victim.opt.Self})
		}
		s.net.Run(time.Duration(k) * 70 * ms)
		victim.kill()
		s.start(nil)
		ticks, since := map[zone.ID]world.Tick{}, map[zone.ID]time.Duration{}
		for range 300 {
			s.net.Run(100 * ms)
			for id, b := range s.owned() {
				if b.w.Tick() > ticks[id] {
					ticks[id], since[id] = b.w.Tick(), s.net.Now()
				}
			}
			for _, id := range s.now().All() {
				if d := s.net.Now() - since[id]; since[id] > 0 && d > worst {
					worst = d
					if d > 6*time.Second {
						e, _ := s.kept.Map().Get(t.Context(), zone.ZoneKey(id))
						a, _ := zone.ReadAssignment(e.Value)
						t.Errorf("run %d: zone %d stands still for %v: %+v", k, id, d, a)
						return
					}
				}
			}
		}
		s.at(goldShut + 150)
		s.audit(goldPurses, goldPurses*goldEach)
	}
	t.Logf("the longest standstill was %v", worst)
}
