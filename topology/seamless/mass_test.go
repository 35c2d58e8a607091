package seamless

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
)

// stone is something that lies where it is, and counts ticks.
type stone struct {
	Pos   det.Vec2
	Ticks int
}

func (s *stone) Sync(x *bits.Sync) {
	x.Vec2(&s.Pos, 0, goldSide, 1.0/64)
	x.Int(&s.Ticks, 0, 1<<20)
}

func (s *stone) Step(*world.World, world.ID) { s.Ticks++ }

const stones = 4000

var quarry = &game.Title{Game: world.Define("stones", world.Class[stone](
	world.ClassOptions{Limit: stones}), world.OnStart(func(w *world.World) {
	for range stones {
		world.Spawn(w, stone{Pos: det.Vec2{X: w.Rand().Range(0, goldSide),
			Y: w.Rand().Range(0, goldSide)}})
	}
}))}

// Two thousand things are moved by one border, within a second and without a tick left out. How
// long ticks take is told.
func TestMoveMany(t *testing.T) {
	s := newSim(t, 2, quarry, 1, 1)
	s.start(func(o *Options) { o.virtual = false })
	s.start(func(o *Options) { o.virtual = false })
	s.at(150)
	plain := s.owned()[1].pace
	s.owned()[1].pace.worst, s.owned()[1].pace.past = 0, 0
	if x := s.do(Order{Kind: Split, Zone: 1}); x.Error != "" {
		t.Fatal(x.Error)
	}
	counts := s.now().At
	s.until("half of them have moved", time.Minute, func() bool {
		b := s.owned()[2]
		return b != nil && b.census.entities >= stones*2/5 && b.census.entities+
			s.owned()[1].census.entities == stones
	})
	took := s.owned()[2].w.Tick() - counts
	for id, b := range s.owned() {
		t.Logf("zone %d: %d stones, the longest tick %v, beside %.2f ms as a rule", id,
			b.census.entities, max(b.pace.worst, b.pace.past), plain.busy*1000/60)
	}
	t.Logf("%d ticks after the plan counted", took)
	if took > 60 {
		t.Errorf("it took %d ticks", took)
	}
	for _, b := range s.owned() {
		for id, x := range world.All[stone](b.w) {
			if !b.w.Ghost(id) && x.Ticks != int(b.w.Tick()) {
				t.Fatalf("%v has lived %d ticks of %d", id, x.Ticks, b.w.Tick())
			}
		}
	}
}
